"""Parsing and routing on what models and people really wrote: published answers, and the tasks of WebArena."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from app.engine.agent.answer_parser import parse_answer
from app.engine.agent.llm.orchestrator import PatternFamily, TaskKind, classify_task
from app.engine.core.actions.action_sets import all_calls
from app.engine.core.actions.recorded import from_recorded
from app.engine.imports.step_records import read_output
from tests.support.runs import SHARED, TRAJECTORIES, needs_collection

ALL = frozenset(form.shown for form in all_calls())
TASKS = SHARED / "data" / "webarena" / "config_files" / "test.raw.json"


def answers() -> Iterator[str]:
    for file in sorted(TRAJECTORIES.glob("*/results/*/steps_info_*.json")):
        raw = json.loads(file.read_text("utf-8")).get("action")
        if isinstance(raw, str):
            yield raw


@needs_collection
@pytest.mark.shared_data
def test_published_answers_are_read_as_the_importer_reads_them():
    found = Counter[str]()
    for raw in answers():
        known, parsed = read_output(raw), parse_answer(raw, ALL)
        action = from_recorded(known.action) if known.action is not None else None
        assert parsed.action == action, raw[-400:]
        assert parsed.reason == known.reason
        found[
            "read" if parsed.action is not None else "not ours" if known.action is not None else "no call"
        ] += 1

    assert found == {"read": 472, "not ours": 1, "no call": 1}


@pytest.mark.skipif(not TASKS.is_file(), reason="the tasks of WebArena are not beside the checkout")
@pytest.mark.shared_data
def test_tasks_that_change_something_are_hardly_ever_held_to_reading():
    found: Counter[tuple[bool, bool]] = Counter()
    for task in json.loads(TASKS.read_text("utf-8")):
        kinds = task["eval"]["eval_types"]
        changes, asks = "program_html" in kinds, kinds == ["string_match"]
        told = classify_task(task["intent"])
        held = told.kind is TaskKind.SEARCH and PatternFamily.ACTION not in told.families
        if changes or asks:
            found[changes, held] += 1

    assert found[True, True] <= 0.04 * (found[True, True] + found[True, False])  # all of them ways on a map
    assert found[False, True] >= 0.6 * (found[False, True] + found[False, False])
