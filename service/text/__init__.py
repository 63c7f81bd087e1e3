"""From a text to sentences that the engine can translate, and back without losing a byte of the rest."""
