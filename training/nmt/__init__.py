"""The attention-GRU translation model: encoder, attention, decoder step, and its maximum-likelihood training."""
