"""Figures of evaluations in words: points, shares, hours, money, hashes."""

from __future__ import annotations

from math import isfinite

from PySide6.QtCore import QLocale

from app.engine.api.evaluation_api import DifferenceRow
from app.models.common.translate import tr

ALL = "all"
"""The group of a difference over all tasks."""
SIGNIFICANT = 0.05


def count_words(number: int) -> str:
    return QLocale().toString(number)


def points(share: float) -> str:
    """``+9.1``, ``−0.4``: a difference of shares in points."""
    if not isfinite(share):
        return "—"
    value = round(100 * share, 1)
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):.1f}"


def interval(low: float, high: float) -> str:
    return tr("{0} to {1}").format(points(low), points(high))


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if isfinite(share) else "—"


def p_words(p: float) -> str:
    """``0.031``; never 0."""
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def chance(share: float) -> str:
    """A chance in whole percent, never a certain one."""
    if share > 0.99:
        return tr("over 99 %")
    return tr("under 1 %") if share < 0.01 else f"{100 * share:.0f} %"


def hours_words(hours: float) -> str:
    """``40 s``, ``12 min``, ``3 h 20 min``, ``2 d 4 h``."""
    minutes = round(hours * 60)
    if hours < 1 / 60:
        return tr("{0} s").format(round(hours * 3600))
    if minutes < 60:
        return tr("{0} min").format(minutes)
    if hours < 48:
        return tr("{0} h {1:02} min").format(minutes // 60, minutes % 60)
    return tr("{0} d {1} h").format(int(hours // 24), int(hours % 24))


def money_text(money: float | None) -> str:
    """``$4.27``; ``cost unknown`` where a price is missing."""
    if money is None:
        return tr("cost unknown")
    return f"${money:,.2f}" if money == 0 or money >= 0.01 else f"${money:.4f}"


def short_hash(digest: str) -> str:
    return digest[:8]


def is_decided(row: DifferenceRow, *, early: bool) -> bool:
    """Whether a difference may be shown as good or bad.

    Its interval has to exclude 0, in a group also after the correction over the groups, and the evaluation has to be
    over: the intervals of a running one hold only if nobody looks before its end.
    """
    excludes = row.low > 0 or row.high < 0
    return excludes and not early and (row.group == ALL or row.p_holm <= SIGNIFICANT)


def is_drawable(row: DifferenceRow) -> bool:
    """Whether a difference is one: in a group without a task in both arms it is not."""
    return row.tasks > 0 and all(map(isfinite, (row.difference, row.low, row.high)))


def group_title(group: str) -> str:
    """``All tasks``, ``gitlab``, ``change``: a site or a type without the word for it."""
    if group == ALL:
        return tr("All tasks")
    kind, _, name = group.partition(" ")
    return name if kind in ("site", "type") and name else group


def difference_words(row: DifferenceRow) -> str:
    """One line that says all of a difference."""
    text = tr("{0}: {1} points, 95 % interval {2}, {3} templates, {4} tasks").format(
        tr("All tasks") if row.group == ALL else row.group,
        points(row.difference),
        interval(row.low, row.high),
        count_words(row.templates),
        count_words(row.tasks),
    )
    return text + (tr(", {0} undecided").format(row.undecided) if row.undecided else "")
