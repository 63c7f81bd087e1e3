"""Subwords: sentencepiece BPE with byte fallback, whole and self-contained in one model file."""
