"""Parts of a prompt about a step: page, tips in force, results; each cleaned, fenced and bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from app.engine.agent.llm.prompting import Fence
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import ReadNotes
from app.engine.core.chat_messages import MessagePart, PartKind
from app.engine.core.observation import HistoryEntry, Observation, ProcedureState, RetrievedTip
from app.engine.core.page_state import Challenge, PageCapture
from app.engine.core.rectangles import overlap
from app.engine.core.supervision import MAX_HINT_CHARS

TREE_CHARACTERS = 40_000
"""Characters of a page's tree that the operator is shown."""
PLANNER_TREE_CHARACTERS = 14_000
"""Characters of a page's tree that the planner is shown."""

HINT_KIND = "person"
"""Kind of a tip that is a hint of the supervisor."""

_LONGEST_LINE = 400
_SHORTEST_LINE = 12
_ALTERNATIVES = 4


def render_page(page: PageCapture, fence: Fence, most: int = TREE_CHARACTERS) -> str:
    """Return a page's tree, fenced; where it is too long, lines in view come before the rest."""
    tree = fit_tree(page, most)
    notes = list(page.notes[:4])
    if page.challenge is not Challenge.NONE:
        notes.append(f"a {page.challenge.value} stands before this page")
    if page.canvas_only:
        notes.append("most of this page is drawn; few elements can be named")
    told = [fence.around("about this page", "; ".join(fence.line(note) for note in notes))] if notes else []
    return "\n".join(
        [fence.around("page", tree or page.text[:most] or "(nothing can be read on this page)"), *told]
    )


def fit_tree(page: PageCapture, most: int) -> str:
    """Return a tree of at most ``most`` characters: lines in view with their ancestors first, then from the top.

    Empty names are left out: they are a fifth of a tree's characters and carry nothing.
    """
    tree = page.tree.replace(" ''\n", "\n")
    if len(tree) <= most:
        return tree
    lines = tree.split("\n")
    kept = _in_view(lines, page, most)
    room = most - sum(_length(lines[at]) for at in kept)
    for at, line in enumerate(lines):
        if room < _SHORTEST_LINE:
            break
        if at not in kept and _length(line) <= room:
            kept.add(at)
            room -= _length(line)
    return "\n".join(_with_omissions(lines, sorted(kept)))


def _length(line: str) -> int:
    return min(len(line), _LONGEST_LINE) + 1


def _with_omissions(lines: Sequence[str], kept: Sequence[int]) -> Iterator[str]:
    """Yield the kept lines, and between them the number of omitted ones."""
    behind = 0
    for at in kept:
        if at > behind:
            yield f"({at - behind} lines are left out)"
        line = lines[at]
        yield line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…"
        behind = at + 1
    if behind < len(lines):
        yield f"({len(lines) - behind} lines are left out)"


def _in_view(lines: Sequence[str], page: PageCapture, most: int) -> set[int]:
    """Return the indices of lines whose elements are in view, with their ancestors, while there is room."""
    view = (0.0, 0.0, float(page.viewport[0]), float(page.viewport[1]))
    seen = {str(one.index) for one in page.elements if one.rect is not None and overlap(one.rect, view)}
    kept: set[int] = set()
    room, path = most, list[int]()
    for at, line in enumerate(lines):
        if not seen:
            break
        bare = line.lstrip("\t")
        del path[len(line) - len(bare) :]
        path.append(at)
        if not bare.startswith("[") or (number := bare[1 : bare.find("]")]) not in seen:
            continue
        seen.discard(number)
        fresh = [place for place in path if place not in kept]
        room -= sum(_length(lines[place]) for place in fresh)
        if room < 0:
            break
        kept.update(fresh)
    return kept


def render_location(observation: Observation, fence: Fence) -> str:
    """Return address, title and tabs."""
    page, front = observation.page, observation.active_tab
    lines = [f"You are at {fence.line(page.url, 300)}, titled {fence.line(page.title) or '(no title)'!r}."]
    if len(observation.tabs) > 1:
        tabs = "; ".join(
            f"{number}{' (in front)' if number == front else ''}: {fence.line(tab.title or tab.url, 80)}"
            for number, tab in enumerate(observation.tabs)
        )
        lines.append(f"Open tabs: {tabs}.")
    if page.alerts:
        lines.append(
            "Dialogs that opened: " + "; ".join(repr(fence.line(text)) for text in page.alerts[:4]) + "."
        )
    if page.downloads:
        lines.append("Files offered: " + ", ".join(fence.line(name, 80) for name in page.downloads[:6]) + ".")
    return "\n".join(lines)


HINTS_HEAD = "The person who supervises this run says (an instruction; the newest counts most):"
TIPS_HEAD = "Expert knowledge of this site:"
"""Lines above the hints and above the tips."""


def tip_parts(
    tips: Sequence[RetrievedTip], fence: Fence, procedures: Sequence[ProcedureState] = ()
) -> list[MessagePart]:
    """Return the tips in force, numbered from 1 in their order, one part each below their head.

    Hints of the supervisor come before the experts' tips, in full: they are instructions.  Of a tip with ``procedures``
    that applies here the steps follow, with a mark at the next one.  The part of a head is there without tips too,
    empty: a recorded prompt shows by it where they stand (``ask_again``).
    """
    states = {state.tip: state for state in procedures}
    said = [
        _tip_part(f"{n}. {fence.line(tip.text, MAX_HINT_CHARS)}", tip.tip)
        for n, tip in enumerate(tips, 1)
        if tip.kind == HINT_KIND
    ]
    known = [
        _tip_part(
            "\n".join([_render_tip(n, tip, fence), *_render_steps(states.get(tip.tip), fence)]), tip.tip
        )
        for n, tip in enumerate(tips, 1)
        if tip.kind != HINT_KIND
    ]
    heads = [_tip_part(HINTS_HEAD)] if said else []
    return [*heads, *said, _tip_part(TIPS_HEAD if known else ""), *known]


def _tip_part(text: str, tip: str = "") -> MessagePart:
    return MessagePart(kind=PartKind.TIPS, text=text, tip=tip)


def render_tips(tips: Sequence[RetrievedTip], fence: Fence, procedures: Sequence[ProcedureState] = ()) -> str:
    """Return the tips in force as one text (``tip_parts``); "" where there are none."""
    return "\n".join(part.text for part in tip_parts(tips, fence, procedures) if part.text)


def render_news(news: Sequence[str], fence: Fence) -> str:
    """Return what happened without the agent's doing; "" where nothing did."""
    if not news:
        return ""
    told = fence.around("meanwhile", "\n".join(fence.line(line, 400) for line in news))
    return f"Since your last answer something happened that was not your doing:\n{told}\nGo on from the page as it is."


def _render_tip(number: int, tip: RetrievedTip, fence: Fence) -> str:
    parts = [f"{number}. {fence.line(tip.text, 600)}"]
    for word, part in (("when", tip.when), ("do", tip.do), ("before that", tip.before)):
        if part and part not in tip.text:
            parts.append(f"{word}: {fence.line(part, 300)}")
    return " | ".join(parts)


def _render_steps(state: ProcedureState | None, fence: Fence) -> list[str]:
    """Return the steps of a tip that applies, the next one marked; of one given up the reason."""
    if state is None or not state.applies or not state.lines:
        return []
    if state.over:
        return ["   (its steps are done)"]
    lines = [f"   - {fence.line(line, 300)}" for line in state.lines]
    if state.line:
        lines.append(f"   next, step {state.number} of {state.steps}: {fence.line(state.line, 300)}")
    return [*lines, f"   ({fence.line(state.why, 200)})"] if state.why else lines


def render_turn(turn: HistoryEntry, fence: Fence, *, notes: bool = True) -> str:
    """Return a step's action and its result; with ``notes`` those that were read back are shown whole."""
    words = fence.line(turn.words, 240)
    if notes and isinstance(turn.action, ReadNotes) and turn.result.success:
        return f"{words} -> \n{fence.clean(turn.result.output)}"
    result = render_result(turn.result, fence)
    return f"{words} {result}" if result.startswith("= ") else f"{words} -> {result}"


def render_result(result: ActionResult, fence: Fence) -> str:
    """Return an action's result in two lines at most."""
    came = result.effect.value if result.success else f"failed ({result.cause.value or result.effect.value})"
    words = [] if result.effect is Effect.DONE and result.output else [came]
    if result.output:
        words.append(fence.line(result.output, 1000))
    if result.why:
        words.append(fence.line(result.why, 400))
    words += [fence.line(note) for note in result.notes[:3]]
    line = ": ".join(words[:1]) + (f": {'; '.join(words[1:])}" if words[1:] else "")
    if result.alternatives:
        line += f"\n  instead: {'; '.join(fence.line(one) for one in result.alternatives[:_ALTERNATIVES])}"
    return line


def render_history(turns: Iterable[HistoryEntry], fence: Fence, *, notes: bool = False) -> str:
    """Return steps in a line or two each; with ``notes`` those that were read back are shown whole."""
    return "\n".join(
        f"step {turn.step}, at {fence.line(turn.url, 120)}: {render_turn(turn, fence, notes=notes)}"
        for turn in turns
    )


def render_answers(answers: Sequence[tuple[str, str]], fence: Fence) -> str:
    """Return the supervisor's answers to questions; a question may quote the site and is fenced."""
    return "\n".join(
        f"The agent asked:\n{fence.around('question', question)}\nThe person said: {answer!r}"
        for question, answer in answers[-4:]
    )
