"""The registry of formats, and reading, writing and importing their files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kb import atomic
from kb.content import clean, clean_site
from kb.errors import BadFile, BadTip, KbError
from kb.exchange import csv, hints, jsonl, markdown, numbered
from kb.exchange.parsed import ParsedTip
from kb.reading import read_bytes
from kb.store import KnowledgeBase
from kb.tip import ImportReport, Status, Tip, TipDraft

FILE_LIMIT = 64 * 2**20
"""Maximum bytes of an exchange file."""

ERRORS_SHOWN = 200

_UNFIT_FOR_SITE = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class ExchangeFormat:
    """A format by its functions; ``sited_by_name`` if the file's name gives the site.

    ``holds`` recognises a tip in a format that accepts any text, so that a file without one is reported.
    """

    parse: Callable[[str, str], Iterator[ParsedTip]]
    serialise: Callable[[Iterable[TipDraft]], str] | None = None
    sited_by_name: bool = False
    suffix: str = ""
    holds: str = ""
    for_agents: bool = False
    """Its files go to other people's agents: active tips only, unless others are asked for, and no confidential one."""


FORMATS: dict[str, ExchangeFormat] = {
    "jsonl": ExchangeFormat(jsonl.parse, jsonl.serialise, suffix=".jsonl"),
    "csv": ExchangeFormat(csv.parse, csv.serialise, suffix=".csv"),
    "txt": ExchangeFormat(
        numbered.parse,
        numbered.serialise,
        sited_by_name=True,
        suffix=".txt",
        holds="tips that begin with a number ('1. ...'), or paragraphs under bold headings",
    ),
    "hints": ExchangeFormat(hints.parse, hints.serialise, suffix=".csv", for_agents=True),
    "markdown": ExchangeFormat(
        markdown.parse,
        markdown.serialise,
        sited_by_name=True,
        suffix=".md",
        holds="a list of tips",
        for_agents=True,
    ),
}
"""By name; ``auto`` chooses by the file's suffix."""

_ALIASES = {"numbered": "txt", "md": "markdown", "json": "jsonl"}


def read(path: Path | str, format: str = "auto", site: str = "") -> list[TipDraft]:
    """Return the drafts of a file; raises ``BadFile`` at the first that can't be read.

    ``site`` is the default if the file names none.
    """
    drafts: list[TipDraft] = []
    for where, parsed in parse_file(Path(path), format, site):
        if parsed.draft is None:
            raise BadFile(f"{where}, line {parsed.line}: {parsed.error}")
        drafts.append(parsed.draft)
    return drafts


def write(tips: Iterable[TipDraft], path: Path | str, format: str = "auto") -> None:
    """Write tips in order of arrival; an existing file is replaced atomically.

    A folder gets one file for each site in a format whose files are named by it, ``<site>.txt`` or ``<site>.md``.
    """
    path = Path(path)
    name, chosen = _format(path, format)
    if chosen.serialise is None:
        writable = ", ".join(one for one, known in FORMATS.items() if known.serialise is not None)
        raise KbError(f"{name} files can be read, not written; write one of {writable}")
    drafts = [clean(tip) for tip in _in_order_of_arrival(tips)]
    if not path.is_dir():
        _place(path, chosen.serialise(drafts))
    elif chosen.sited_by_name:
        for site in sorted({draft.site for draft in drafts}):
            _place(path / f"{site}{chosen.suffix}", chosen.serialise([d for d in drafts if d.site == site]))
    else:
        raise BadFile(f"{path}: this is a folder; name a file in it, like {path / f'tips{chosen.suffix}'}")


def import_file(kb: KnowledgeBase, path: Path | str, format: str = "auto", site: str = "") -> ImportReport:
    """Import a file's tips as drafts, whatever status it claims for them, as one undoable change.

    Errors are reported line by line and block nothing else; tips that are here already are skipped.
    """
    path = Path(path)
    drafts: list[TipDraft] = []
    failed: list[str] = []
    for where, parsed in parse_file(path, format, site):
        try:
            if parsed.draft is None:
                raise BadTip(parsed.error)
            origin = replace(parsed.draft.provenance, source=where.name)
            drafts.append(clean(replace(parsed.draft, status=Status.DRAFT, provenance=origin)))
        except BadTip as error:
            failed.append(f"{where.name}, line {parsed.line}: {error}")
    added = kb.add_many(drafts, "import", f"import {path.name}")
    if len(failed) > ERRORS_SHOWN:
        failed[ERRORS_SHOWN:] = [f"and {len(failed) - ERRORS_SHOWN:,} more unreadable lines"]
    return ImportReport(
        added=tuple(tip.id for tip in added), skipped=len(drafts) - len(added), failed=tuple(failed)
    )


def parse_file(path: Path, format: str = "auto", site: str = "") -> Iterator[tuple[Path, ParsedTip]]:
    """Parse each tip of a file, or of every file of the format in a folder, with its file."""
    site = clean_site(site) if site else ""
    name, chosen = _format(path, format)
    files = _files(path, chosen.suffix) if path.is_dir() else [path]
    if not files:
        raise BadFile(
            f"{path}: there is no {chosen.suffix} file in this folder; name a file, or another format"
        )
    for file in files:
        text = _text(file)
        if format == "auto" and chosen is FORMATS["csv"] and hints.is_table(text):
            chosen = FORMATS["hints"]
        named = site or (_site_of(file) if chosen.sited_by_name else "")
        empty = True
        try:
            for parsed in chosen.parse(text, named):
                empty = False
                yield file, parsed
        except BadFile as error:
            raise BadFile(f"{file}: this is not a {name} file: {error}") from error
        if empty and chosen.holds and text.strip() and not text.lstrip().startswith(numbered.HEADING):
            yield (
                file,
                ParsedTip(1, error=f"there is no tip in this file; a {name} file holds {chosen.holds}"),
            )


def format_of(path: Path | str, format: str = "auto") -> ExchangeFormat:
    """Return the format of this name, or of the file's suffix; raises ``KbError`` for an unknown one."""
    return _format(Path(path), format)[1]


def _format(path: Path, format: str) -> tuple[str, ExchangeFormat]:
    name = _ALIASES.get(format, format)
    if name == "auto":
        endings = {chosen.suffix: name for name, chosen in reversed(FORMATS.items())}
        name = "txt" if path.is_dir() else endings.get(path.suffix.lower(), "")
        if not name:
            raise KbError(f"{path}: its suffix gives no format; name one of {', '.join(FORMATS)}")
    if name not in FORMATS:
        raise KbError(f"unknown format {format!r}; there are {', '.join(FORMATS)}")
    return name, FORMATS[name]


def _files(folder: Path, suffix: str) -> list[Path]:
    """The folder's files with this suffix, without symbolic links that lead elsewhere."""
    inside = folder.resolve()
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() == suffix and file.is_file() and file.resolve().parent == inside
    )


def _text(path: Path) -> str:
    content = read_bytes(path, FILE_LIMIT)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{path}: not UTF-8 text (byte {error.start + 1:,} is {content[error.start]:#04x}); save it as UTF-8"
        ) from None


def _site_of(path: Path) -> str:
    return _UNFIT_FOR_SITE.sub("-", path.stem.lower()).strip("-._")


def _place(path: Path, text: str) -> None:
    if path.is_file():
        with path.open("rb") as file:
            if file.read(15) == b"SQLite format 3":
                raise BadFile(f"{path}: this is a knowledge base; it is not overwritten; choose another name")
    atomic.place(path, text.encode("utf-8"))


def _in_order_of_arrival(tips: Iterable[TipDraft]) -> list[TipDraft]:
    """Stored tips by arrival, drafts as given."""
    return sorted(tips, key=lambda tip: (tip.created_at, tip.id) if isinstance(tip, Tip) else (0.0, ""))
