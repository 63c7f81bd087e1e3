"""`nudge-train catalogue`: write the page about a folder of bundles from their manifests."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from training.errors import ExportError
from training.export.bundle import MANIFEST_NAME, read_manifest
from training.export.catalogue import make_catalogue
from training.nmt.checkpoint import write_atomically


def command(
    models: Annotated[Path, typer.Option(help="folder of bundles")] = Path("models"),
    out: Annotated[Path | None, typer.Option(help="the page; README.md in that folder by default")] = None,
) -> None:
    """Write models/README.md: every bundle's scores and what its objectives gain."""
    bundles = sorted(path.parent for path in models.glob(f"*/{MANIFEST_NAME}") if not path.parent.name.startswith("."))
    if not bundles:
        raise ExportError(
            f"{models} holds no bundle (a folder with a {MANIFEST_NAME}); make one with nudge-train export"
        )
    page = make_catalogue([read_manifest(bundle) for bundle in bundles])
    target = out or models / "README.md"
    write_atomically(target, lambda path: path.write_text(page, encoding="utf-8"))
    Console(stderr=True).print(f"→ {target}: {', '.join(bundle.name for bundle in bundles)}", highlight=False)
