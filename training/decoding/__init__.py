"""Search in torch: greedy and beam (with or without an actor), NPAD, noisy rollouts, and scoring of given outputs."""
