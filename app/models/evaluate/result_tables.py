"""Tables of a comparison: differences by group, pairs of tasks, credit of tips."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt

from app.engine.api.evaluation_api import DifferenceRow, PairRow, TipCreditRow
from app.models.common.object_table import Column, ObjectTable
from app.models.common.translate import tr
from app.models.evaluate.figures import (
    count_words,
    difference_words,
    group_title,
    interval,
    money_text,
    p_words,
    points,
)

RESULTS = ("won", "lost", "both", "neither", "undecided")
MAX_SHOWN = 600
"""Characters of a text that a cell can show."""
MAX_TOOLTIP = 4000


def one_line(text: str) -> str:
    return " ".join(text[:MAX_SHOWN].split())


class DifferenceTable(ObjectTable[DifferenceRow]):
    """The differences of two arms: all tasks first, then sites and types."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.group, parent)
        tr = self.tr
        number = count_words
        self.columns = (
            Column(key="group", title=tr("Group"), cell=lambda row: group_title(row.group),
                   tooltip=difference_words),
            Column(key="tasks", title=tr("Tasks"), cell=lambda row: number(row.tasks), numeric=True),
            Column(key="templates", title=tr("Templates"), cell=lambda row: number(row.templates), numeric=True),
            Column(key="difference", title=tr("Points"), cell=lambda row: points(row.difference), numeric=True),
            Column(key="interval", title=tr("95 % interval"), cell=lambda row: interval(row.low, row.high),
                   numeric=True, help=tr("By cluster bootstrap over templates")),
            Column(key="p", title=tr("p"), cell=lambda row: p_words(row.p), numeric=True,
                   help=tr("Of the sign-flip test by template")),
            Column(key="holm", title=tr("p, Holm"), cell=lambda row: p_words(row.p_holm), numeric=True,
                   help=tr("Corrected over the groups of its family")),
            Column(key="mcnemar", title=tr("McNemar"), cell=lambda row: p_words(row.mcnemar_p), numeric=True,
                   help=tr("The naive test: it ignores that tasks of a template go together")),
            Column(key="won", title=tr("Won"), cell=lambda row: number(row.won), numeric=True),
            Column(key="lost", title=tr("Lost"), cell=lambda row: number(row.lost), numeric=True),
            Column(key="steps", title=tr("Steps"), cell=lambda row: f"{row.steps:+.1f}", numeric=True,
                   help=tr("Mean difference of the steps of a run")),
            Column(key="money", title=tr("Money"), cell=lambda row: money_text(row.money), numeric=True,
                   help=tr("Mean difference of the cost of a run")),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairFilter:
    """Words and named values of a filter line; values of one name are alternatives."""

    sites: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    tainted: bool = False


def parse_pair_filter(text: str) -> PairFilter:
    """Read ``site:gitlab,map  type:change  tainted  words``."""
    sites, kinds, words, tainted = list[str](), list[str](), list[str](), False
    for part in text.lower().split():
        name, colon, value = part.partition(":")
        values = [one for one in value.split(",") if one]
        if colon and name == "site":
            sites += values
        elif colon and name in ("type", "kind"):
            kinds += values
        elif part == "tainted":
            tainted = True
        else:
            words.append(part)
    return PairFilter(tuple(sites), tuple(kinds), tuple(words), tainted)


class PairTableModel(ObjectTable[PairRow]):
    """The pairs of two arms, filtered by a line of text and by result."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.task, parent)
        self.text, self.result = "", ""
        self._filter = PairFilter()
        self._texts: dict[str, str] = {}
        self._name("", "")

    def name_arms(self, arm: str, against: str) -> None:
        """Head the columns of scores with the names of the arms."""
        self._name(arm, against)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def load_pairs(self, rows: tuple[PairRow, ...]) -> None:
        """Take the pairs; rows that stay keep their places."""
        self._texts = {}
        self.load(rows)

    def set_filter(self, text: str) -> None:
        if text != self.text:
            self.text, self._filter = text, parse_pair_filter(text)
            self._again()

    def set_result(self, result: str) -> None:
        """Show only one result, "" for all."""
        if result != self.result:
            self.result = result
            self._again()

    def clear_filters(self) -> None:
        """Show all pairs."""
        self.result = ""
        self.set_filter("")
        self._again()

    def matches(self, value: PairRow) -> bool:
        return (not self.result or value.result == self.result) and self._fits(value)

    @property
    def counts(self) -> dict[str, int]:
        """Number of pairs by result that the filter line lets through; "" is all of them."""
        found = Counter(row.result for row in self.values.values() if self._fits(row))
        return {"": sum(found.values()), **{result: found[result] for result in RESULTS}}

    def _again(self) -> None:
        self._held = frozenset()
        self.filter_again()

    def _fits(self, row: PairRow) -> bool:
        wanted = self._filter
        if wanted == PairFilter():
            return True
        if wanted.sites and row.site.lower() not in wanted.sites:
            return False
        if wanted.kinds and row.kind.lower() not in wanted.kinds:
            return False
        if wanted.tainted and not row.tainted:
            return False
        text = self._texts.get(row.task)
        if text is None:
            parts = (
                row.task,
                row.cluster,
                row.site,
                row.kind,
                row.intent[:MAX_TOOLTIP],
                row.why,
                row.why_against,
            )
            text = self._texts[row.task] = "\n".join(parts).lower()
        return all(word in text for word in wanted.words)

    def _name(self, arm: str, against: str) -> None:
        tr = self.tr
        self.columns = (
            Column(key="result", title=tr("Result"), cell=lambda row: tr(row.result),
                   sort=lambda row: RESULTS.index(row.result) if row.result in RESULTS else len(RESULTS),
                   tooltip=_result_tooltip),
            Column(key="task", title=tr("Task"), cell=lambda row: row.task, numeric=True,
                   sort=lambda row: (0, int(row.task), "") if row.task.isdecimal() else (1, 0, row.task)),
            Column(key="site", title=tr("Site"), cell=lambda row: row.site, tooltip=lambda row: row.cluster),
            Column(key="kind", title=tr("Type"), cell=lambda row: row.kind),
            Column(key="intent", title=tr("Task in words"), cell=lambda row: one_line(row.intent),
                   tooltip=lambda row: row.intent[:MAX_TOOLTIP]),
            Column(key="score", title=arm or tr("With"), cell=lambda row: score_words(row.score), numeric=True,
                   sort=lambda row: -1.0 if row.score is None else row.score,
                   tooltip=lambda row: row.why[:MAX_TOOLTIP] or score_words(row.score)),
            Column(key="against", title=against or tr("Against"), cell=lambda row: score_words(row.score_against),
                   numeric=True, sort=lambda row: -1.0 if row.score_against is None else row.score_against,
                   tooltip=lambda row: row.why_against[:MAX_TOOLTIP] or score_words(row.score_against)),
            Column(key="why", title=tr("Reason"), cell=lambda row: one_line(row.why or row.why_against),
                   tooltip=_result_tooltip),
            Column(key="tainted", title=tr("Taint"), cell=lambda row: tr("tainted") if row.tainted else "",
                   help=tr("An author of a tip had seen the template of the task")),
        )  # fmt: skip


class CreditTable(ObjectTable[TipCreditRow]):
    """The credit of each tip, the worst first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.tip, parent, sorted_by="difference")
        tr = self.tr
        number = count_words
        self.columns = (
            Column(key="verdict", title=tr("Verdict"), cell=lambda row: tr(row.verdict)),
            Column(key="tip", title=tr("Tip"), cell=lambda row: row.tip[:MAX_SHOWN]),
            Column(key="text", title=tr("Text"), cell=lambda row: one_line(row.text),
                   tooltip=lambda row: row.text[:MAX_TOOLTIP]),
            Column(key="retrieved", title=tr("Shown"), cell=lambda row: number(row.retrieved), numeric=True,
                   sort=lambda row: row.retrieved, help=tr("Tasks in which it was shown")),
            Column(key="followed", title=tr("Followed"), cell=lambda row: number(row.followed), numeric=True,
                   sort=lambda row: row.followed, help=tr("Tasks in which one of its steps was done")),
            Column(key="templates", title=tr("Templates"), cell=lambda row: number(row.templates), numeric=True,
                   sort=lambda row: row.templates),
            Column(key="difference", title=tr("Points"), cell=lambda row: points(row.difference), numeric=True,
                   sort=lambda row: row.difference),
            Column(key="interval", title=tr("95 % interval"), cell=lambda row: interval(row.low, row.high),
                   numeric=True, sort=lambda row: row.low),
            Column(key="method", title=tr("By"), cell=lambda row: tr(row.method)),
        )  # fmt: skip


def score_words(score: float | None) -> str:
    """``1``, ``0``, ``0.5``; ``?`` for an undecided one."""
    return "?" if score is None else f"{score:.2g}"


def _result_tooltip(row: PairRow) -> str:
    lines = [f"{row.arm}: {score_words(row.score)}  {row.why[:MAX_SHOWN]}".rstrip(),
             f"{row.against}: {score_words(row.score_against)}  {row.why_against[:MAX_SHOWN]}".rstrip()]  # fmt: skip
    if row.tainted:
        lines.append(tr("Tainted: an author of a tip had seen the template of the task"))
    return "\n".join(lines)
