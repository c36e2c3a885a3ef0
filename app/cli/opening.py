"""``sitelore FILE`` and ``sitelore open``: files and folders that the window opens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from app.cli.common import workspace_path
from app.errors import InputError, SiteloreError

Place = Literal["review", "map", "live", "knowledge", "evaluate"]
OPEN = "open"


class CommandsOrFiles(TyperGroup):
    """The command tree, in which a first word that is a path is a file to open."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the first word; that of a path is ``open``."""
        if args and args[0] not in self.commands and _is_path(args[0]):
            return OPEN, self.commands[OPEN], args
        return super().resolve_command(ctx, args)


def open_(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Knowledge bases (.akb), run folders, traces and tables of tips.", show_default=False
        ),
    ] = None,
    show: Annotated[Place | None, typer.Option(help="The perspective to begin with.")] = None,
) -> None:
    """Open files and folders in the window: a knowledge base to look at, runs in Review.

    `sitelore FILE` is short for it. An open window of the workspace takes them over.
    """
    named = [_run_folder(Path(path).expanduser()) for path in paths or []]
    for path in named:
        if not os.path.exists(path):  # noqa: PTH110 False too for a name that the system can't take
            raise InputError("no such file or folder", path=str(path), remedy="check the path")
    need_qt()
    from app.main import run_workbench

    opened = [str(path.resolve()) for path in named]
    raise typer.Exit(run_workbench(workspace_path(), paths=opened, show=show or ""))


def need_qt() -> None:
    """Check for the libraries a window needs: without them Qt ends the process with a trace and no remedy.

    Raises ``SiteloreError`` that names the libraries and the packages.
    """
    from app.engine.services.doctor import missing_qt, needs_xcb

    lacking = missing_qt(display=needs_xcb(os.environ))
    if lacking is not None:
        raise SiteloreError(f"the window can't open: {lacking.found}; install them with: {lacking.remedy}")


def _run_folder(path: Path) -> Path:
    """Return the folder of a ``run.json``, which stands for its run where folders can't be double-clicked."""
    return path.absolute().parent if path.name == "run.json" and path.is_file() else path


def _is_path(word: str) -> bool:
    """Whether a word is meant as a file: it has a folder or an ending, or there is one of this name."""
    separators = {"/", os.sep, "."}
    return bool(separators & set(word)) or os.path.exists(word)  # noqa: PTH110 any name may come
