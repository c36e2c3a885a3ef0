"""Tables of the report as LaTeX, in the style of booktabs, to be taken into a paper as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.evaluation.report.cells import MINUS, NUMBERS, ReportTable, cell_text
from app.engine.evaluation.report.safe_text import elided

MAX_CHARACTERS = 160
"""Letters of a cell; the whole text is in CSV and JSON."""
LONG = 40
"""Rows above which a table may break over pages."""

WIDE = 8
"""Columns above which a table is made as narrow as the text."""

_HEAD = """\
% Tables of a Sitelore report.  They need \\usepackage{booktabs,graphicx,longtable} and, for letters outside Latin,
% LuaLaTeX or XeLaTeX with a font that has them.  Long lists are not here but in the folder tables, as CSV.
"""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # after a row's end this and an asterisk would be its arguments
    "]": "{]}",
    "*": "{*}",
    MINUS: "$-$",
    "–": "--",
    "…": r"\ldots{}",
}
_ANY = re.compile("[" + re.escape("".join(_SPECIAL)) + "]|-(?=-)|'(?=')|,(?=,)")
"""Special characters, and those of which two in a row become one sign."""


def latex_bytes(tables: Sequence[ReportTable], sentences: Sequence[str]) -> bytes:
    """Return the tables that stand in print, after the answers as comments."""
    parts = [_HEAD, *(f"% {latex_text(sentence, 1000)}\n" for sentence in sentences)]
    for table in tables:
        if table.printed and table.rows:
            parts += [_table(part, of) for of, part in table.parts()]
    return "\n".join(parts).encode("utf-8")


def latex_text(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return a text as LaTeX prints it: nothing in it is a command."""
    return _ANY.sub(lambda found: _SPECIAL.get(found[0], f"{found[0]}{{}}"), elided(text, limit))


def _table(table: ReportTable, of: tuple[str, ...]) -> str:
    title = table.title + (f": {of[0]} against {of[1]}" if len(of) == 2 else "")
    caption = rf"\caption{{{latex_text(title)}}}\label{{tab:{table.name}}}"
    heads = " & ".join(latex_text(column.head) for column in table.columns) + r" \\"
    sides = "".join(
        "r" if column.kind in NUMBERS else "p{6cm}" if column.kind == "foreign" else "l"
        for column in table.columns
    )
    rows = "\n".join(
        " & ".join(
            latex_text(cell_text(value, column.kind))
            for value, column in zip(row, table.columns, strict=True)
        )
        + r" \\"
        for row in table.rows
    )
    if len(table.rows) > LONG:
        return (
            f"\\begin{{longtable}}{{{sides}}}\n{caption} \\\\\n\\toprule\n{heads}\n\\midrule\n\\endfirsthead\n"
            f"\\toprule\n{heads}\n\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n{rows}\n\\end{{longtable}}\n"
        )
    before, after = ("\\resizebox{\\textwidth}{!}{%\n", "}") if len(table.columns) > WIDE else ("", "")
    return (
        f"\\begin{{table}}[htbp]\n\\centering\n{caption}\n{before}\\begin{{tabular}}{{{sides}}}\n\\toprule\n{heads}\n"
        f"\\midrule\n{rows}\n\\bottomrule\n\\end{{tabular}}{after}\n\\end{{table}}\n"
    )
