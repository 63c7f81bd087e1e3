"""Bundles on disk: what they must contain, how they are checked, and which of them are being served.

    registry = Registry(models_dir, EngineSettings(), reload_interval_s=1.0)
    await registry.start()                          # loads what is there, then watches the folder
    registry.pairs()                                # tuple[LoadedPair, ...] as served now, for listings
    async with registry.get("de", "en") as pair:    # a lease: a replaced bundle drains before it is closed
        pair.manifest, pair.engine, pair.tokeniser
    registry.problems()                             # tuple[Problem(path, reason), ...]: refused bundles
    registry.is_ready                               # the first scan is done and at least one pair is served
    await registry.close()                          # drains every engine

`get` raises `PairNotServed` when the lease is entered.  `load_bundle(folder)` loads and checks a single bundle.
"""
