"""The documents speak of what is there: files that exist, make targets and commands that can be called."""

import re
from pathlib import Path

import pytest

from service.cli import commands as service_commands
from training.cli import RECIPES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    path
    for folder in (ROOT, *(ROOT / name for name in ("service", "training", "models", "docker", "tests")))
    for path in sorted(folder.glob("*.md"))
]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
FENCE = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def subcommands(app) -> set[str]:
    names = {command.name or command.callback.__name__.replace("_", "-") for command in app.registered_commands}
    return names | {group.name for group in app.registered_groups}


def shell_lines(document: Path) -> list[str]:
    """The commands of a document: lines of its shell blocks, and inline code."""
    text = document.read_text(encoding="utf-8")
    lines = [line for block in FENCE.findall(text) for line in block.splitlines()]
    return lines + re.findall(r"(?<!`)`([^`\n]+)`(?!`)", FENCE.sub("", text))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    broken = [
        target
        for target in LINK.findall(document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_exist(document):
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    known = {"make": targets, "nudge": subcommands(service_commands), "nudge-train": set(RECIPES)}
    unknown = [
        line
        for line in shell_lines(document)
        for program, command in re.findall(r"(?:^|\s)(make|nudge-train|nudge) ([a-z][a-z0-9-]+)", line)
        if command not in known[program]
    ]
    assert unknown == []
