"""The release page of a frozen knowledge base: one HTML page that needs no network, no script and no other file.

Everything on it comes from the two files, the workspace's own history and its stored steps; what none of them says is
said to be unknown.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

from app.engine.api.engine_api import BehaviourDiff
from app.engine.api.evaluation_api import TipCreditRow
from app.engine.evaluation.report.colors import css_variables
from app.engine.evaluation.report.safe_text import elided, one_line, visible
from kb.confidential import REASONS
from kb.differences import KbChanges, TipChangeKind, TipDifference
from kb.tip import Tip, VerifyReport
from kb.tip_changes import FieldChange, field_text

MOST_ROWS = 500
"""Rows of a table; the rest is counted."""
_TEXT, _NAME = 2_000, 120
_SIGNS = {
    TipChangeKind.ADDED: "+",
    TipChangeKind.CHANGED: "~",
    TipChangeKind.RETIRED: "×",
    TipChangeKind.RESTORED: "↺",
    TipChangeKind.REMOVED: "−",
}
_PARTS = ("when", "do", "before", "why", "scope", "keywords")
_STYLE = """
* { box-sizing: border-box; }
html { font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
body { margin: 0 auto; max-width: 62rem; padding: 28px 32px 64px; background: var(--page); color: var(--ink); }
h1 { font-size: 1.55rem; line-height: 1.3; margin: 6px 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 40px 0 6px; padding-top: 12px; border-top: 1px solid var(--line); break-after: avoid; }
h3 { font-size: 1rem; margin: 22px 0 4px; }
p { margin: 4px 0 8px; max-width: 52em; }
.muted { color: var(--muted); }
.lead { font-size: 1.1rem; }
.verdict { border: 1px solid var(--line); border-left: 6px solid var(--better); border-radius: 8px;
  background: var(--panel); padding: 10px 16px; margin: 14px 0; overflow-wrap: anywhere; }
.verdict.bad { border-left-color: var(--worse); }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.86em;
  overflow-wrap: anywhere; }
article { border: 1px solid var(--line); border-radius: 8px; padding: 8px 14px; margin: 8px 0; break-inside: avoid; }
article p { white-space: pre-wrap; overflow-wrap: anywhere; max-width: none; }
.kind { font-weight: 700; } .kind.added, .kind.restored { color: var(--better); }
.kind.retired, .kind.removed { color: var(--worse); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; margin: 4px 0; }
dt { color: var(--muted); } dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
ins { color: var(--better); background: var(--band); text-decoration: underline; }
del { color: var(--worse); background: var(--band); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--muted); font-weight: 600; border-bottom: 2px solid var(--line); }
th, td { padding: 4px 14px 4px 0; vertical-align: top; }
td { border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; }
@media (max-width: 40rem) { body { padding: 16px 14px 40px; } h1 { font-size: 1.3rem; }
  dl { grid-template-columns: 1fr; } dt { margin-top: 4px; } }
@media print { @page { size: A4; margin: 14mm; } html { font-size: 9.5pt; } body { padding: 0; max-width: none; } }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFacts:
    """The facts of a release page.

    Attributes:
        since: name of the file compared with, "" for none.
        changes: the differences, None without such a file; ``behaviour`` those on stored steps.
        manifest: the manifest of the file, empty where it can't be trusted.
        tips: the tips of the file.
        credits: what evaluations say of them.
        at: when the page is made, Unix seconds.
    """

    name: str
    since: str
    changes: KbChanges | None
    behaviour: BehaviourDiff | None
    verified: VerifyReport
    manifest: Mapping[str, Any]
    tips: Sequence[Tip]
    credits: Sequence[TipCreditRow]
    at: float


def release_html(facts: ReleaseFacts) -> str:
    """Return the page."""
    title = f"Release of {elided(facts.name, _NAME)}"
    frozen = facts.manifest.get("frozen_at")
    by = str(facts.manifest.get("frozen_by") or "")
    when = _day(float(frozen)) if isinstance(frozen, int | float) else ""
    head = " · ".join(
        part
        for part in (
            f"frozen {when}" if when else "",
            f"by {elided(by, _NAME)}" if by else "",
            f"compared with {elided(facts.since, _NAME)}" if facts.since else "",
            f"page made {_day(facts.at)}",
        )
        if part
    )
    parts = [
        f'<h1>{_words(title)}</h1><p class="muted">{_words(head)}</p>',
        _checks(facts),
        _changes(facts),
        _behaviour(facts),
        _lint(facts.manifest),
        _taint(facts),
        _worth(facts),
        _left_out(facts.manifest),
    ]
    light, dark = css_variables("light"), css_variables("dark")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_words(title)}</title>"
        f"<style>:root {{ color-scheme: light dark; {light} }}"
        f" @media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}{_STYLE}</style></head>\n<body>"
        + "\n".join(part for part in parts if part)
        + "</body></html>\n"
    )


def _checks(facts: ReleaseFacts) -> str:
    checked, encoder = facts.verified, _map(facts.manifest.get("encoder"))
    good = checked.ok
    word = "Intact: the file is what its manifest says." if good else "NOT INTACT."
    problems = "".join(f"<p>{_words(problem)}</p>" for problem in checked.problems)
    rows = [
        ("tips", f"{len(facts.tips):,}"),
        ("sha256", checked.sha256),
        ("content", str(facts.manifest.get("content_sha256") or "unknown")),
        ("encoder", " ".join(str(part) for part in encoder.values() if part) or "none named"),
        ("by site", _counts(_map(_map(facts.manifest.get("counts")).get("by_site")))),
    ]
    facts_list = "".join(f"<dt>{_words(name)}</dt><dd>{_words(value)}</dd>" for name, value in rows if value)
    kind = "verdict" if good else "verdict bad"
    sign = "✓" if good else "✕"
    return (
        f'<div class="{kind}"><p class="lead">{sign} {_words(word)}</p>{problems}<dl>{facts_list}</dl></div>'
    )


def _changes(facts: ReleaseFacts) -> str:
    changes = facts.changes
    if changes is None:
        return (
            "<h2>What changed</h2><p>Not compared: no older file was named. The tips are:</p>"
            + "".join(_tip_article("", tip, [], "") for tip in facts.tips[:MOST_ROWS])
            + _more(len(facts.tips))
        )
    counts = [(kind, sum(one.kind is kind for one in changes.tips)) for kind in TipChangeKind]
    lead = (
        ", ".join(f"{count:,} {kind.value}" for kind, count in counts if count)
        or "Nothing: the tips are the same."
    )
    parts = [f'<h2>What changed</h2><p class="lead">{_words(lead)}</p>']
    parts += [f'<p class="muted">Unknown: {_words(said)}.</p>' for said in changes.unknown]
    if _hides(facts.manifest):
        parts.append(
            '<p class="muted">Confidential tips were left out of this release, so tips that are no longer in it'
            " are only counted.</p>"
        )
    here = {tip.id for tip in facts.tips}
    shown = 0
    for site, of_site in changes.sites.items():
        tips = [one for one in of_site if one.tip.id in here or not _hides(facts.manifest)]
        if not tips:
            continue
        if shown >= MOST_ROWS:
            break
        parts.append(f"<h3>{_words(site)}</h3>")
        for one in tips[: MOST_ROWS - shown]:
            parts.append(_difference(one))
        shown += len(tips)
    return "".join(parts) + _more(len(changes.tips))


def _difference(one: TipDifference) -> str:
    rows = [f"<dt>{_words(change.field)}</dt><dd>{_marked(change)}</dd>" for change in one.fields]
    if one.kind in (TipChangeKind.ADDED, TipChangeKind.REMOVED):
        rows = []
    rows += [f"<dt>why</dt><dd>{_words(said)}</dd>" for said in one.why]
    said = [f"by {', '.join(one.by)}" if one.by else "", _day(one.at) if one.at else "", one.unknown]
    sign = f'<span class="kind {one.kind.value}">{_SIGNS[one.kind]} {one.kind.value}</span> '
    return _tip_article(sign, one.tip, rows, " · ".join(part for part in said if part))


def _tip_article(sign: str, tip: Tip, rows: Sequence[str], said: str) -> str:
    own = [f"<dt>{name}</dt><dd>{_text(text)}</dd>" for name in _PARTS if (text := field_text(tip, name))]
    lines = "".join(rows or own)
    return (
        f"<article>{sign}<code>{_words(tip.id)}</code>"
        + (f' <span class="muted">{_words(said)}</span>' if said else "")
        + f"<p>{_text(tip.text)}</p>"
        + (f"<dl>{lines}</dl>" if lines else "")
        + "</article>"
    )


def _marked(change: FieldChange) -> str:
    marks = {"same": "{}", "added": "<ins>{}</ins>", "removed": "<del>{}</del>"}
    return "".join(marks[part.change].format(_text(part.text)) for part in change.parts)


def _behaviour(facts: ReleaseFacts) -> str:
    found = facts.behaviour
    if found is None:
        return ""
    lead = (
        f"{found.changed:,} of {found.steps:,} stored steps would be given other tips,"
        f" {found.in_passed_runs:,} of them in runs that passed."
        if found.steps
        else "This workspace has no stored steps to compare on."
    )
    rows = [
        (
            one.run,
            str(one.step),
            ", ".join(one.gained) or "–",
            (f"{len(one.lost)}" if _hides(facts.manifest) else ", ".join(one.lost)) or "–",
            {True: "failed", False: "passed", None: "unknown"}[one.failed],
        )
        for one in found.examples
    ]
    return f"<h2>What agents would be given</h2><p>{_words(lead)}</p>" + _table(
        ("run", "step", "also given", "no longer given", "outcome"), rows
    )


def _lint(manifest: Mapping[str, Any]) -> str:
    lint = _map(manifest.get("lint"))
    waived = {id: _map(one) for id, one in _map(lint.get("waived")).items()}
    out = _map(lint.get("left_out"))
    rows = [
        (id, "frozen: " + str(one.get("reason", "")), ", ".join(map(str, _list(one.get("errors")))))
        for id, one in waived.items()
    ]
    rows += [(id, "left out", ", ".join(map(str, _list(rules)))) for id, rules in out.items()]
    if not rows:
        return "<h2>Lint</h2><p>No tip was left out for lint errors, and none was waived at the freeze.</p>"
    return "<h2>Lint</h2>" + _table(("tip", "what was done", "rules"), rows)


def _taint(facts: ReleaseFacts) -> str:
    tasks = sorted({task for tip in facts.tips for task in tip.taint})
    tips = sum(bool(tip.taint) for tip in facts.tips)
    if not tasks:
        return "<h2>Taint</h2><p>No author is known to have seen a task.</p>"
    shown = ", ".join(tasks[:MOST_ROWS]) + (
        f" and {len(tasks) - MOST_ROWS:,} more" if len(tasks) > MOST_ROWS else ""
    )
    return (
        f"<h2>Taint</h2><p>The authors of {tips:,} tips had seen {len(tasks):,} tasks; a score on these tasks"
        f" says little.</p><p><code>{_words(shown)}</code></p>"
    )


def _worth(facts: ReleaseFacts) -> str:
    credit = {row.tip: row for row in facts.credits}
    rows: list[tuple[str, ...]] = []
    for tip in facts.tips:
        record, known = tip.record, credit.get(tip.id)
        if known is None and not (record.applied or record.tests or record.up or record.down):
            continue
        rows.append(
            (
                tip.id,
                f"{record.applied}",
                f"{record.effect}",
                f"{record.failed}",
                f"{record.up}/{record.down}",
                f"{record.tests - record.broke}/{record.tests}",
                f"{known.verdict} ({known.difference:+.2f}, {known.low:+.2f} to {known.high:+.2f}, {known.method})"
                if known is not None
                else "–",
            )
        )
    if not rows:
        return "<h2>Credit</h2><p>No use, vote, test or evaluation of these tips is known.</p>"
    heads = ("tip", "applied", "effect seen", "failed", "votes up/down", "tests held", "in evaluations")
    return "<h2>Credit</h2>" + _table(heads, rows[:MOST_ROWS], numbers={1, 2, 3, 4, 5}) + _more(len(rows))


def _left_out(manifest: Mapping[str, Any]) -> str:
    counts = _map(_map(manifest.get("counts")).get("left_out"))
    said = _counts(counts)
    if not said:
        return "<h2>Left out</h2><p>Nothing, as far as the manifest says.</p>"
    return (
        f'<h2>Left out</h2><p>{_words(said)}.</p><p class="muted">Statuses count tips that were not asked for;'
        " “by tag, author, site” are confidential ones, of which only the number is kept.</p>"
    )


def _hides(manifest: Mapping[str, Any]) -> bool:
    """Whether confidential tips were left out: then no tip that is not in the file is named."""
    return any(name in _map(_map(manifest.get("counts")).get("left_out")) for name in REASONS)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    right = set(numbers)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="{"n" if at in right else ""}">{_words(cell)}</td>' for at, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    if not body:
        return ""
    head = "".join(
        f'<th scope="col" class="{"n" if at in right else ""}">{_words(text)}</th>'
        for at, text in enumerate(heads)
    )
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _more(number: int) -> str:
    return (
        f'<p class="muted">{number - MOST_ROWS:,} more are left out here.</p>' if number > MOST_ROWS else ""
    )


def _counts(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _words(text: str) -> str:
    return escape(one_line(text))


def _text(text: str) -> str:
    """A text with its line breaks, shortened where it is very long."""
    return escape(
        "\n".join(visible(line) for line in text[:_TEXT].split("\n")) + ("…" if len(text) > _TEXT else "")
    )


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _map(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
