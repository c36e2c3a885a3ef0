"""Rows of the queue, its clusters, flags, verdicts, tips, findings and pre-flight examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QCoreApplication

from app.models.review.cluster_list import cluster_details, cluster_title
from app.models.review.flags import group_text
from app.models.review.run_queue import detector_label, needs_text, score_level, verdict_text
from app.views.widgets.rows import RowContent, RowStyle, Span, Text, line, plain, small
from app.views.widgets.signs import (
    diamond_sign,
    icon_sign,
    key_sign,
    score_sign,
    severity_sign,
    tick_sign,
)

if TYPE_CHECKING:
    from app.models.common.lint_list import LintFinding
    from app.models.knowledge.similar_list import PreflightExample, Similar
    from app.models.review.cluster_list import ClusterRow
    from app.models.review.flags import FlagLine, Verdict, VerdictChoice
    from app.models.review.run_queue import RunRow

RELATION_ROLE = {"contradiction": "fail", "duplicate": "warn"}
QUEUE = RowStyle(margins=(10, 4, 8, 4), height=56, ruled=True)
CLUSTER = RowStyle(margins=(4, 4, 8, 4), gutter=16, height=56, ruled=True)
FLAG = RowStyle(gutter=18)
VERDICT = RowStyle(margins=(7, 0, 1, 0), height=23)
GIVEN = RowStyle(margins=(12, 0, 8, 0), height=20)
FINDING = RowStyle(margins=(4, 2, 2, 2), gutter=16)
SIMILAR = RowStyle(margins=(4, 1, 2, 1), height=36)
EXAMPLE = RowStyle(margins=(4, 1, 4, 2), height=36)


LEAST_WORD = 34
"""What stands behind the task is left out where a few letters of it would be all; pixels at 100 % text size."""


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
    """Score, site, task, risk and first detector; below, the goal on up to two lines.

    A judged run has a tick instead of risk and detector, and its verdict whole in place of the second line.
    Why it gave up, or why it is asked for, takes the second of them.
    """
    level = score_level(run.score)
    name = " · ".join(part for part in (run.site, run.task_id) if part) or run.id
    score = Span(sign=score_sign(level, level), size=(9, 9), gap=6)
    if verdict := verdict_text(run):
        head = line(score, plain(name), right=Span(sign=tick_sign("accent"), size=(9, 8)))
        return RowContent(lines=(head, line(small(run.intent, "text")), line(small(verdict, "accent"))))
    risk = small(f"{run.risk:.2f}" if run.looked_at else "–", needs=LEAST_WORD)
    detector = detector_label(run.flags[0]) if run.flags else ""
    head = line(score, plain(name), risk, small(detector, needs=LEAST_WORD))
    if run.needs:
        return RowContent(lines=(head, line(small(run.intent, "text")), line(small(needs_text(run.needs)))))
    if run.teaches:
        asked = small(run.teaches, "accent", sign=diamond_sign("accent"), size=(8, 8))
        return RowContent(lines=(head, line(small(run.intent, "text")), line(asked)))
    return RowContent(lines=(head, Text(run.intent, small=True)))


def cluster_row(row: ClusterRow) -> RowContent:
    """Number of runs and what they have in common; below, where, and how many are judged.  Or a run of it."""
    if row.run is not None:
        return run_row(row.run)
    cluster = row.cluster
    sign = icon_sign("menu-down" if row.is_unfolded else "menu-right", "muted")
    done = cluster.judged >= len(cluster.runs)
    tick = Span(sign=tick_sign("accent"), size=(9, 8)) if done else None
    below = small(cluster_details(cluster), "accent" if done else "muted", middle=True)
    return RowContent(
        sign=Span(sign=sign, size=(16, 16)),
        lines=(Text(cluster_title(cluster), bold=not done), line(tick, below)),
    )


def flag_row(row: FlagLine, remark: str = "") -> RowContent:
    """Severity and message; below, detector, step and outcome.  Of a group how often and where, then its worst."""
    sign = severity_sign(row.severity.value)
    if row.group:
        fold = icon_sign("menu-down" if row.is_unfolded else "menu-right", "muted")
        message = line(Span(sign=fold, size=(12, 12), gap=2), small(row.message))
        return RowContent(sign=Span(sign=sign), lines=(Text(group_text(row), bold=True), message))
    step = QCoreApplication.translate("Review", "step {0}").format(row.step)
    detector = detector_label(row.detector) if not row.is_member else ""
    origin = " · ".join(part for part in (detector, step, remark) if part)
    if row.is_member:
        return RowContent(
            lines=(line(Span(sign=sign, size=(8, 8)), small(origin, "text"), small(row.message)),)
        )
    return RowContent(sign=Span(sign=sign), lines=(Text(row.message), line(small(origin))))


def verdict_row(choice: VerdictChoice, *, is_small: bool = False) -> RowContent:
    """Key cap and label; a given verdict has a bar and a tint."""
    given = bool(choice.given)
    label = Span(
        text=choice.label.value,
        role="accent" if given else "text",
        plain=not is_small,
        sign=key_sign(choice.keys),
        size=(key_width(choice.keys), 16),
    )
    return RowContent(
        lines=(line(label),), tint="tint_accent" if given else "", bar="accent" if given else ""
    )


def key_width(keys: str) -> int:
    """Return the width of a label's key cap in pixels at 100 % text size."""
    return 26 if len(keys) > 1 else 17


def given_row(verdict: Verdict, details: str) -> RowContent:
    """A verdict in force: its label, step and author, then its note."""
    label = small(verdict.label.value, "accent", bold=True, sign=tick_sign("accent"), size=(9, 8), share=0.6)
    return RowContent(lines=(line(label, small(details), small(verdict.note, "text")),))


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
    """Outcome and name of the run, and its step, which is never cut; below, the address."""
    level = {True: "fail", False: "ok", None: "muted"}[example.failed]
    step = QCoreApplication.translate("Review", "step {0}").format(example.step)
    run = small(example.run, "text", sign=score_sign(level, level), middle=True)
    address = small(example.url.split("://", 1)[-1], middle=True)
    return RowContent(lines=(line(run, right=small(step, "text")), line(address)))
