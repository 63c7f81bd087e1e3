"""What can go wrong with bundles.

BundleError
├── BundleRefused   a folder that must not be served; `reason` says what is wrong and what to do
└── PairNotServed   no bundle translates from `source` to `target`
"""

from pathlib import Path


class BundleError(Exception):
    """Base of the tree."""


class BundleRefused(BundleError):
    """A bundle that must not be served."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path.name}: {reason}")


class PairNotServed(BundleError):
    """No bundle translates from `source` to `target`; `available` lists what is served."""

    def __init__(self, source: str, target: str, available: tuple[tuple[str, str], ...]) -> None:
        self.source = source
        self.target = target
        self.available = available
        served = ", ".join(f"{a}-{b}" for a, b in available) or "nothing yet"
        super().__init__(f"{source}-{target} is not served; served: {served}")
