"""Rows of the queue, flags, verdicts, tips, findings and pre-flight examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QCoreApplication

from app.models.review.run_queue import detector_label, needs_text, score_level, score_text
from app.views.widgets.rows import RowContent, RowStyle, Span, Text, line, plain, small
from app.views.widgets.signs import key_sign, score_sign, severity_sign, tick_sign

if TYPE_CHECKING:
    from app.models.common.lint_list import LintFinding
    from app.models.knowledge.similar_list import PreflightExample, Similar
    from app.models.review.flags import Flag, VerdictChoice
    from app.models.review.run_queue import RunRow

RELATION_ROLE = {"contradiction": "fail", "duplicate": "warn"}
QUEUE = RowStyle(margins=(10, 4, 8, 4), height=42, ruled=True)
FLAG = RowStyle(gutter=18)
VERDICT = RowStyle(margins=(8, 0, 4, 0), height=24)
FINDING = RowStyle(margins=(4, 2, 2, 2), gutter=16)
SIMILAR = RowStyle(margins=(4, 1, 2, 1), height=36)
EXAMPLE = RowStyle(margins=(4, 0, 2, 0), height=21)


class NamedText(Protocol):
    """A row in two parts: its role and details, and its text."""

    @property
    def role(self) -> str: ...
    @property
    def more(self) -> str: ...
    @property
    def text(self) -> str: ...


def named_text_row(value: NamedText) -> RowContent:
    """Role and details; below, the text on up to two lines."""
    head = line(small(value.role, "accent", bold=True), small(value.more))
    return RowContent(lines=(head, Text(value.text)) if value.text else (head,))


def run_row(run: RunRow) -> RowContent:
    """Risk, site, task and verdict; below, score, first detector and goal.

    A run that gave up has its goal behind the task, and below its reason behind the score's sign.
    """
    level = score_level(run.score)
    name = " · ".join(part for part in (run.site, run.task_id) if part) or run.id
    risk = f"{run.risk:.2f}" if run.looked_at else "–"
    verdict = (
        small(run.label, "accent", sign=tick_sign("accent"), size=(9, 8), share=0.45) if run.label else None
    )
    score = small(score_text(run.score), level, sign=score_sign(level, level))
    head = (plain(risk, bold=True, least="0.00"), plain(name))
    if run.needs:
        return RowContent(
            lines=(
                line(*head, small(run.intent), right=verdict),
                line(small(needs_text(run.needs), "text", sign=score_sign(level, level))),
            )
        )
    detector = small(detector_label(run.flags[0]) if run.flags else "", "text", share=0.45)
    return RowContent(lines=(line(*head, right=verdict), line(score, detector, small(run.intent))))


def flag_row(flag: Flag, remark: str = "") -> RowContent:
    """Severity and message; below, detector, step and outcome."""
    step = QCoreApplication.translate("Review", "step {0}").format(flag.step)
    origin = " · ".join(part for part in (detector_label(flag.detector), step, remark) if part)
    return RowContent(
        sign=Span(sign=severity_sign(flag.severity.value)), lines=(Text(flag.message), line(small(origin)))
    )


def verdict_row(choice: VerdictChoice) -> RowContent:
    """Key cap and label; a given verdict has a tick and a tint."""
    given = bool(choice.given)
    wide = 26 if len(choice.keys) > 1 else 17
    label = plain(
        choice.label.value,
        "accent" if given else "text",
        bold=given,
        sign=key_sign(choice.keys),
        size=(wide, 16),
    )
    tick = Span(sign=tick_sign("accent"), size=(10, 9)) if given else None
    return RowContent(lines=(line(label, right=tick),), tint="tint_accent" if given else "")


def finding_row(finding: LintFinding) -> RowContent:
    """Severity and message of a lint finding."""
    return RowContent(
        sign=Span(sign=severity_sign(finding.severity.value), size=(9, 9)), lines=(Text(finding.message),)
    )


def similar_row(similar: Similar) -> RowContent:
    """Relation, similarity and id; below, the tip's text."""
    relation = f"{similar.relation} {similar.score:.2f}"
    return RowContent(
        lines=(
            line(
                small(relation, RELATION_ROLE.get(similar.relation, "muted"), bold=True),
                right=small(f"{similar.tip.id} · {similar.tip.status.value}"),
            ),
            line(plain(similar.tip.text)),
        )
    )


def example_row(example: PreflightExample) -> RowContent:
    """Outcome and name of the run, step, and the address."""
    level = {True: "fail", False: "ok", None: "muted"}[example.failed]
    step = QCoreApplication.translate("Review", "· step {0}").format(example.step)
    run = small(example.run, "text", sign=score_sign(level, level), middle=True, share=0.5, gap=4)
    return RowContent(
        lines=(line(run, small(step, "text"), small(example.url.split("://", 1)[-1], middle=True)),)
    )
