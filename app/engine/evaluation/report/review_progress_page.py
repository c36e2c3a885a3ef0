"""The progress of the review as one page for print: it needs no network, no script and no other file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from html import escape

from app.engine.api.review_api import ProgressRow, ReviewProgress
from app.engine.evaluation.report.colors import css_variables
from app.engine.evaluation.report.safe_text import elided, one_line

MOST_PAGES = 25
"""Pages without a tip that are listed; the rest is counted."""
_NAME, _ADDRESS = 60, 120
_STYLE = """
@page { size: A4; margin: 16mm 15mm; }
* { box-sizing: border-box; }
html { font: 10.5pt/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: var(--ink); }
body { margin: 0 auto; max-width: 180mm; padding: 8mm 0; background: var(--page); }
h1 { font-size: 17pt; line-height: 1.25; margin: 0; }
h2 { font-size: 12pt; margin: 8mm 0 2mm; break-after: avoid; }
p { margin: 1mm 0 0; color: var(--muted); }
.lead { font-size: 12.5pt; color: var(--ink); margin-top: 5mm; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th { text-align: left; font-weight: 600; color: var(--muted); border-bottom: 0.4mm solid var(--line); }
th, td { padding: 1.1mm 2mm 1.1mm 0; vertical-align: top; overflow-wrap: anywhere; }
td { border-bottom: 0.2mm solid var(--line); }
.n { text-align: right; white-space: nowrap; padding-left: 2mm; }
td:first-child { min-width: 34mm; }
.share { white-space: nowrap; padding-left: 4mm; }
.share b { display: inline-block; width: 12mm; font-weight: inherit; text-align: right; margin-right: 2mm; }
.bar { display: inline-block; width: 20mm; height: 2.6mm; background: var(--band);
  border: 0.2mm solid var(--muted); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bar i { display: block; height: 100%; background: var(--better); }
footer { margin-top: 9mm; border-top: 0.2mm solid var(--line); padding-top: 2mm; font-size: 9pt; }
"""


def progress_html(progress: ReviewProgress, workspace: str, at: float, which: str = "") -> str:
    """Return the page; ``which`` says in words which runs it counts, ``at`` is when (Unix seconds)."""
    total = progress.total
    title = f"Review progress of {elided(workspace, _NAME)}"
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
    lead = (
        f"{total.judged:,} of {total.runs:,} runs judged ({_percent(total)}), {total.runs - total.judged:,} left;"
        f" {total.tips:,} {'tip' if total.tips == 1 else 'tips'} written."
        if total.runs
        else "No run passes the filter."
    )
    named = f", filter: {elided(which, _ADDRESS)}" if which else ""
    parts = [
        f"<h1>{escape(title)}</h1><p>{escape(day + named)}</p>",
        f'<p class="lead">{escape(lead)}</p>',
        _progress_table("By site", progress.sites),
        _progress_table("By person", progress.people),
        _labels(progress),
        _pages(progress),
        "<footer><p>Seconds are medians. For a verdict they are counted from opening the run, where the window measured"
        " it; for a tip from its author's latest verdict on the run to the first saving, where that is at most half an"
        " hour. A dash: not measured. A person's runs are those in their queue and those they judged.</p></footer>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        f"<style>:root {{ color-scheme: light; {css_variables('light')} }}{_STYLE}</style></head>\n<body>"
        + "\n".join(part for part in parts if part)
        + "</body></html>\n"
    )


def _progress_table(title: str, rows: Sequence[ProgressRow]) -> str:
    heads = ("", "judged", "runs", "left", "done", "tips", "s/verdict", "s/tip")
    cells = [
        (
            elided(row.name, _NAME) or "no site",
            row.judged,
            row.runs,
            row.runs - row.judged,
            _Bar(_percent(row)),
            row.tips,
            _seconds(row.verdict_seconds),
            _seconds(row.tip_seconds),
        )
        for row in rows
    ]
    return _table(title, heads, cells)


def _labels(progress: ReviewProgress) -> str:
    whole = sum(progress.labels.values())
    counts = sorted(progress.labels.items(), key=lambda item: (-item[1], item[0]))
    rows = [(label, count, _Bar(f"{100 * count / whole:.0f} %")) for label, count in counts]
    return _table("Labels of the verdicts", ("", "verdicts", "share"), rows)


def _pages(progress: ReviewProgress) -> str:
    shown = progress.uncovered[:MOST_PAGES]
    rows = [
        (
            elided(page.site, _NAME),
            elided(page.page, _ADDRESS),
            page.uncovered,
            len(page.runs),
            len(page.tips),
        )
        for page in shown
    ]
    left = len(progress.uncovered) - len(shown)
    remark = f"<p>{left:,} more pages are left out.</p>" if left else ""
    heads = ("site", "page", "without a tip", "failures", "tips")
    return _table("Pages on which runs fail without a tip", heads, rows) + remark


class _Bar(str):
    """A share in per cent, shown with a bar."""

    __slots__ = ()


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    if not rows:
        return ""
    numbers = {at for at, cell in enumerate(rows[0]) if isinstance(cell, int) or heads[at].startswith("s/")}
    shares = {at for at, cell in enumerate(rows[0]) if isinstance(cell, _Bar)}
    kinds = ["n" if at in numbers else "share" if at in shares else "" for at in range(len(heads))]
    head = "".join(_head(text, kind) for text, kind in zip(heads, kinds, strict=True))
    body = "".join(f"<tr>{''.join(_cells(row, numbers))}</tr>" for row in rows)
    return f"<h2>{escape(title)}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _head(text: str, kind: str) -> str:
    return f'<th scope="col" class="{kind}">{escape(text)}</th>'


def _cells(row: Sequence[str | int], numbers: set[int]) -> Iterable[str]:
    for at, cell in enumerate(row):
        if isinstance(cell, _Bar):
            width = cell.removesuffix("%").strip() or "0"
            bar = f'<span class="bar" aria-hidden="true"><i style="width:{width}%"></i></span>'
            yield f'<td class="share"><b>{escape(cell)}</b>{bar}</td>'
        elif at in numbers:
            yield f'<td class="n">{escape(f"{cell:,}" if isinstance(cell, int) else cell)}</td>'
        else:
            yield f"<td>{escape(one_line(str(cell)))}</td>"


def _percent(row: ProgressRow) -> str:
    return f"{100 * row.judged / row.runs:.0f} %" if row.runs else "0 %"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"
