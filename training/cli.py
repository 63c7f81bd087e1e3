"""`nudge-train`: one command for each recipe of `training/recipes`, from text to bundle.

A recipe module offers `command`, a function that typer can read; it is imported only when it is asked for, so that
`nudge-train prepare` does not wait for torch.  An error of our own tree is a message and exit code 1; anything else is
a bug and shows its traceback.
"""

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from training.errors import NudgeTrainError

RECIPES = (
    "novel",
    "pivot",
    "prepare",
    "pretrain",
    "actor",
    "actors",
    "evaluate",
    "export",
    "report",
    "catalogue",
    "bench",
)


class Recipes(TyperGroup):
    """The commands, found by name among the recipes."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(RECIPES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in RECIPES:
            return None
        recipe = typer.Typer(add_completion=False)
        recipe.command(cmd_name)(import_module(f"training.recipes.{cmd_name}").command)
        command = typer.main.get_command(recipe)
        command.name = cmd_name
        return command

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except NudgeTrainError as error:
            print(f"nudge-train: {error}", file=sys.stderr)
            raise typer.Exit(1) from None


app = typer.Typer(cls=Recipes, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Train translation models and the actors that steer their greedy decoder, from text to bundle."""


if __name__ == "__main__":
    app()
