"""Duration of compiling tips, alone and as part of a freeze, and how many of the labelled tips are read right.

python -m benchmarks.tip_compiler
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from kb.compiler import compile_text
from kb.freeze import freeze
from kb.store import KnowledgeBase
from kb.tip import Status, TipDraft

READINGS = Path(__file__).parent / "data" / "tip_readings.jsonl"
COUNT = 10_000


def drafts(count: int) -> list[TipDraft]:
    """Labelled tips over and over, each with a number, so that none is compiled twice."""
    rows = [json.loads(line) for line in READINGS.read_text(encoding="utf-8").splitlines()]
    return [
        TipDraft(
            site=f"site{number % 10}",
            text=f"{number}. {row['do']}",
            do=f"{row['do']} Number {number}.",
            when=row["when"],
            before=row["before"],
            why=row["why"],
            status=Status.ACTIVE,
        )
        for number in range(count)
        for row in (rows[number % len(rows)],)
    ]


def main() -> None:
    tips = drafts(COUNT)
    start = time.process_time()
    steps = sum(len(compile_text(tip.do, tip.when, tip.before, tip.why).steps) for tip in tips)
    alone = time.process_time() - start
    print(f"compile {COUNT:,} tips: {alone:.2f} s CPU, {alone / COUNT * 1e6:.0f} us a tip, {steps:,} steps")
    with tempfile.TemporaryDirectory() as folder, KnowledgeBase.open(Path(folder) / "live.akb") as kb:
        kb.judge = lambda draft: ()
        start = time.process_time()
        kb.add_many(tips)
        print(f"store them: {time.process_time() - start:.2f} s CPU")
        start = time.process_time()
        freeze(kb, Path(folder) / "frozen.akb")
        print(f"freeze them: {time.process_time() - start:.2f} s CPU")


if __name__ == "__main__":
    main()
