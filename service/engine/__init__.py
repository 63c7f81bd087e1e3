"""The engine: one thread per language pair that decodes every request of the pair in shared, ever-changing batches."""
