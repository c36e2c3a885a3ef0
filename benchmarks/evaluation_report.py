"""The report of an evaluation of 812 tasks x 3 repeats: the whole of it, its parts, and the same at twice the size.

The journal is made up with a seed (190 templates, six sites); what it is compared with is made before the clock
starts.  One arm is 2,436 runs; two arms have 4,872 runs and a table of 812 pairs.  The floor is `json.dump` of the
same records and pairs into a file: what any program that keeps them would pay.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from app.engine.api.evaluation_api import Comparison
from app.engine.core.evaluation.episode import EvaluationJournal
from app.engine.evaluation.report.csv_tables import csv_bytes
from app.engine.evaluation.report.files import report_tables, write_report_files
from app.engine.evaluation.report.html_page import html_bytes
from app.engine.evaluation.report.json_document import json_bytes
from app.engine.evaluation.report.latex_tables import latex_bytes
from tests.support.made_up_evaluation import FOUR_ARMS, made_up_comparison, made_up_journal

BAR, TIMES = 10.0, 5


def seconds(work: Callable[[], object]) -> float:
    """Return the median of some tries after one to warm up."""
    work()
    taken = list[float]()
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def floor(journal: EvaluationJournal, comparison: Comparison, path: Path) -> None:
    data = {
        "records": [asdict(record) for record in journal.records],
        "pairs": [asdict(pair) for pair in comparison.pairs],
    }
    with path.open("w") as file:
        json.dump(data, file)


def measured(name: str, journal: EvaluationJournal, out: Path) -> float:
    comparison = made_up_comparison(journal)
    tables = report_tables(comparison, [journal])
    whole = seconds(lambda: write_report_files(comparison, [journal], out))
    parts = {
        "page": lambda: html_bytes(comparison, [journal]),
        "tables as CSV": lambda: [csv_bytes(table) for table in tables],
        "tables as LaTeX": lambda: latex_bytes(tables, []),
        "JSON": lambda: json_bytes(comparison, [journal], []),
    }
    least = seconds(lambda: floor(journal, comparison, out / "floor.json"))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file() and path.name != "floor.json")
    print(f"{name}: {len(journal.records):,} runs, {len(comparison.pairs):,} pairs, {size / 1e6:.1f} MB")
    print(f"  report written   {whole:6.2f} s   ({whole / least:.1f} x the floor)")
    for part, work in parts.items():
        print(f"    {part:<15}  {seconds(work):6.2f} s")
    print(f"  floor: json.dump {least:6.2f} s", flush=True)
    return whole


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        one = measured("one arm", made_up_journal(arms=FOUR_ARMS[:1]), Path(place) / "one")
        two = measured("two arms", made_up_journal(arms=FOUR_ARMS[:2]), Path(place) / "two")
        four = measured("four arms", made_up_journal(), Path(place) / "four")
    print(f"growth: {two / one:.2f} x the time for two arms, {four / two:.2f} x for four instead of two")
    print(f"bar: {BAR:.0f} s for 2,436 runs: {'held' if max(one, two) < BAR else 'MISSED'}")
    return int(max(one, two) >= BAR)


if __name__ == "__main__":
    sys.exit(main())
