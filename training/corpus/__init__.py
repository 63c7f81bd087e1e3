"""Parallel text in, batches of ids out: reading, cleaning, the cache of ids, length buckets, the toy language."""
