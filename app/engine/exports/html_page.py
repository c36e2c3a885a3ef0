"""Exporter: Web page of one run, in one file: pictures, actions, reasons, flags, verdicts and tips.

Nothing in the file is active but the page's own keyboard, which its content security policy names by hash: texts of
websites and models are escaped, and the policy forbids everything that is loaded or run from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TypeVar

from app.engine.core.labels import ended_label
from app.engine.core.text import one_line
from app.engine.core.trajectory import BY_PERSON, Run, Step
from app.engine.core.verdicts import AGENT_DID_NOT_FAIL, Flag, Severity, Verdict
from app.engine.exports.html_style import SCRIPT, STYLE
from app.engine.exports.page_pictures import InlinePicture, inline_pictures
from app.engine.exports.run_export import ExportSource, RunExport
from app.errors import SiteloreError
from kb.tip import Tip

MAX_TEXT = 6_000
"""Characters of a reason, an error or an answer that are shown."""
EXCERPT_LINES = 40
"""Lines of a page's tree that stand for its picture, around the target."""
_LINE_CHARACTERS = 200
_WEIGHT = {Severity.HINT: 1, Severity.WARNING: 2, Severity.ERROR: 3}
_NEVER_KEPT = "The page holds neither the HTML and whole trees of pages nor the exchanges with the model."


def write(source: ExportSource, path: Path) -> list[str]:
    """Write a run as one HTML file."""
    page = _RunPage(source)
    path.write_text(page.html(), encoding="utf-8", errors="replace", newline="\n")
    return [*page.left_out, _NEVER_KEPT]


RUN_EXPORT = RunExport(name="html", title="Web page of one run (self-contained)", suffix=".html", write=write)


class _RunPage:
    """The parts of the page; texts that are cut are counted."""

    def __init__(self, source: ExportSource) -> None:
        self._source, self._run = source, source.run
        final = source.run.final
        self._pages: list[Step] = [*source.steps, *([final] if final is not None else [])]
        self._last = len(source.steps)
        self._flags = _by_step(source.flags)
        self._verdicts = _by_step(source.verdicts)
        self._place = {step.index: number for number, step in enumerate(source.steps)}
        self._cut = 0
        marked = {self._place[index] for index in (*self._flags, *self._verdicts) if index in self._place}
        self._pictures, self.left_out = inline_pictures(source, self._pages, marked)

    def html(self) -> str:
        body = "\n".join(
            (self._header(), self._navigation(), "<main>", *self._main(), "</main>", self._footer())
        )
        title = escape(one_line(self._run.intent or self._run.id, 120))
        return (
            "<!DOCTYPE html>\n"
            '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
            f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n"
            f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
        )

    # ------------------------------------------------------------ head
    def _header(self) -> str:
        run = self._run
        over = " · ".join(
            part for part in (run.site, run.suite, run.task_id and f"task {run.task_id}") if part
        )
        return "\n".join(
            (
                '<header class="run">',
                f'<p class="over">{escape(over or "Run of a web agent")}</p>',
                f'<h1 class="words" dir="auto">{self._text(run.intent or "No goal was recorded")}</h1>',
                self._badges(),
                _facts(run, len(self._source.steps)),
                "</header>",
            )
        )

    def _badges(self) -> str:
        run = self._run
        found = [(ended_label(run.outcome.value, run.ended_by), "")]
        if run.score is not None:
            found.append((f"score {run.score:g}", "bad" if run.failed else "good"))
        labels = dict.fromkeys(verdict.label for verdict in self._source.verdicts if verdict.step is None)
        found += [
            (f"verdict: {label.value}", "good" if label in AGENT_DID_NOT_FAIL else "bad") for label in labels
        ]
        items = "".join(f'<li class="badge {kind}">{escape(words)}</li>' for words, kind in found)
        return f'<ul class="badges">{items}</ul>'

    def _navigation(self) -> str:
        """A row of the steps' numbers, coloured by their gravest flag."""
        links: list[str] = []
        for number, step in enumerate(self._source.steps):
            flags = self._flags.get(step.index, ())
            worst = max((flag.severity for flag in flags), key=lambda one: _WEIGHT[one], default=None)
            kind = f' class="{worst.value}"' if worst is not None else ""
            said = f"Step {step.index}" + (f", {len(flags)} flags" if flags else "")
            links.append(f'<li><a href="#s{number}"{kind} aria-label="{said}">{step.index}</a></li>')
        if self._run.final is not None:
            links.append('<li><a href="#end" aria-label="Final page">end</a></li>')
        return f'<nav aria-label="Steps"><ol>{"".join(links)}</ol></nav>' if links else ""

    # ------------------------------------------------------------ main
    def _main(self) -> Iterable[str]:
        run = self._run
        if run.answer is not None and run.answer.strip():
            heading = "Why it gave up" if run.needs else "Answer"
            yield self._panel(heading, run.answer)
        if run.error.strip():
            yield self._panel("Error that ended the run", run.error)
        if run.notes:
            items = "".join(f'<li class="words">{self._text(note)}</li>' for note in run.notes)
            yield f'<section class="panel"><h2>About the recording</h2><ul class="plain">{items}</ul></section>'
        yield self._findings()
        yield self._tips_written()
        yield "<h2>Steps</h2>"
        if not self._source.steps:
            yield "<p>No step was recorded.</p>"
        for number, step in enumerate(self._source.steps):
            yield self._step(number, step)
        if run.final is not None:
            yield self._final(run.final)

    def _panel(self, heading: str, text: str) -> str:
        return (
            f'<section class="panel"><h2>{escape(heading)}</h2>'
            f'<p class="words" dir="auto">{self._text(text)}</p></section>'
        )

    def _findings(self) -> str:
        """Flags and verdicts with links to their steps."""
        rows = [
            (flag.step, f"<b>{escape(flag.severity.value.capitalize())}:</b> {self._text(flag.message, 300)}")
            for flag in self._source.flags
        ]
        rows += [
            (verdict.step if verdict.step is not None else -1, self._verdict_words(verdict))
            for verdict in self._source.verdicts
        ]
        if not rows:
            return ""
        items = "".join(
            f'<li class="wrap">{self._link(step)} {words}</li>'
            for step, words in sorted(rows, key=lambda row: row[0])
        )
        return f'<section class="panel"><h2>Flags and verdicts</h2><ul class="plain">{items}</ul></section>'

    def _link(self, step: int) -> str:
        if step < 0:
            return "Run:"
        number = self._place.get(step)
        return f'<a href="#s{number}">Step {step}</a>' if number is not None else f"Step {step}:"

    def _verdict_words(self, verdict: Verdict) -> str:
        by = f" by {escape(one_line(verdict.author, 80))}" if verdict.author else ""
        note = f': <span class="words" dir="auto">{self._text(verdict.note)}</span>' if verdict.note else ""
        return f"<b>Verdict{by}:</b> {escape(verdict.label.value)}{note}"

    def _tips_written(self) -> str:
        own = [tip for tip in self._source.tips.values() if tip.provenance.run == self._run.id]
        if not own:
            return ""
        return (
            '<section class="panel"><h2>Tips written from this run</h2>'
            + "".join(self._tip(tip) for tip in own)
            + "</section>"
        )

    def _tip(self, tip: Tip) -> str:
        scope = (
            f'<br><span class="over">{escape(one_line(str(tip.scope), 200))}</span>' if str(tip.scope) else ""
        )
        return f'<p class="tip words" dir="auto">{self._text(tip.text)}{scope}</p>'

    # ------------------------------------------------------------ steps
    def _step(self, number: int, step: Step) -> str:
        who = ' <span class="badge">by a person</span>' if step.by == BY_PERSON else ""
        tried = "" if step.executed else ' <span class="badge">not executed</span>'
        reason = f'<p class="reason words" dir="auto">{self._text(step.reason)}</p>' if step.reason else ""
        output = f'<p class="mark words" dir="auto">{self._text(step.output, 600)}</p>' if step.output else ""
        body = (
            f'<h3 class="wrap" dir="auto">{escape(one_line(step.words, 400))}{who}{tried}</h3>'
            f"{self._address(step)}{reason}{output}{self._marks(step)}{self._tips_at(step)}"
        )
        return (
            f'<article id="s{number}" tabindex="-1" aria-label="Step {step.index}"><div class="top">'
            f'<div class="number" aria-hidden="true">{step.index}</div><div class="body">{body}</div></div>'
            f"{self._sight(number, step)}</article>"
        )

    def _final(self, page: Step) -> str:
        return (
            '<h2>Final page</h2><article id="end" tabindex="-1" aria-label="Final page"><div class="top">'
            '<div class="number" aria-hidden="true">✓</div><div class="body">'
            f'<h3 class="wrap" dir="auto">{escape(one_line(page.title, 300) or "After the last step")}</h3>'
            f"{self._address(replace(page, title=''))}</div></div>{self._sight(self._last, page)}</article>"
        )

    def _address(self, step: Step) -> str:
        where = " · ".join(part for part in (one_line(step.title, 160), step.url[:600]) if part)
        return f'<p class="address"><bdi>{escape(where)}</bdi></p>' if where else ""

    def _marks(self, step: Step) -> str:
        found: list[str] = []
        if step.error.strip():
            kind = "Reported, but done" if step.executed and step.error_class == "soft" else "Error"
            first, _, rest = step.error.strip().partition("\n")
            log = (
                f'<details><summary>Log</summary><p class="words">{self._text(rest)}</p></details>'
                if rest
                else ""
            )
            found.append(_mark("warning" if kind != "Error" else "error", kind, self._text(first), log))
        for flag in self._flags.get(step.index, ()):
            found.append(
                _mark(
                    flag.severity.value,
                    f"{flag.severity.value.capitalize()} ({flag.detector})",
                    self._text(flag.message),
                )
            )
        for verdict in self._verdicts.get(step.index, ()):
            kind = "good" if verdict.label in AGENT_DID_NOT_FAIL else "error"
            found.append(f'<p class="mark {kind}">{self._verdict_words(verdict)}</p>')
        return "".join(found)

    def _tips_at(self, step: Step) -> str:
        ids = dict.fromkeys((*step.tips, *(exposure.tip for exposure in step.exposures)))
        tips = [self._source.tips[tip] for tip in ids if tip in self._source.tips]
        if not tips:
            return ""
        counted = "1 tip in force" if len(tips) == 1 else f"{len(tips)} tips in force"
        return f"<details><summary>{counted}</summary>{''.join(map(self._tip, tips))}</details>"

    def _sight(self, number: int, step: Step) -> str:
        """The page's picture with the target's box; without one an excerpt of its tree."""
        picture = self._pictures.get(number)
        if picture is None:
            return self._excerpt(step)
        if picture.same_as is not None:
            at = self._pages[picture.same_as].index
            return (
                f'<figcaption>The page looked as at <a href="#s{picture.same_as}">step {at}</a>.</figcaption>'
            )
        name = (
            f"Final page, {one_line(step.title, 120)}"
            if number == self._last
            else f"Page at step {step.index}"
        )
        if number != self._last and step.title:
            name += f", {one_line(step.title, 120)}"
        note = "<figcaption>A part of a long page.</figcaption>" if picture.cut else ""
        return (
            f'<figure><div class="picture"><img src="{picture.address}" alt="{escape(name)}" loading="lazy"'
            f' width="{picture.size[0]}" height="{picture.size[1]}">{_overlay(picture)}</div>{note}</figure>'
        )

    def _excerpt(self, step: Step) -> str:
        if not step.tree:
            return ""
        try:
            lines = self._source.read_blob(step.tree).decode("utf-8", "replace").split("\n")
        except SiteloreError:
            return ""
        bid = step.action.bid if step.action is not None else None
        at = next((row for row, line in enumerate(lines) if bid and f"[{bid}] " in line), -1)
        first = max(0, min(at - EXCERPT_LINES // 2, len(lines) - EXCERPT_LINES))
        rows: list[str] = []
        for row in range(first, min(first + EXCERPT_LINES, len(lines))):
            line = escape(lines[row][:_LINE_CHARACTERS].replace("\t", "  "))
            rows.append(f"<mark>{line}</mark>" if row == at else line)
        rest = len(lines) - len(rows)
        note = (
            f"<figcaption>No picture was recorded; {rest} more lines of the page are left out.</figcaption>"
        )
        return (
            f'<figure><pre tabindex="0" aria-label="Page tree at step {step.index}">{chr(10).join(rows)}</pre>'
            f"{note if rest > 0 else ''}</figure>"
        )

    def _footer(self) -> str:
        if self._cut:
            cut = "1 long text was cut." if self._cut == 1 else f"{self._cut} long texts were cut."
            self.left_out.append(cut)
        said = " ".join(
            (*self.left_out, "Passwords and tokens that were recognised are replaced by REDACTED.")
        )
        return (
            '<footer><p class="keys"><kbd>j</kbd> next step, <kbd>k</kbd> step before</p>'
            f"<p>{escape(said)}</p><p>Exported by Sitelore from run {escape(self._run.id)}.</p></footer>"
        )

    def _text(self, text: str, limit: int = MAX_TEXT) -> str:
        """Return a text escaped, cut to what is read."""
        if len(text) > limit:
            self._cut += 1
            text = f"{text[:limit].rstrip()} …"
        return escape(text.strip())


def _mark(kind: str, head: str, words: str, more: str = "") -> str:
    said = f'<b>{escape(head)}:</b> <span class="words" dir="auto">{words}</span>'
    return f'<div class="mark {kind}">{said}{more}</div>'


def _overlay(picture: InlinePicture) -> str:
    if picture.box is None:
        return ""
    (width, height), (left, top, wide, high) = picture.size, picture.box
    place = f'x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="3"'
    return (
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="halo" {place}/><rect class="box" {place}/></svg>'
    )


def _facts(run: Run, steps: int) -> str:
    tokens = sum(run.tokens)
    rows = (
        ("Date", _date(run.started_at)),
        ("Steps", str(steps)),
        ("Start page", one_line(run.start_url, 300)),
        ("Model", run.model),
        ("Cost", run.cost.words if run.cost is not None else ""),
        ("Tokens", f"{run.tokens[0]:,} in, {run.tokens[1]:,} out" if tokens else ""),
        ("Knowledge", run.knowledge if run.knowledge not in ("", "none") else ""),
        ("Agent", run.policy),
        ("Recorded as", run.source),
    )
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd><bdi>{escape(value)}</bdi></dd></div>"
        for name, value in rows
        if value
    )
    return f'<dl class="facts">{cells}</dl>'


def _date(at: float) -> str:
    if not 0 < at < 32503680000:  # the year 3000
        return ""
    return datetime.fromtimestamp(at, UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")


_Marked = TypeVar("_Marked", Flag, Verdict)


def _by_step(items: Iterable[_Marked]) -> dict[int, list[_Marked]]:
    found: dict[int, list[_Marked]] = {}
    for item in items:
        if item.step is not None:
            found.setdefault(item.step, []).append(item)
    return found


def _policy() -> str:
    def named(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; img-src data:; style-src {named(STYLE)}; script-src {named(SCRIPT)};"
        " base-uri 'none'; form-action 'none'"
    )
