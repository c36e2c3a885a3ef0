"""Duration of freezing, against writing the same rows by SQLite alone and the same bytes by nothing at all.

python -m benchmarks.freeze
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from kb.freeze import freeze, open_any, verify
from kb.record import COLUMNS, QUOTED, to_row
from kb.store import KnowledgeBase
from kb.tip import Kind, Scope, Status, Tip, TipDraft

SIZES = (1_000, 5_000, 20_000)
WORDS = [
    f"{verb}{noun}"
    for verb in ("", "re", "un")
    for noun in ("open", "order", "list", "filter", "status", "map")
]


def drafts(count: int) -> list[TipDraft]:
    chance = random.Random(7)

    def words(least: int, most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))

    return [
        TipDraft(
            site=f"site{number % 10}",
            text=f"{number}: {words(15, 60)}",
            scope=Scope(path=f"/{chance.choice(WORDS)}/**"),
            kind=chance.choice(list(Kind)),
            when=words(3, 10),
            why=words(3, 10),
            keywords=tuple(chance.sample(WORDS, 3)),
            taint=(f"task.{number % 812}",),
            status=Status.ACTIVE,
        )
        for number in range(count)
    ]


def timed(action: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few, in seconds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def plain_sqlite(tips: list[Tip], path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        columns = ", ".join(f'"{name}" TEXT' for name in COLUMNS)
        connection.execute(f"CREATE TABLE tip (id TEXT, {columns})")
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        connection.executemany(
            f"INSERT INTO tip (id, {QUOTED}) VALUES ({marks})", ((t.id, *to_row(t)) for t in tips)
        )
        connection.commit()


def plain_json(tips: list[Tip], path: Path) -> None:
    rows = [dict(zip(("id", *COLUMNS), (t.id, *to_row(t)), strict=True)) for t in tips]
    synced(path, json.dumps(rows, ensure_ascii=False).encode())


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("freeze: seconds, and ratio to plain SQLite with the same rows in the same run")
        print("  tips    MB  import  sqlite   json   bytes  freeze  ratio  verify    open")
        for size in SIZES:
            with KnowledgeBase.open(folder / f"{size}.akb") as kb:
                bring = timed(lambda kb=kb, size=size: kb.add_many(drafts(size)), 1)
                tips, out = kb.tips(), folder / f"{size}.frozen.akb"
                sqlite = timed(lambda tips=tips: plain_sqlite(tips, folder / "plain.sqlite"))
                as_json = timed(lambda tips=tips: plain_json(tips, folder / "plain.json"))
                frozen = timed(lambda kb=kb, out=out: freeze(kb, out))
            raw = out.read_bytes()
            floor = timed(lambda raw=raw: synced(folder / "raw", raw))
            check = timed(lambda out=out: verify(out))
            reading = timed(lambda out=out: open_any(out))
            print(
                f"{size:6d} {len(raw) / 2**20:5.1f} {bring:7.2f} {sqlite:7.3f} {as_json:6.3f} {floor:7.3f}"
                f" {frozen:7.3f} {frozen / sqlite:6.1f} {check:7.3f} {reading:7.3f}"
            )


if __name__ == "__main__":
    main()
