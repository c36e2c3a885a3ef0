"""Builds an SQLite file page by page, so that its bytes depend on nothing but its rows.

SQLite's own writer leaves remnants of moved cells in unused parts of pages, and they differ between its versions
(seen from 3.40 to 3.54 with 20,000 rows).  Here rows go into leaves in order, overflow pages follow their leaf, inner
pages follow the leaves they lead to, and unused bytes are zero.  The format is the one SQLite documents as "Database
File Format"; SQLite itself reads it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb.errors import KbError

PAGE = 4096
_FIXED_VERSION = 3_040_000
"""Replaces SQLite's record of the version that wrote the file."""

_LARGEST_LOCAL = PAGE - 35
_SMALLEST_LOCAL = (PAGE - 12) * 32 // 255 - 23
_OVERFLOW_ROOM = PAGE - 4
_CHILDREN = 256
"""Children of an inner page: 255 cells of at most 13 bytes and a pointer of 2 always fit."""

_MOST_PAGES = 2**30 // PAGE - 1
"""Pages before the one at 1 GB, which SQLite reserves for its locks."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: the names of its columns, and its rows in storage order."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[str]]

    @property
    def sql(self) -> str:
        """The statement that would create it."""
        columns = ", ".join(f'"{column}" TEXT NOT NULL' for column in self.columns)
        return f"CREATE TABLE {self.name} ({columns})"


def build(tables: Iterable[Table], *, application_id: int, user_version: int) -> bytes:
    """Build the whole file."""
    pages = _Pages()
    entries: list[bytes] = []
    count = 0
    for count, table in enumerate(tables, start=1):
        root = pages.tree(_record(row) for row in table.rows)
        entry = _record(["table", table.name, table.name, root, table.sql])
        entries.append(_varint(len(entry)) + _varint(count) + entry)
    first = bytearray(_leaf(entries, header=100))
    first[:100] = _header(len(pages.done) + 1, count, application_id, user_version)
    return bytes(first) + b"".join(pages.done)


class _Pages:
    """Pages after the first; page numbers count from 1."""

    def __init__(self) -> None:
        self.done: list[bytes] = []

    def tree(self, records: Iterable[bytes]) -> int:
        """Write a table's rows, numbered from 1, and return the page of its root."""
        level: list[tuple[int, int]] = []  # a page and the last row below it
        cells: list[bytes] = []
        used, row = 0, 0
        spill: list[bytes] = []  # overflow of the leaf's cells, written after it
        for row, record in enumerate(records, start=1):
            local = _local_size(len(record))
            head = _varint(len(record)) + _varint(row) + record[:local]
            size = len(head) + (4 if local < len(record) else 0) + 2
            if used + size > PAGE - 8:
                level.append((self._leaf(cells, spill), row - 1))
                cells, spill, used = [], [], 0
            cells.append(head)
            spill.append(record[local:])
            used += size
        level.append((self._leaf(cells, spill), row))
        while len(level) > 1:
            level = [self._inner(children) for children in _groups(level)]
        return level[0][0]

    def _leaf(self, cells: list[bytes], rests: list[bytes]) -> int:
        number = len(self.done) + 2
        following = number + 1
        whole: list[bytes] = []
        chains: list[bytes] = []
        for cell, rest in zip(cells, rests, strict=True):
            if rest:
                cell += struct.pack(">I", following)
                parts = [rest[at : at + _OVERFLOW_ROOM] for at in range(0, len(rest), _OVERFLOW_ROOM)]
                for left, part in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
                    following += 1
                    chains.append((struct.pack(">I", following if left else 0) + part).ljust(PAGE, b"\0"))
            whole.append(cell)
        self._append(_leaf(whole))
        for chain in chains:
            self._append(chain)
        return number

    def _inner(self, children: list[tuple[int, int]]) -> tuple[int, int]:
        cells = [struct.pack(">I", page) + _varint(row) for page, row in children[:-1]]
        last_page, last_row = children[-1]
        return self._append(_page(b"\x05", cells, struct.pack(">I", last_page))), last_row

    def _append(self, page: bytes) -> int:
        if len(self.done) + 1 >= _MOST_PAGES:
            raise KbError("these tips would fill more than 1 GB; freeze fewer of them")
        self.done.append(page)
        return len(self.done) + 1


def _leaf(cells: list[bytes], header: int = 0) -> bytes:
    return _page(b"\x0d", cells, b"", header)


def _page(kind: bytes, cells: list[bytes], right_most: bytes, header: int = 0) -> bytes:
    """A page of a table's tree: its header, pointers to the cells, and from the end of the page the cells."""
    page = bytearray(PAGE)
    at = PAGE
    pointers: list[int] = []
    for cell in cells:
        at -= len(cell)
        page[at : at + len(cell)] = cell
        pointers.append(at)
    head = kind + struct.pack(">HHHB", 0, len(cells), at, 0) + right_most
    head += b"".join(struct.pack(">H", pointer) for pointer in pointers)
    if header + len(head) > at:
        raise ValueError("the cells do not fit into a page")
    page[header : header + len(head)] = head
    return bytes(page)


def _groups(level: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Children of one inner page each, and at least two of them."""
    groups = [level[at : at + _CHILDREN] for at in range(0, len(level), _CHILDREN)]
    if len(groups[-1]) == 1:
        groups[-1].insert(0, groups[-2].pop())
    return groups


def _local_size(size: int) -> int:
    """The number of bytes of a row of this size that are stored in its leaf."""
    if size <= _LARGEST_LOCAL:
        return size
    wanted = _SMALLEST_LOCAL + (size - _SMALLEST_LOCAL) % _OVERFLOW_ROOM
    return wanted if wanted <= _LARGEST_LOCAL else _SMALLEST_LOCAL


def _record(values: Sequence[str | int]) -> bytes:
    """A row: the kinds of its values, then the values."""
    kinds, body = b"", b""
    for value in values:
        if isinstance(value, int):
            kinds += _varint(4)
            body += struct.pack(">i", value)
        else:
            text = value.encode("utf-8")
            kinds += _varint(13 + 2 * len(text))
            body += text
    size = len(kinds) + 1
    return _varint(size if size < 128 else size + 1) + kinds + body


def _varint(value: int) -> bytes:
    """Seven bits a byte, the highest first; enough for values below 2**56."""
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))


def _header(pages: int, tables: int, application_id: int, user_version: int) -> bytes:
    once = 1  # the change counter; the page count is valid while it is the same in both places
    return struct.pack(
        ">16sH6B12I20x2I",
        b"SQLite format 3\0",
        PAGE,
        *(1, 1, 0, 64, 32, 32),  # rollback journal, nothing reserved, the fixed payload fractions
        *(once, pages, 0, 0),  # no free pages
        *(tables, 4, 0, 0),  # the schema's cookie and format, default cache size, no auto-vacuum
        *(1, user_version, 0, application_id),  # UTF-8
        *(once, _FIXED_VERSION),
    )
