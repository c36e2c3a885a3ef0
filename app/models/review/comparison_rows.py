"""Rows of two runs side by side, and their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.engine.api.engine_api import RunDetail
from app.engine.api.review_api import AlignedStep, RunAlignment, SimilarRun
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr
from app.models.review.run_queue import score_text

if TYPE_CHECKING:
    from app.engine.core.trajectory import Step

LEFT, RIGHT = 0, 1


class RowKind(StrEnum):
    """How the two runs compare in a row."""

    SAME = "same"
    DIFFERENT = "different"
    ONLY_LEFT = "only left"
    ONLY_RIGHT = "only right"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRow:
    """A row: step numbers (-1 for none), actions and pages of both runs; ``parts`` where they first part."""

    number: int
    kind: RowKind
    left: int
    right: int
    left_words: str = ""
    right_words: str = ""
    left_page: str = ""
    right_page: str = ""
    parts: bool = False

    def step(self, side: int) -> int:
        """The step of a side, -1 for none."""
        return self.right if side == RIGHT else self.left


class ComparedRowList(ObjectList[ComparedRow]):
    """The rows of two runs in order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.number, parent)

    def words(self, value: ComparedRow) -> str:
        """``different action: step 3, click 'Edit'; step 4, click 'New'``, with a word where they part."""
        step = tr("step {0}, {1}")
        sides = [
            step.format(number, words)
            for number, words in ((value.left, value.left_words), (value.right, value.right_words))
            if number >= 0
        ]
        said = f"{kind_words(value.kind)}: {'; '.join(sides)}"
        return tr("they part here, {0}").format(said) if value.parts else said

    def tip(self, value: ComparedRow) -> str:
        """The whole actions and pages of both."""
        lines = [kind_words(value.kind)]
        for number, words, page in (
            (value.left, value.left_words, value.left_page),
            (value.right, value.right_words, value.right_page),
        ):
            if number >= 0:
                lines.append(tr("step {0}: {1}\n    on {2}").format(number, words, page))
        return "\n".join(lines)


def compared_rows(alignment: RunAlignment, left: RunDetail, right: RunDetail) -> Iterator[ComparedRow]:
    """Yield the rows of an alignment with the actions and pages of both runs."""
    for number, row in enumerate(alignment.rows):
        one, other = _step(left, row.left), _step(right, row.right)
        yield ComparedRow(
            number=number,
            kind=kind_of(row),
            left=row.left,
            right=row.right,
            left_words=one.words if one is not None else "",
            right_words=other.words if other is not None else "",
            left_page=page_words(one),
            right_page=page_words(other),
            parts=number == alignment.parting,
        )


def kind_of(row: AlignedStep) -> RowKind:
    if row.right < 0:
        return RowKind.ONLY_LEFT
    if row.left < 0:
        return RowKind.ONLY_RIGHT
    return RowKind.SAME if row.same_action else RowKind.DIFFERENT


def short_kind_words(kind: RowKind) -> str:
    """The same in a narrow place."""
    match kind:
        case RowKind.SAME:
            return tr("same")
        case RowKind.DIFFERENT:
            return tr("different")
        case _:
            return kind_words(kind)


def kind_words(kind: RowKind) -> str:
    match kind:
        case RowKind.SAME:
            return tr("same action")
        case RowKind.DIFFERENT:
            return tr("different action")
        case RowKind.ONLY_LEFT:
            return tr("only left")
        case RowKind.ONLY_RIGHT:
            return tr("only right")


def page_words(step: Step | None) -> str:
    """The title of a step's page, else its address without scheme."""
    if step is None:
        return ""
    return step.title or step.url.partition("://")[2] or step.url


def relation_words(run: SimilarRun) -> str:
    """Why a run stands to choose, in words: ``same template``, ``a very similar goal``, ``the same page``."""
    match run.relation:
        case "task":
            return tr("same task")
        case "template":
            return tr("same template")
        case "page":
            return tr("same page")
        case "goal":
            return tr("{0} goal").format(likeness_words(run.likeness))


def likeness_words(likeness: float) -> str:
    if likeness >= 0.9:
        return tr("nearly the same")
    return tr("very similar") if likeness >= 0.7 else tr("similar") if likeness >= 0.45 else tr("related")


def candidate_words(run: SimilarRun) -> str:
    """A candidate in one line: relation, score, steps, knowledge, goal."""
    parts = [
        relation_words(run),
        score_text(run.score),
        tr("1 step") if run.steps == 1 else tr("{0} steps").format(run.steps),
        tr("knowledge: {0}").format(run.knowledge) if run.knowledge else "",
        " ".join(run.intent.split()),
    ]
    return " · ".join(part for part in parts if part)


def run_words(detail: RunDetail) -> str:
    """Score, site, task and steps of a run in one line."""
    run = detail.run
    name = " · ".join(part for part in (run.site, run.task_id) if part) or run.id
    count = len(detail.steps)
    steps = tr("1 step") if count == 1 else tr("{0} steps").format(count)
    return " · ".join(
        part
        for part in (
            score_text(run.score),
            name,
            steps,
            tr("knowledge: {0}").format(run.knowledge) if run.knowledge else "",
        )
        if part
    )


def _step(detail: RunDetail, index: int) -> Step | None:
    return detail.steps[index] if 0 <= index < len(detail.steps) else None
