"""Trainable greedy decoding: objectives, actors, critics, and the two ways of training an actor."""
