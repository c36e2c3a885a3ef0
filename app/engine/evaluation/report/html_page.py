"""The report as one HTML page that needs nothing else: no network, no script, no font."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, cast

from app.assets import resource
from app.engine.api.evaluation_api import Comparison, ComparisonVerdict, PairRow
from app.engine.core.evaluation.episode import EvaluationHead, EvaluationJournal
from app.engine.evaluation.report import journal_tables, result_tables
from app.engine.evaluation.report.cells import NUMBERS, CellKind, CellValue, ReportTable, cell_text
from app.engine.evaluation.report.colors import css_variables
from app.engine.evaluation.report.interval_plots import forest_plot, rates_plot
from app.engine.evaluation.report.learning_plot import MIN_SIZES, learning_plot, sizes_of
from app.engine.evaluation.report.readings import (
    arm_of,
    early_pairs,
    is_sure,
    reading_of,
    verdict_sentence,
    verdict_sentences,
)
from app.engine.evaluation.report.safe_text import elided, one_line, visible
from app.errors import InputError

TEXT_LIMIT, WHY_LIMIT = 140, 110
SHORT = 24
"""Letters of a cell that is not broken into lines."""
OPEN_LIMIT = 25
"""Rows up to which a list of pairs is unfolded from the start."""
MAX_ROWS = 300
"""Rows of a table on the page; the rest is in its CSV file."""

LEARNING = "Learning curve"
"""Beginning of the title of a table that stands among the tips already."""
_SIGNS = {"better": "▲", "worse": "▼", "helps": "▲", "hurts": "▼", "same": "＝"}
_CLASSES = {"better": "better", "worse": "worse", "helps": "better", "hurts": "worse"}


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell of the page; ``whole`` is the text that does not fit."""

    text: str
    kind: str = ""
    sign: str = ""
    whole: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table of the page."""

    name: str
    title: str
    heads: tuple[tuple[str, str], ...]
    rows: tuple[tuple[PageCell, ...], ...]
    remark: str = ""
    plot: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer:
    """A verdict of the page."""

    sentence: str
    word: str = ""
    sign: str = ""
    kind: str = ""
    early: bool = False
    always_valid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePairs:
    """The tasks of two arms with one result."""

    result: str
    rows: tuple[PairRow, ...]
    unfolded: bool


def html_bytes(comparison: Comparison, journals: Sequence[EvaluationJournal]) -> bytes:
    """Return the page.

    Raises:
        InputError: jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError as error:
        raise InputError(
            "the report's page can't be made without jinja2", remedy='pip install "sitelore[evaluate]"'
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource("report")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = cast("dict[str, Any]", environment.filters)
    filters |= {"line": one_line, "visible": visible, "elided": elided, "score": _score, "told_by": _words_of}
    page = environment.get_template("report.html").render(_content(comparison, journals))
    return page.encode("utf-8", "replace")


def _content(comparison: Comparison, journals: Sequence[EvaluationJournal]) -> dict[str, Any]:
    heads = comparison.heads or tuple(journal.head for journal in journals)
    settings = replace(journal_tables.settings_table(heads), title="Settings in which they differ")
    apart = tuple(row for row in settings.rows if len(set(row[1:])) > 1)
    return {
        "TEXT_LIMIT": TEXT_LIMIT,
        "WHY_LIMIT": WHY_LIMIT,
        "light": css_variables("light"),
        "dark": css_variables("dark"),
        "names": ", ".join(dict.fromkeys(head.name for head in heads)) or "no evaluation",
        "answers": _answers(comparison),
        "notes": list(
            dict.fromkeys([*comparison.notes, *(n for journal in journals for n in journal.notes)])
        ),
        "about": [_about(head) for head in heads],
        "arms": _page_table(journal_tables.arms_table(heads)),
        "settings_apart": _page_table(replace(settings, rows=apart)),
        "settings_shared": [row[:2] for row in settings.rows if row not in apart and row[1]],
        "rates": _page_table(result_tables.rates_table(comparison), plot=rates_plot(comparison.arms)),
        "differences": _difference_tables(comparison),
        "margin": f"{100 * comparison.margin:.3g}",
        "learning": _learning(comparison),
        "learning_note": _learning_note(comparison),
        "credits": _page_table(result_tables.credits_table(comparison)),
        "groups": [
            _page_table(table)
            for table in result_tables.group_tables(comparison)
            if table.rows and not table.title.startswith(LEARNING)
        ],
        "outcomes": _page_table(journal_tables.outcomes_table(journals)),
        "cost": _page_table(result_tables.cost_table(comparison)),
        "cost_differences": _page_table(result_tables.cost_differences_table(comparison)),
        "progress": _page_table(journal_tables.progress_table(journals)),
        "reasons": _page_table(journal_tables.reasons_table(journals)),
        "planned": sum(len(head.arms) * len(head.tasks) * head.repeats for head in heads),
        "done": sum(len(journal.records) for journal in journals),
        "tainted": journal_tables.tainted_tasks(heads),
        "pair_counts": _page_table(result_tables.pair_counts_table(comparison)),
        "pairs": _pairs(comparison),
        "commands": [(head, journal_tables.command_line(head)) for head in heads],
    }


def _answers(comparison: Comparison) -> list[PageAnswer]:
    if not comparison.verdicts:
        return [PageAnswer(sentence=sentence) for sentence in verdict_sentences(comparison)]
    return [_answer(verdict) for verdict in comparison.verdicts]


def _answer(verdict: ComparisonVerdict) -> PageAnswer:
    sure = is_sure(verdict)
    return PageAnswer(
        sentence=elided(verdict_sentence(verdict), 600),
        word=elided(verdict.answer, 40),
        sign=_SIGNS.get(verdict.answer, "○") if sure else "○",
        kind=_CLASSES.get(verdict.answer, "") if sure else "",
        early=verdict.early,
        always_valid=cell_text(verdict.always_valid, "ranges"),
    )


def _about(head: EvaluationHead) -> str:
    """Say in a sentence what an evaluation is of."""
    runs = "one run" if head.repeats == 1 else f"{head.repeats} runs"
    arms = "one arm" if len(head.arms) == 1 else f"{len(head.arms)} arms"
    model = f"with the model {head.model}" if head.model else "without a model"
    return one_line(
        f"{head.name}: {len(head.tasks):,} tasks of the suite {head.suite}, {runs} of each in {arms}, acted by the"
        f" policy {head.policy} {model}, scored by the rules {head.dialect}."
    )


def _difference_tables(comparison: Comparison) -> list[PageTable]:
    early = early_pairs(comparison)
    pairs = list(dict.fromkeys((row.arm, row.against) for row in comparison.differences))
    tables = list[PageTable]()
    table = result_tables.differences_table(comparison)
    for pair, (of, part) in zip(pairs, table.parts(), strict=True):
        rows = [row for row in comparison.differences if (row.arm, row.against) == pair]
        plot = forest_plot(rows, comparison.margin, early=pair in early)
        last = table.remark if pair == pairs[-1] else ""
        tables.append(_page_table(replace(part, remark=last), plot=plot, title=" against ".join(of)))
    return tables


def _learning(comparison: Comparison) -> PageTable:
    table = result_tables.learning_table(comparison)
    rated = [(rate, arm) for rate in comparison.arms if (arm := arm_of(comparison, rate))]
    return _page_table(table, plot=learning_plot(rated))


def _learning_note(comparison: Comparison) -> str:
    sizes = sizes_of([(rate, arm) for rate in comparison.arms if (arm := arm_of(comparison, rate))])
    if sizes >= MIN_SIZES:
        return ""
    words = {0: "no size is known", 1: "there is one"}.get(sizes, f"there are {sizes}")
    return f"A curve needs knowledge bases of at least {MIN_SIZES} sizes; here {words}."


def _pairs(comparison: Comparison) -> list[tuple[tuple[str, str], list[PagePairs]]]:
    found = list[tuple[tuple[str, str], list[PagePairs]]]()
    pairs = result_tables.sorted_pairs(comparison)
    for arms, of_arms in groupby(pairs, key=lambda pair: (pair.arm, pair.against)):
        lists = [
            PagePairs(
                result=result,
                rows=(rows := tuple(of_result)),
                unfolded=result in ("won", "lost") and len(rows) <= OPEN_LIMIT,
            )
            for result, of_result in groupby(of_arms, key=lambda pair: pair.result)
        ]
        found.append((arms, lists))
    return found


def _words_of(pair: PairRow) -> tuple[str, str]:
    """Return whose reason says most of a pair, and the reason: of the arm that failed."""
    if pair.result == "won" or not pair.why:
        return pair.against, pair.why_against
    return pair.arm, pair.why


def _score(value: float | None) -> str:
    return "undecided" if value is None else f"{value:.2f}".removesuffix(".00")


def _page_table(table: ReportTable, *, plot: str = "", title: str = "") -> PageTable:
    places = {column.key: at for at, column in enumerate(table.columns)}
    rows = tuple(
        tuple(
            _cell(value, column.kind, column.key, row, places)
            for value, column in zip(row, table.columns, strict=True)
        )
        for row in table.rows[:MAX_ROWS]
    )
    return PageTable(
        name=table.name,
        title=title or table.title,
        heads=tuple(
            (one_line(column.head), "number" if column.kind in NUMBERS else "words")
            for column in table.columns
        ),
        rows=rows,
        remark=table.remark,
        plot=plot,
        left_out=max(0, len(table.rows) - MAX_ROWS),
    )


def _cell(
    value: CellValue, kind: CellKind, key: str, row: tuple[CellValue, ...], places: dict[str, int]
) -> PageCell:
    if isinstance(value, str) and key in ("reading", "verdict") and "interval" in places:
        interval, templates = row[places["interval"]], row[places["templates"]]
        told = _CLASSES.get(value, "")
        if isinstance(interval, tuple) and isinstance(templates, int):
            told = told if told == reading_of(*interval, templates) else ""
        return PageCell(elided(value, 40), told, _SIGNS.get(value, "○") if told else "○")
    if isinstance(value, str) and len(value) > TEXT_LIMIT:
        return PageCell(elided(value, TEXT_LIMIT), "words", whole=visible(value))
    text = cell_text(value, kind)
    look = (
        "number"
        if kind in NUMBERS
        else "hash"
        if kind == "hash"
        else "short"
        if len(text) <= SHORT
        else "words"
    )
    return PageCell(text, look)
