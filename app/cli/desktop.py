"""``sitelore install-desktop``, ``man`` and ``completion``: the program's place in the desktop and in the shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.common import Json, print_note, print_result
from app.errors import SiteloreError, UsageError

if TYPE_CHECKING:
    from app.cli.command_tree import CommandNode

Shell = Literal["bash", "zsh", "fish"]


def install_desktop(
    context: typer.Context,
    remove: Annotated[bool, typer.Option("--remove", help="Delete what was put there.")] = False,
    as_json: Json = False,
) -> None:
    """Put Sitelore into the desktop's menu, with its types of files, the man page and completion of commands.

    It writes to your own data folder only, and prints what it wrote. Linux and BSD desktops.
    """
    if sys.platform in ("win32", "darwin"):
        raise SiteloreError(_elsewhere())
    from app.cli import desktop_files

    home = desktop_files.data_home(os.environ)
    try:
        changed = (
            desktop_files.remove(home)
            if remove
            else desktop_files.install(home, _program(), _version(), _tree(context))
        )
    except OSError as error:
        raise SiteloreError(
            f"{error.filename or home} can't be written: {error.strerror or error}"
        ) from error
    notes = desktop_files.refresh(home) if changed else []
    if changed and not remove and desktop_files.give_folders_back(home):
        notes.append("folders are left to the file manager: this desktop would have opened all of them here")
    verb = "deleted" if remove else "written"
    print_result(
        {verb: [str(path) for path in changed], "notes": notes},
        as_json,
        lambda: "\n".join(map(str, changed)) or f"nothing to be {verb}: {home} is as it should be",
    )
    for note in notes:
        print_note(note)


def man(
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write (default: standard output).", show_default=False),
    ] = None,
) -> None:
    """Print the manual page in roff; `sitelore man | man -l -` shows it."""
    from app.cli.man_page import man_page

    page = man_page(_tree(context), _version())
    if out is None:
        sys.stdout.write(page)
        return
    from app.settings import write_atomically

    try:
        write_atomically(out.expanduser(), page)
    except OSError as error:
        raise SiteloreError(f"{out} can't be written: {error.strerror or error}") from error


def completion(
    context: typer.Context,
    shell: Annotated[
        Shell | None, typer.Argument(help="The shell (default: yours).", show_default=False)
    ] = None,
) -> None:
    """Print the completion of commands for a shell; `install-desktop` puts it where bash and fish look for it.

    For zsh, or without a desktop: `sitelore completion zsh > FILE`, and `source FILE` in ~/.zshrc behind compinit.
    """
    from app.cli.completion import SHELLS, completion_script

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise UsageError(f"there is no completion for the shell {name!r}", remedy=f"name {', '.join(SHELLS)}")
    sys.stdout.write(completion_script(name, _tree(context), _version()))


def _tree(context: typer.Context) -> list[CommandNode]:
    from app.cli.command_tree import command_tree

    return command_tree(context.find_root().command)


def _program() -> Path:
    from app.installation import program

    try:
        return program()
    except FileNotFoundError as error:
        raise SiteloreError(f"{error}: install Sitelore with pipx or uv, then ask again") from error


def _version() -> str:
    from app.installation import version

    return version()


def _elsewhere() -> str:
    program = _program()
    if sys.platform == "win32":
        return f"nothing is put into Windows: pin {program} to Start, and choose it under 'Open with' of an .akb file"
    return f"nothing is put into macOS: add {program} to the Dock's folders, or start it in a terminal"
