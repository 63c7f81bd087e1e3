"""The learning rate as a function of the update's number."""

import math

from training.config import Pretrain


def learning_rate(config: Pretrain, step: int) -> float:
    """The rate of update `step` (from 1): linear warm-up, then the configured decay down to its final fraction."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.decay == "none":
        return config.learning_rate
    if config.decay == "inverse-sqrt":
        return config.learning_rate * math.sqrt(max(1, config.warmup_steps) / step)
    progress = (step - config.warmup_steps) / max(1, config.max_steps - config.warmup_steps)
    remaining = 1 - progress if config.decay == "linear" else (1 + math.cos(math.pi * progress)) / 2
    return config.learning_rate * (config.final_learning_rate + (1 - config.final_learning_rate) * max(0.0, remaining))
