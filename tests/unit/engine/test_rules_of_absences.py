"""The rule of absences: one row a clause, and what is said once per run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.api.engine_api import RunNotes
from app.engine.api.import_notes import note_lines
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Run, Step
from app.engine.imports.absences import ABSENCES, absences, with_absences
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import ReadRun

CLICK = RecordedAction(kind="click", args={"bid": "7"})
STEP = Step(
    index=0,
    url="https://shop.example/",
    title="Shop",
    reason="Open it.",
    action=CLICK,
    target=ActionTarget(role="link", name="Sale", bid="7"),
    tree="t" * 64,
    html="h" * 64,
    screenshot="p" * 64,
    started_at=1.0,
)
RUN = Run(id="r", source="other", intent="Buy", score=1.0, started_at=1.0)

NO_PAGES, ONLY_PICTURES, NO_TREES, NO_HTML, NO_PICTURES = (sentence for sentence, _ in ABSENCES[:5])


@pytest.mark.parametrize(
    ("run", "step", "said"),
    [
        ({}, {}, ()),
        ({}, {"tree": "", "html": "", "screenshot": ""}, (NO_PAGES,)),
        ({}, {"tree": "", "html": ""}, (ONLY_PICTURES,)),
        ({}, {"tree": ""}, (NO_TREES,)),
        ({}, {"tree": "", "screenshot": ""}, (NO_TREES, NO_PICTURES)),
        ({}, {"html": ""}, (NO_HTML,)),
        ({}, {"screenshot": ""}, (NO_PICTURES,)),
        ({}, {"url": ""}, ("no addresses: its site is not known",)),
        ({}, {"action": None, "target": None}, ("no actions",)),
        ({}, {"target": None}, ("no names of the elements acted on",)),
        ({}, {"target": None, "target_box": (1.0, 1.0, 2.0, 2.0)}, ()),
        ({}, {"target": None, "action": RecordedAction(kind="goto", args={"url": "x"})}, ()),
        ({}, {"reason": ""}, ("no reasons",)),
        ({"started_at": 0.0}, {"started_at": 0.0}, ("no times",)),
        ({"started_at": 0.0}, {}, ()),
        ({"intent": ""}, {}, ("no goal",)),
        ({"score": None}, {}, ("no score",)),
        ({"score": 0.0}, {}, ()),
    ],
)
def test_what_every_step_lacks_is_said(
    run: dict[str, object], step: dict[str, object], said: tuple[str, ...]
) -> None:
    assert absences(replace(RUN, **run), [replace(STEP, **step)] * 3) == said  # type: ignore[arg-type]


def test_what_one_step_or_the_last_page_has_is_not_absent() -> None:
    bare = Step(index=0, url="", title="", action=CLICK)
    assert absences(RUN, [bare, STEP, bare]) == ()
    assert NO_PAGES not in absences(replace(RUN, final=STEP), [bare])
    assert "no addresses: its site is not known" not in absences(replace(RUN, final=STEP), [bare])


def test_a_run_without_steps_says_only_that() -> None:
    assert absences(replace(RUN, score=None), []) == ("no steps",)


def _find(folder: SourceFolder) -> tuple[FoundPart, ...]:
    return ()


def _load(_path: Path, _root: Path, _part: str) -> None:
    return None


def test_a_format_notes_absences_once_unless_it_says_them_itself() -> None:
    read = ReadRun(run=replace(RUN, notes=("cut", "no goal"), intent=""), steps=(replace(STEP, reason=""),))
    form = RunFormat(
        name="x", title="X", new_finder=lambda: _find, load=_load, parse=lambda _raw, _sites: read
    )
    assert form.read(None, SiteTable({})).run.notes == ("no reasons", "no goal", "cut")
    assert replace(form, notes_absences=False).read(None, SiteTable({})) is read
    assert with_absences(form.read(None, SiteTable({}))) == form.read(None, SiteTable({}))


def test_equal_notes_of_runs_are_one_line_with_their_number() -> None:
    notes = [RunNotes(run=f"r{n}", path=f"/runs/{n}", notes=("no pictures",)) for n in range(12)]
    notes.append(RunNotes(run="last", path="/runs/last", notes=("cut", "no pictures")))
    assert note_lines(notes) == ["13 runs: no pictures", "last: cut in /runs/last"]
