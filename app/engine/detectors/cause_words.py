"""Words of the sentences that say why a run failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.api.review_api import AnswerPlace, AnswerTerm
from app.engine.core.answer_terms import FoldedPage, SoughtTerm, answer_terms, folded_words
from app.engine.core.past_actions import control_name, page_name, past_words, short_address
from app.engine.core.text import first_line, one_line, quoted
from app.engine.core.trajectory import Outcome, Step
from app.engine.core.verdicts import Flag
from app.engine.detectors.base import SINCE
from app.engine.detectors.cause_material import CauseMaterial

_OFFERS_MORE = re.compile(
    r"\b(?:would you like|do you want|should i|shall i|let me know (?:if|which|whether))\b", re.IGNORECASE
)
_CRASH_PREFIX = "Exception uncaught by agent or environment"


def crash_words(error: str) -> str:
    """Return the error of a crash on one line, without the wrapper's first line and a dump of its call."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith(_CRASH_PREFIX):
        lines = lines[1:]
    told = " ".join(lines[:2]) if len(lines) > 1 and lines[0].endswith(":") else first_line("\n".join(lines))
    if "task config" in told:
        return f"no task config was found ({one_line(told, 160)})"
    return one_line(told or "the error was not recorded", 200)


def counted(number: int, thing: str) -> str:
    """Return a number with its noun."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def short_host(url: str) -> str:
    """Return host and path of an address."""
    return one_line(url.partition("://")[2].partition("?")[0].rstrip("/"), 80)


def mismatch_words(material: CauseMaterial) -> str:
    """Say what the answer has and what was expected, and where its first number stands."""
    run, wanted = material.run, material.wanted
    if not wanted or not (run.answer or "").strip() or run.outcome is not Outcome.ANSWERED:
        return ""
    answer = FoldedPage(run.answer or "")
    lacking = [value for value in wanted if not any(_has(answer, one) for one in value.split(" |OR| "))]
    if not lacking:
        return ""
    if len(wanted) > 1 and len(lacking) < len(wanted):
        have = f"{number_word(len(wanted) - len(lacking))} of {number_word(len(wanted))} expected things"
        return f"The answer has {have} and lacks {listed(lacking[:3])}"
    says = one_line((run.answer or "").strip(" '\"`"), 80)
    told = f"The answer says {says if _is_number(says) else quoted(says, 80)} where {listed(lacking[:2])} was expected"
    lost = [term.text for term in material.terms if is_lost(term)]
    if lost:
        return f"{told}; {listed(lost[:3])} {stand_or_stands(lost)} on no page the agent visited"
    place = next((found for term in material.terms if (found := _telling_place(term)) is not None), None)
    if place is not None:
        return f"{told}; it read {quoted(place.text, 60)} on step {place.step}'s page"
    return told


def _telling_place(term: AnswerTerm) -> AnswerPlace | None:
    """Return where the agent may have read a term; ``None`` where it is too short to tell, as 7 in a date."""
    if not term.places or term.in_task or term.kind == "words":
        return None
    size = sum(map(str.isalnum, term.text))
    alone = (
        place for place in term.places if size > 1 and folded_words(place.text) == folded_words(term.text)
    )
    return next(alone, term.places[0] if size > 2 else None)


def offers_more(flag: Flag) -> bool:
    """Whether a flag says no more than that the answer ends with an offer, as most answers do."""
    return _OFFERS_MORE.search(str(flag.evidence.get("said", ""))) is not None


def circle_words(flag: Flag, step: Step) -> str:
    """Say what was repeated, how often, and from which step on."""
    since, often = since_of(flag), f"{number_word(times_of(flag))} times"
    match flag.detector:
        case "no-effect":
            return f"It {past_words(step)} {often} from step {since} on and nothing changed"
        case "state-action-loop" | "repeated-action":
            return f"It {past_words(step)} {often} from step {since} on, on {page_name(step)}"
        case "action-cycle":
            same = number_word(int(flag.evidence.get("period", 2)))
            return (
                f"It repeated the same {same} actions {often} from step {since} on, beginning with {control_name(step)}"
                f" on {page_name(step)}"
            )
        case "back-and-forth":
            return f"It went back and forth between {page_name(step)} and another page {often} from step {since} on"
        case _:
            return f"It came back to {short_address(str(flag.evidence.get('url', '')))} {often}"


def times_of(flag: Flag) -> int:
    """Return how often a flag's problem occurred."""
    for name in ("times", "rounds"):
        value = flag.evidence.get(name)
        if isinstance(value, int):
            return value
    return 1


def since_of(flag: Flag) -> int:
    """Return the step at which a flag's problem began."""
    value = flag.evidence.get(SINCE, flag.step)
    return max(0, min(int(value), flag.step)) if isinstance(value, int | float) else flag.step


def _has(answer: FoldedPage, value: str) -> bool:
    if value.endswith("…"):  # a long value is shown cut
        value = value[:-1].rsplit(" ", 1)[0]
    terms = answer_terms(value)
    if not terms:
        return answer.holds(SoughtTerm(text=value, kind="words", phrases=(folded_words(value),)))
    return all(answer.holds(term) for term in terms)


def is_lost(term: AnswerTerm) -> bool:
    """Whether a number of the answer stands neither on a visited page nor in the task."""
    return term.kind == "number" and not term.places and not term.in_task


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[$€£]?\d[\d.,]*%?", text) is not None


def listed(values: Sequence[str]) -> str:
    """Return values for a sentence: numbers as they are, others in quotes."""
    shown = [value if _is_number(value) else quoted(value.replace(" |OR| ", " or "), 60) for value in values]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 2 else shown)


def stand_or_stands(values: Sequence[str]) -> str:
    """Return the verb for one value or several."""
    return "stands" if len(values[:3]) == 1 else "stand"


def number_word(number: int) -> str:
    """Return a number up to ten as a word."""
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if 0 <= number < len(words) else str(number)


def as_sentence(text: str) -> str:
    """Return a text on one line that begins with a capital and ends with a full stop; "" stays empty."""
    text = one_line(text, 400)
    if not text:
        return ""
    text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…", ".'")) else f"{text}."
