"""Texts of tasks, pages and models in a report are texts in all four forms, whatever they hold."""

import csv
import io
import json
import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from html.parser import HTMLParser

import pytest

from app.engine.evaluation.report.csv_tables import csv_bytes
from app.engine.evaluation.report.files import report_tables
from app.engine.evaluation.report.html_page import html_bytes
from app.engine.evaluation.report.json_document import json_bytes
from app.engine.evaluation.report.latex_tables import latex_bytes, latex_text
from app.engine.evaluation.report.safe_text import elided, one_line, visible
from tests.support.made_up_evaluation import FOUR_ARMS, made_up_comparison, made_up_journal

NASTY = {
    "script": "</script><script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)" x="',
    "style": "</style><img src=x onerror=alert(1)>",
    "template": "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "formula": "=cmd|' /C calc'!A0",
    "formula after spaces": '  =HYPERLINK("http://x";"y")',
    "formula, wide": "\uff1dSUM(A1)",
    "plus": "+1+cmd()",
    "at": "@SUM(1)",
    "tab": "\t=1+1",
    "quotes": 'a "b", c\r\nd;e\n=f()',
    "latex": "\\input{/etc/passwd}\\write18{id} $x$ 50% #1 a_b ^^M & ~ {",
    "row end": "[2cm] *",
    "direction": "abc\u202egpj.exe\u2066x\u2069 \u200f",
    "hebrew": "מצא את המוצר הזול ביותר",
    "controls": "a\x00b\x07c\x1b[31mred\x7f",
    "surrogate": "a\ud800b",
    "long": "x" * 10_000,
    "long words": "word " * 2_000,
    "empty": "",
}
_TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "div", "p", "h1", "h2",
    "h3", "ul", "ol", "li", "a", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tr", "th", "td", "details",
    "summary", "bdi", "span", "br", "pre", "code", "svg", "text", "line", "path", "rect", "circle",
}  # fmt: skip
_COMMANDS = {
    "textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", "textasciigrave",
    "textquotedbl", "ldots", "begin", "end", "centering", "caption", "label", "toprule", "midrule", "bottomrule",
    "endfirsthead", "endhead", "endfoot", "resizebox", "textwidth", "usepackage",
}  # fmt: skip


def filled(value, text):
    """Return the same value with every text in it replaced."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return text
    if is_dataclass(value):
        return replace(value, **{one.name: filled(getattr(value, one.name), text) for one in fields(value)})
    if isinstance(value, tuple):
        return tuple(filled(item, text) for item in value)
    return value


@pytest.fixture(scope="module")
def small():
    journal = made_up_journal(tasks=8, templates=8, arms=FOUR_ARMS[:2], repeats=1)
    return journal, made_up_comparison(journal, draws=20)


@pytest.fixture(params=NASTY, scope="module")
def nasty(request, small):
    """A report in which every text is one nasty string; and one in which only the foreign ones are."""
    text = NASTY[request.param]
    journal, comparison = small
    foreign = replace(
        comparison,
        pairs=tuple(replace(pair, intent=text, why=text, why_against=text) for pair in comparison.pairs),
        credits=tuple(replace(row, text=text, tip=text) for row in comparison.credits),
        notes=(text,),
    )
    return text, [(filled(journal, text), filled(comparison, text)), (journal, foreign)]


class PageReader(HTMLParser):
    """Collects tags, attributes and words of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_holds_them_as_words(nasty):
    text, reports = nasty
    for journal, comparison in reports:
        page = html_bytes(comparison, [journal]).decode("utf-8")
        reader = PageReader()
        reader.feed(page)
        assert reader.tags <= _TAGS
        assert not {
            name for name in reader.attributes if name.startswith("on") or name in ("src", "style", "srcdoc")
        }
        words = "".join(reader.words)
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", page)
        assert " ".join(visible(text).split()) in " ".join(words.split())


def test_csv_holds_no_formula(nasty):
    _, reports = nasty
    for journal, comparison in reports:
        for table in report_tables(comparison, [journal]):
            rows = list(csv.reader(io.StringIO(csv_bytes(table).decode("utf-8"), newline=""), strict=True))
            assert len(rows) == len(table.rows) + 1
            assert len({len(row) for row in rows}) == 1  # no text has broken out of its cell
            for cell in (cell for row in rows for cell in row):
                formula = cell.lstrip().startswith(
                    ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
                )
                assert not formula or re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?%?", cell), cell


def test_csv_gives_the_text_back(nasty):
    text, reports = nasty
    journal, comparison = reports[1]
    table = next(table for table in report_tables(comparison, [journal]) if table.name == "pairs")
    row = next(csv.DictReader(io.StringIO(csv_bytes(table).decode("utf-8"), newline="")))
    assert row["intent"].removeprefix("'") == visible(text)


def test_latex_holds_no_command_of_theirs(nasty):
    text, reports = nasty
    for journal, comparison in reports:
        written = latex_bytes(report_tables(comparison, [journal]), [text, "and so on"]).decode("utf-8")
        lines = [line for line in written.split("\n") if not line.startswith("%")]
        body = "\n".join(lines)
        assert set(re.findall(r"\\([A-Za-z]+)", body)) <= _COMMANDS
        plain = re.sub(r"\\[\\{}$&#%_]", "", body)  # what is escaped is a letter
        assert plain.count("{") == plain.count("}")
        assert not re.search("[#^~]", plain)
        assert not re.search(r"(?<!\{)%", plain)  # but for the one that ends a line of ours
        assert plain.replace("$-$", "").count("$") == 0
        assert not re.search(r"\\\\\s*[\[*]", body)
        assert max(len(line) for line in lines) < 20_000


def test_json_gives_everything_back(nasty):
    text, reports = nasty
    journal, comparison = reports[1]
    data = json_bytes(comparison, [journal], ["report.json"])
    assert not re.search(rb"[<>&]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]", data)
    stored = json.loads(data)["comparison"]["pairs"][0]["intent"]
    assert stored == (text if "\ud800" not in text else "a\\ud800b")
    json.loads(json_bytes(reports[0][1], [reports[0][0]], []))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202eb", "a\\u202eb"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("a\x1b[2J", "a\\u001b[2J"),
        ("a\u200bb", "a\\u200bb"),
        ("line\nline\tend", "line\nline\tend"),
        ("שלום", "שלום"),
        ("a\udcff", "a\\xff"),
    ],
)
def test_what_can_not_be_seen_is_written_out(text, seen):
    assert visible(text) == seen


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 10, "short"),
        ("  two\n lines ", 20, "two lines"),
        ("0123456789", 10, "0123456789"),
        ("0123456789x", 10, "012345678…"),
        ("word word word", 10, "word word…"),
        (" " * 1000 + "late", 10, "…"),
    ],
)
def test_a_long_text_is_cut_on_one_line(text, limit, shown):
    assert elided(text, limit) == shown
    assert len(elided(text, limit)) <= limit
    assert "\n" not in one_line(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50 % of a_b & c#d", r"50 \% of a\_b \& c\#d"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a--b", "a-{}-b"),
        ("it''s", "it'{}'s"),
        ("[x]*", "{[}x{]}{*}"),
        ("\u22124.1", "$-$4.1"),
        ("^^M~", r"\textasciicircum{}\textasciicircum{}M\textasciitilde{}"),
        ('"a <b', r"\textquotedbl{}a \textless{}b"),
        ("> `c |", r"\textgreater{} \textasciigrave{}c \textbar{}"),
        ("y" * 200, "y" * 159 + r"\ldots{}"),
    ],
)  # fmt: skip
def test_latex_writes_each_special_character(text, written):
    assert latex_text(text) == written
