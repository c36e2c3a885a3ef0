"""An exchange as text in sections that fold: the answer first, then the messages in order.  Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from app.engine.api.exchange_api import AskedAgain, Exchange, ExchangeMessage, ExchangePart
from app.engine.core.chat_messages import PartKind
from app.models.common.translate import tr

LONG_LINES, LONG_CHARACTERS = 14, 1_200
"""A part longer than this begins folded."""
LINE_CHARACTERS = 4_000
"""A longer line is broken, so that no single line is slow to lay out."""
CONTEXT = 2
"""Equal lines around a change."""
MOST_HITS = 2_000
MOST_COMPARED = 20_000
"""Lines of two prompts together beyond which they are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSection:
    """A message's head line, or one part with its text.

    Attributes:
        title: the head line without its size.
        marks: a word a line (``added``, ``removed``, ``place`` or ""); empty where all are plain.
        digest: of a picture that can be shown.
        outcome: place of an outcome of asking again, which can be shown; -1 for none.
    """

    title: str
    lines: tuple[str, ...] = ()
    level: int = 1
    marks: tuple[str, ...] = ()
    digest: str = ""
    outcome: int = -1

    @property
    def is_long(self) -> bool:
        """Whether it begins folded."""
        return len(self.lines) > LONG_LINES or sum(map(len, self.lines)) > LONG_CHARACTERS

    @property
    def size(self) -> str:
        """``412 lines · 14.2 kB``."""
        size = sum(len(line) + 1 for line in self.lines)
        words = tr("{0} lines").format(f"{len(self.lines):,}") if len(self.lines) != 1 else tr("1 line")
        return f"{words} · {kilobytes(size)}"


@dataclass(frozen=True, slots=True)
class PromptPage:
    """The text that the reader shows, and for each line a mark and the section it belongs to."""

    text: str
    marks: tuple[str, ...]
    sections: tuple[int, ...]

    def line_of(self, section: int) -> int:
        """The line of a section's head."""
        return self.sections.index(section) if section in self.sections else 0


def sections_of(exchange: Exchange) -> tuple[PromptSection, ...]:
    """Return an exchange's answer and messages as sections."""
    return (*_answer(exchange), *(one for message in exchange.messages for one in _message(message)))


def asked_sections(asked: Sequence[AskedAgain]) -> tuple[PromptSection, ...]:
    """Return what came of asking an exchange again, the newest first; one line each."""
    if not asked:
        return ()
    rows = [
        PromptSection(title=f"{_changes_words(one)}: {one.verdict}", outcome=place)
        for place, one in reversed(list(enumerate(asked)))
    ]
    return (PromptSection(title=tr("Asked again"), level=0), *rows)


def _changes_words(asked: AskedAgain) -> str:
    """Return what was different: ``gpt-5, without shop-001``."""
    request = asked.request
    changes = [
        request.model,
        tr("effort {0}").format(request.effort) if request.effort else "",
        tr("without {0}").format(", ".join(request.without)) if request.without else "",
        tr("with {0}").format(", ".join(request.tips)) if request.tips else "",
        tr("with another tip") if request.texts or request.edited else "",
    ]
    return ", ".join(change for change in changes if change) or tr("unchanged")


def unfolded_at_first(sections: Sequence[PromptSection]) -> set[int]:
    """Return the sections that begin open: all short ones, and every part of the answer."""
    answer = next((at for at, one in enumerate(sections) if at and not one.level), len(sections))
    return {at for at, one in enumerate(sections) if at < answer or not one.is_long}


def page_of(sections: Sequence[PromptSection], unfolded: Collection[int]) -> PromptPage:
    """Return the text of sections, those that are not unfolded as their head line."""
    lines: list[str] = []
    marks: list[str] = []
    places: list[int] = []
    for at, one in enumerate(sections):
        is_open = at in unfolded
        own = one.lines if is_open else ()
        head = one.title
        if one.level:
            sign = "▣" if one.digest or one.outcome >= 0 or not one.lines else "▾" if is_open else "▸"
            head = f"{sign} {head}" + (f"  ·  {one.size}" if one.lines else "")
        blank = [""] if not one.level and lines else []
        lines += [*blank, head, *own]
        marks += [
            *blank,
            "head" if one.level else "message",
            *(one.marks if one.marks and own else [""] * len(own)),
        ]
        places += [at] * (len(blank) + 1 + len(own))
    return PromptPage("\n".join(lines), tuple(marks), tuple(places))


def find_all(sections: Sequence[PromptSection], words: str) -> list[tuple[int, int, int]]:
    """Return the places of some words, case ignored: section, line in it, column."""
    wanted = words.casefold()
    found: list[tuple[int, int, int]] = []
    for at, one in enumerate(sections):
        for number, line in enumerate(one.lines):
            low = line.casefold()
            start = low.find(wanted)
            while start >= 0 and len(found) < MOST_HITS:
                found.append((at, number, start))
                start = low.find(wanted, start + len(wanted))
    return found


def changes_of(before: Exchange, after: Exchange) -> tuple[PromptSection, ...]:
    """Return what is new and gone in a request against an earlier one.  Slow for long ones: not for the window's
    thread.
    """
    old, new = list(_request_lines(before)), list(_request_lines(after))
    if len(old) + len(new) > MOST_COMPARED:
        return (PromptSection(title=tr("These prompts are too long to be compared"), level=0),)
    lines: list[str] = []
    marks: list[str] = []
    counts = {"added": 0, "removed": 0}
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            _add_context(lines, marks, new[c:d], is_first=c == 0, is_last=d == len(new))
            continue
        for mark, sign, changed in (("removed", "−", old[a:b]), ("added", "+", new[c:d])):
            lines += [f"{sign} {line}" for line in changed]
            marks += [mark] * len(changed)
            counts[mark] += len(changed)
    title = tr("Changes since this role's last prompt: {0} lines more, {1} fewer")
    return (
        PromptSection(title=title.format(counts["added"], counts["removed"]), level=0),
        PromptSection(title=tr("request"), lines=tuple(lines), marks=tuple(marks)),
    )


def request_text(exchange: Exchange) -> str:
    """Return the messages and the answer as one text, to be copied."""
    answer = exchange.data or exchange.text or exchange.row.error
    return "\n".join([*_request_lines(exchange), "", f"[{tr('answer')}]", answer])


def kilobytes(size: int) -> str:
    """``14.2 kB``."""
    return f"{size / 1000:,.1f} kB" if size >= 100 else tr("{0} characters").format(size)


def _add_context(
    lines: list[str], marks: list[str], same: Sequence[str], *, is_first: bool, is_last: bool
) -> None:
    head = () if is_first else same[:CONTEXT]
    tail = () if is_last else same[max(len(head), len(same) - CONTEXT) :]
    left = len(same) - len(head) - len(tail)
    lines += [f"  {line}" for line in head]
    if left:
        lines.append(tr("{0} equal lines").format(left))
    lines += [f"  {line}" for line in tail]
    marks += [*([""] * len(head)), *(["place"] if left else []), *([""] * len(tail))]


def _request_lines(exchange: Exchange) -> Iterator[str]:
    for message in exchange.messages:
        yield f"[{message.role}]"
        for part in message.parts:
            if part.kind == PartKind.IMAGE:
                yield f"[{tr('picture')} {part.digest[:12]}]"
            elif part.text:
                yield from part.text.split("\n")


def _answer(exchange: Exchange) -> Iterator[PromptSection]:
    row = exchange.row
    if row.error:
        yield PromptSection(title=tr("No answer"), level=0)
        yield _section(tr("error"), row.error)
        return
    cut = tr("Answer, cut off at the token limit") if row.truncated else tr("Answer")
    yield PromptSection(title=cut, level=0)
    if exchange.thinking:
        yield _section(tr("thinking"), exchange.thinking)
    if exchange.data:
        yield _section(tr("answer as JSON"), exchange.data)
    elif exchange.text or not exchange.thinking:
        yield _section(tr("answer"), exchange.text or tr("(empty)"))


def _message(message: ExchangeMessage) -> Iterator[PromptSection]:
    yield PromptSection(title=_ROLES.get(message.role, message.role), level=0)
    for kind, parts in _grouped(message.parts):
        if kind == PartKind.IMAGE:
            for part in parts:
                yield _picture(part)
        else:
            text = "\n".join(part.text for part in parts if part.text)
            if text:
                yield _section(_kind_words(kind, text), text)


def _grouped(parts: Iterable[ExchangePart]) -> Iterator[tuple[str, list[ExchangePart]]]:
    """Yield parts, neighbouring tips together."""
    group: list[ExchangePart] = []
    for part in parts:
        if group and not (part.kind == PartKind.TIPS == group[0].kind):
            yield group[0].kind, group
            group = []
        group.append(part)
    if group:
        yield group[0].kind, group


def _picture(part: ExchangePart) -> PromptSection:
    name = f"{tr('picture')} · {part.text}" if part.text else tr("picture")
    if part.stored:
        return PromptSection(title=name, digest=part.digest)
    return PromptSection(title=f"{name} · {tr('not stored')}")


def _kind_words(kind: str, text: str) -> str:
    """Return the name of a part: its kind, and the label of the fence that it begins with."""
    words = _KINDS.get(kind, kind)
    label = text[2:].partition(">>")[0].rpartition(" ")[0] if text.startswith("<<") else ""
    return f"{words} · {label[:60]}" if label and label != words and kind in _LABELLED else words


def _section(title: str, text: str) -> PromptSection:
    lines = [
        line[start : start + LINE_CHARACTERS]
        for line in text.split("\n")
        for start in range(0, max(len(line), 1), LINE_CHARACTERS)
    ]
    return PromptSection(title=title, lines=tuple(lines))


_ROLES = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
_KINDS: dict[str, str] = {
    PartKind.TEXT: "text",
    PartKind.LEDGER: "memory",
    PartKind.TIPS: "tips",
    PartKind.CAPTION: "what the vision model saw",
    PartKind.STATE: "place",
    PartKind.ELEMENTS: "page tree",
    PartKind.THINKING: "thinking",
    PartKind.TOOL_CALL: "action",
    PartKind.TOOL_RESULT: "result",
    PartKind.MARKER: "left out",
}
_LABELLED = (PartKind.TEXT, PartKind.LEDGER)
