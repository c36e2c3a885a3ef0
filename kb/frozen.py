"""A frozen knowledge base, open for reading: the interface of the live one without changes."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from kb import image
from kb.database import connect, explained
from kb.errors import BadFile, BadTip, Frozen, NoSuchTip
from kb.evidence import Evidence
from kb.manifest import read_manifest
from kb.migrations import FROZEN_ID, shown
from kb.reading import refuse_odd
from kb.record import COLUMNS, FIRST_COLUMNS
from kb.select import select, tally
from kb.shape import check_shape, guard
from kb.tip import KbStats, Status, Tip
from kb.vectors import MemoryVectors, VectorCache

if TYPE_CHECKING:
    from kb.store import KnowledgeBase

HEADER = 100
"""Bytes of an SQLite file's header."""

_SHARED = {"meta": ("key", "value"), "site_host": ("site", "hosts")}
TABLES = {
    1: {**_SHARED, "tip": ("id", *FIRST_COLUMNS)},
    2: {**_SHARED, "tip": ("id", *COLUMNS, image.RECORD)},
}
"""Tables of a frozen file with their columns, by the layout's major version."""


class FrozenKnowledgeBase:
    """A frozen knowledge base; content is read and checked against its hash once, the file isn't kept open."""

    frozen = True
    data_version = 1

    def __init__(self, path: Path, content: image.Content) -> None:
        self.path = path
        self.sha256 = content.sha256
        self.vectors: VectorCache = MemoryVectors()
        self._tips = list(content.tips)
        self._by_id = {tip.id: tip for tip in content.tips}
        self._hosts = content.hosts

    @classmethod
    def open(cls, path: Path | str) -> FrozenKnowledgeBase:
        """Read a frozen file; raises ``BadFile`` if its content isn't what was frozen.

        ``kb.freeze.verify`` checks more: every byte, and the manifest.
        """
        path = Path(path)
        version = frozen_version(path)
        if version is None:
            raise BadFile(f"{path}: this is not a frozen knowledge base")
        if version // 1000 > image.VERSION // 1000:
            raise BadFile(newer(path, version))
        content = read_content(path)
        return cls(path, content)

    def close(self) -> None:
        """Do nothing; here for symmetry with the live knowledge base."""

    def __enter__(self) -> FrozenKnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, id: str) -> Tip:
        """The tip of this id; raises ``NoSuchTip``."""
        try:
            return self._by_id[id]
        except KeyError:
            raise NoSuchTip(f"there is no tip {id!r} in {self.path.name}") from None

    def tips(self, site: str = "", statuses: Collection[Status] | None = None, search: str = "") -> list[Tip]:
        """Tips sorted by id: of this site, with one of these statuses, containing every word of ``search``."""
        return select(self._tips, site, statuses, search)

    def hosts(self) -> dict[str, tuple[str, ...]]:
        """The host globs of each site that has tips here."""
        return dict(self._hosts)

    def withheld(self, tip: Tip) -> str:
        """Why a tip is withheld from agents: never for a frozen file, whose freeze has asked for every error."""
        return ""

    def stats(self) -> KbStats:
        """Counts over all tips; the encoder is the one the manifest names."""
        encoder = read_manifest(self.path).encoder_id
        return tally(self._tips, revisions=len(self._tips), vectors=0, encoder=encoder, frozen=True)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise Frozen(f"{self.path}: this knowledge base is frozen; change the live one and freeze that again")

    add = add_many = edit = set_status = restore_revision = set_hosts = add_evidence = undo = redo = _refuse

    def evidence(self, id: str) -> list[Evidence]:
        """No evidence: a frozen file holds the counts of ``Tip.record`` only."""
        self.get(id)
        return []


def open_any(path: Path | str) -> KnowledgeBase | FrozenKnowledgeBase:
    """Open either kind of file, for reading only."""
    if frozen_version(Path(path)) is not None:
        return FrozenKnowledgeBase.open(path)
    from kb.store import KnowledgeBase  # late: a frozen file needs nothing that writes

    return KnowledgeBase.open(path, read_only=True)


def frozen_version(path: Path) -> int | None:
    """The layout's version if the file's header marks a frozen knowledge base, else None.

    Raises ``Unreadable`` for anything but a file or a folder.
    """
    if path.exists() and not path.is_dir():
        refuse_odd(path)
    try:
        with path.open("rb") as file:
            header = file.read(HEADER)
    except OSError:
        return None
    return version_in(header)


def version_in(header: bytes) -> int | None:
    """The same for the first bytes of a file."""
    is_frozen = header.startswith(b"SQLite format 3\0") and header[68:72] == FROZEN_ID.to_bytes(4, "big")
    return int.from_bytes(header[60:64], "big") if is_frozen else None


def newer(path: Path, version: int) -> str:
    """The message for a file of a newer major version."""
    return (
        f"{path}: made by a newer version of this program (frozen format {shown(version)}, this one reads up to"
        f" {image.VERSION // 1000}.x); update the program"
    )


def read_content(path: Path) -> image.Content:
    """Tips and hosts of a frozen file; raises ``BadFile`` if they don't match its own hash."""
    damaged = f"{path}: changed or damaged since it was frozen; take another copy of it"
    with explained(path), closing(connect(path, immutable=True)) as connection:
        guard(connection)
        layout = int(connection.execute("PRAGMA user_version").fetchone()[0])
        tables = TABLES.get(layout // 1000, TABLES[image.VERSION // 1000])
        try:
            check_shape(connection, path, tables, may_have_more=layout > image.VERSION)
            content = image.read(connection)
            stated = image.stated_hash(connection)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, BadTip) as error:
            raise BadFile(f"{damaged} ({error})") from error
    if content.sha256 != stated:
        raise BadFile(damaged)
    return content
