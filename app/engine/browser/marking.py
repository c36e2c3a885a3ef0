"""Marking text, and giving files."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Error

from app.engine.browser.blame import named
from app.engine.browser.cascade import PLAYWRIGHT, SCRIPT
from app.engine.browser.grip import Done, Grip, Refused
from app.engine.browser.page_hand import ask
from app.engine.browser.snapshot import handle_of, place_of
from app.engine.command import SelectText, Upload
from app.engine.effect import Cause, refused


async def select_text(grip: Grip, command: SelectText) -> Done:
    """Mark text within an element."""
    element = grip.element(command.element)
    world, number = place_of(grip.visit, element.index)
    marked = await ask(world, f"siteloreHand.mark({number}, {int(command.start)}, {int(command.end)})")
    if not marked:
        raise Refused(refused(Cause.VALUE, f"{named(element)} holds no such part of a text"))
    return Done(tried=(SCRIPT,), calm=True)


async def upload(grip: Grip, command: Upload) -> Done:
    """Give a file from the run's own folder to a file field."""
    element = grip.element(command.element)
    path = _file(grip.files, command.file)
    handle = await handle_of(grip.visit, element.index)
    try:
        await handle.set_input_files(path, timeout=1000)
    except Error as error:
        raise Refused(refused(Cause.WRONG_KIND, f"{named(element)} takes no file")) from error
    return Done(tried=(PLAYWRIGHT,), calm=True)


def _file(folder: Path | None, name: str) -> Path:
    """The file of this name, which lies in the folder and nowhere else.

    Raises:
        Refused: there is no such file, or it lies outside.
    """
    if folder is None:
        raise Refused(refused(Cause.FILE, "this run has no folder of files to give"))
    root = folder.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root) or path == root:
        raise Refused(refused(Cause.FILE, "a file is named by its name within the run's folder"))
    if not path.is_file():
        names = sorted(item.name for item in root.iterdir() if item.is_file()) if root.is_dir() else []
        raise Refused(
            refused(Cause.FILE, f"there is no file {name[:80]!r}", f"files: {', '.join(names[:20])}")
        )
    return path
