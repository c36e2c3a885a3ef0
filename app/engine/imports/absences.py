"""Absences: what a whole run of a foreign format does not have, one sentence each.

A written rule (``ABSENCES``). It is said once per run, of what no step has at all; a single page that lacks its tree is
no absence. Runs without a step say only that, since nothing else can be expected of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.engine.core.trajectory import Run, Step
from app.engine.imports.source_files import ReadRun

_ON_ELEMENTS = frozenset({"click", "dblclick", "hover", "fill", "select_option", "check", "uncheck", "clear"})
"""Actions that are on an element, as long as they are not given a point of the picture."""


@dataclass(frozen=True, slots=True)
class RunContents:
    """A run's steps with the page after them, and which contents of pages there are."""

    run: Run
    steps: Sequence[Step]
    trees: bool
    html: bool
    pictures: bool


def _has_no_targets(of: RunContents) -> bool:
    elements = [step for step in of.steps if step.action is not None and step.action.kind in _ON_ELEMENTS]
    return bool(elements) and not any(
        step.target is not None or step.target_box is not None for step in elements
    )


ABSENCES: tuple[tuple[str, Callable[[RunContents], bool]], ...] = (
    (
        "no contents of pages: rules and searches that read pages are silent",
        lambda of: not (of.trees or of.html or of.pictures),
    ),
    (
        "only pictures of the pages: rules that read pages are silent; install sitelore[ocr] for their words",
        lambda of: of.pictures and not of.trees and not of.html,
    ),
    (
        "no accessibility trees: rules that read pages are silent",
        lambda of: of.html and not of.trees,
    ),
    ("no HTML of the pages", lambda of: of.trees and not of.html),
    ("no pictures", lambda of: not of.pictures and (of.trees or of.html)),
    (
        "no addresses: its site is not known",
        lambda of: not any(step.url for step in of.steps) and not (of.run.final and of.run.final.url),
    ),
    ("no actions", lambda of: not any(step.action for step in of.steps)),
    ("no names of the elements acted on", _has_no_targets),
    ("no reasons", lambda of: not any(step.reason for step in of.steps)),
    ("no times", lambda of: not of.run.started_at and not any(step.started_at for step in of.steps)),
    ("no goal", lambda of: not of.run.intent),
    ("no score", lambda of: of.run.score is None),
)
"""Each sentence with its test, in the order they are said; the first three exclude each other."""


def absences(run: Run, steps: Sequence[Step]) -> tuple[str, ...]:
    """Return a sentence for everything that the whole run lacks; ``run.final`` is the page after its last step."""
    if not steps:
        return ("no steps",)
    pages = [*steps, run.final] if run.final is not None else steps
    of = RunContents(
        run,
        steps,
        trees=any(page.tree for page in pages),
        html=any(page.html for page in pages),
        pictures=any(page.screenshot for page in pages),
    )
    return tuple(sentence for sentence, absent in ABSENCES if absent(of))


def with_absences(read: ReadRun) -> ReadRun:
    """Return a run whose notes say first what it lacks; a note that says it already is not repeated."""
    notes = tuple(dict.fromkeys((*absences(read.run, read.steps), *read.run.notes)))
    return replace(read, run=replace(read.run, notes=notes)) if notes != read.run.notes else read
