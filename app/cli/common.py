"""Shared by all commands: the engine's life, progress on standard error, printing of results."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import orjson
import typer

from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE
from app.engine.core.events import BrowserStarted, Event, JobChanged, SitesChanged
from app.errors import printable

if TYPE_CHECKING:
    from app.engine.api.graph_api import ScopeCoverage
    from app.engine.engine import Engine

T = TypeVar("T")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
StorageState = Annotated[
    Path | None, typer.Option(help="A saved log-in (Playwright storage state); read, never copied.")
]
SiteName = Annotated[str, typer.Option(help="Name of the site (default: taken from the address).")]
Graphs = Annotated[
    list[str] | None, typer.Option(help="Site whose interaction graph may be used; may be repeated.")
]
TipBudget = Annotated[
    int, typer.Option(min=0, help="Maximum tokens of the tips of a step (0: as in the settings).")
]
ModelName = Annotated[str, typer.Option(help="Model to use in place of the one in the settings.")]
ACTIONS = typer.Option(
    help="The actions the model is offered: compact (six), standard, all, or a set of the workspace"
    " (`sitelore prompts sets`). For --policy llm."
)
JUDGE = typer.Option(
    help="Ask a model about steps while the run goes on: auto (supervised runs of the llm policy), on, off."
)
JUDGE_EVERY = typer.Option(min=0, help="Steps after which it is asked at the latest (0: no limit).")
JUDGE_CALLS = typer.Option(min=0, help="Maximum number of questions to it in a run.")
PICTURES = typer.Option(
    help="When the model is shown the page's screenshot with numbered elements: off, changed (only when the page"
    " looks different), always; auto: changed, if the model takes pictures. For --policy llm."
)
TIME_ZONE = typer.Option(
    help="The time zone of the prompts and the browser, such as Europe/Oslo (default: this machine's)."
)
LOCALE = typer.Option(help="The locale of the prompts and the browser, such as nb-NO (default: en-GB).")
Headed = Annotated[bool, typer.Option("--headed", help="Show the browser.")]
Depth = Annotated[int, typer.Option(min=0, help="Maximum number of transitions from the home page.")]
MaxStates = Annotated[int, typer.Option(min=1, help="Maximum number of states.")]


@dataclass
class Globals:
    """Options given before the command."""

    workspace: Path | None = None
    author: str = ""
    """The person acted as; "" for the author of the settings."""


GLOBALS = Globals()


PolicyName = Literal["scout", "llm"]
JudgeAsked = Literal["auto", "off", "on"]
PicturesSent = Literal["auto", "off", "changed", "always"]
MarksWanted = Literal["auto", "always"]
PictureDetail = Literal["auto", "low", "high"]


def workspace_path() -> Path:
    """Return the workspace of this call."""
    from app import settings

    return (GLOBALS.workspace or settings.default_workspace()).expanduser().resolve()


def with_engine(work: Callable[[Engine], Awaitable[T]], *, encoder: str = "") -> T:
    """Open the workspace, do the work, close in order.

    ``encoder`` is "" (not needed), "cached" (use it if it is there) or "wanted" (make it the first time).
    """

    async def running() -> T:
        from app.engine.engine import Engine

        engine = await Engine.open(workspace_path(), GLOBALS.author)
        if sys.stderr.isatty():
            engine.bus.subscribe(show_progress)
        engine.bus.subscribe(SandboxNotice())
        engine.bus.subscribe(_print_learned)
        for note in engine.notes:
            print_note(note)
        try:
            if encoder:
                await engine.load_encoder(allow_export=encoder == "wanted", ahead=False)
            return await work(engine)
        finally:
            await engine.aclose()

    return asyncio.run(running())


def _print_learned(event: Event) -> None:
    """Print what a site learned, or why it did not."""
    if isinstance(event, SitesChanged) and event.note:
        print_note(f"  {event.note}")


class SandboxNotice:
    """Prints once that the browser has no sandbox."""

    def __init__(self) -> None:
        self._warned = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, BrowserStarted) and event.warning and not self._warned:
            self._warned = True
            print_note(f"sitelore: {event.warning}")


def show_progress(event: Event) -> None:
    """Print progress on one line that rewrites itself."""
    if isinstance(event, JobChanged):
        total = f"/{event.total}" if event.total is not None else ""
        end = "\n" if event.state != "running" else ""
        words = terminal_safe(f"{event.title}: {event.done}{total} {event.detail[:60]}")
        sys.stderr.write(f"\r\x1b[K{words}{end}")
        sys.stderr.flush()


_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def terminal_safe(text: str) -> str:
    """Make text safe for a terminal: pages and agents can't move the cursor, set titles or reverse text."""
    return _CONTROL_CHARACTERS.sub("\ufffd", printable(text))


def print_note(text: str) -> None:
    """Print a note on standard error."""
    sys.stderr.write(terminal_safe(text) + "\n")
    sys.stderr.flush()


def json_data(value: Any) -> Any:
    """Return a result as plain JSON data; dataclasses become objects, enums their values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str | Path):
        return printable(str(value))
    if isinstance(value, dict):
        return {printable(str(key)): json_data(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple | set | frozenset):
        return [json_data(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def print_result(value: Any, as_json: bool, text: Callable[[], str]) -> None:
    """Print a result as one JSON document or as text."""
    if as_json:
        sys.stdout.write(orjson.dumps(json_data(value), option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        words = text()
        if words:
            sys.stdout.write(terminal_safe(words) + "\n")


def full_path(path: Path | None) -> str:
    """Return a path given on the command line in full, "" for none."""
    return str(path.expanduser().resolve()) if path else ""


def knowledge_base(name: str) -> str:
    """Return a ``--kb`` option: ``live``, ``none``, or the full path of a frozen file; note a missing manifest."""
    if name in (LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE):
        return name
    from kb.freeze import without_manifest

    path = full_path(Path(name))
    if note := without_manifest(Path(path)):
        print_note(note)
    return path


def add_undo_commands(app: typer.Typer, what: str = "") -> None:
    """Add ``undo`` and ``redo`` of the latest change, of any kind or of one (``knowledge``)."""

    @app.command(help="Undo the latest change.")
    def undo(as_json: Json = False) -> None:
        done = with_engine(lambda engine: engine.undo(what))
        print_result(done, as_json, lambda: f"undone: {done.did}" if done.did else "nothing to undo")

    @app.command(help="Redo the change undone last.")
    def redo(as_json: Json = False) -> None:
        done = with_engine(lambda engine: engine.redo(what))
        print_result(done, as_json, lambda: f"redone: {done.did}" if done.did else "nothing to redo")


ID_COLUMNS = frozenset({"run", "tip", "batch", "key", "begin at", "id"})
"""Heads of columns that hold ids."""


def table(rows: Sequence[Sequence[object]], heads: Sequence[str], widest: int = 60) -> str:
    """Return aligned columns, numbers to the right.

    In a terminal cells of more than ``widest`` characters are cut, except ids: other commands take them.
    """
    if not rows:
        return ""
    cells = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    narrow = sys.stdout.isatty()
    whole = {at for at, head in enumerate(heads) if head in ID_COLUMNS or not narrow}
    cut = [
        [
            cell if at in whole or len(cell) <= widest else cell[: widest - 1] + "…"
            for at, cell in enumerate(row)
        ]
        for row in cells
    ]
    widths = [max(len(row[at]) for row in [list(heads), *cut]) for at in range(len(heads))]
    numeric = [all(_is_number(row[at]) for row in cut) for at in range(len(heads))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()

    return "\n".join([line(list(heads)), *(line(row) for row in cut)])


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: 1 tip, 2 tips."""
    return f"{number:d} {thing}{'' if number == 1 else 's'}"


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace("-", "", 1).isdigit() or text in ("", "-")


def print_coverage(coverage: ScopeCoverage, of: str = "") -> None:
    """Say on how many pages of the site's map a scope holds; nothing where there is no map."""
    if coverage.pages:
        print_note(f"  {of}this scope holds on {coverage.holds} of the {coverage.pages} pages of the map")
