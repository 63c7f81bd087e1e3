"""Bundles on disk: what they must contain, how they are checked, and which of them are being served."""
