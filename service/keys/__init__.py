"""API keys: who may call, how often, and how much."""
