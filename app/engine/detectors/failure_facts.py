"""Facts by which failures are alike: the flag that explains a run best, the error, the page and the control.  Pure.

Values that differ from run to run (numbers, ids, quoted text, hosts) are taken out of errors and names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.engine.core.addresses import section
from app.engine.core.text import one_line
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Flag, Label, Severity
from app.engine.detectors.risk import page_template
from app.engine.detectors.runner import ALL_DETECTORS, BY_NAME, evidence_rank

CRASH, LEFT_SITES, GAVE_UP = "crash", "left-sites", "gave-up"
BACK_AND_FORTH = "back-and-forth"
_ENDED_BY = frozenset({CRASH, LEFT_SITES})
"""Detectors that name what ended the run: nothing else explains it better."""
_PROVES_LITTLE = 0.1
"""Prior weight up to which a detector's flag is as common in passed runs: whatever else there is explains better."""
_RANK = {detector.name: rank for rank, detector in enumerate(ALL_DETECTORS)}
GOAL_WORDS = 6
"""Words kept of the beginning of a goal."""
MOST_WORDS = 90
"""Characters kept of an error or a name."""
_HINTED = 3
"""Rank of flags that are no more than a hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureFacts:
    """A failed run in terms that other failures share.

    Attributes:
        detector: of the flag that explains best, "" for a run without any flag.
        error: the error without its values; for other kinds what tells them apart (how it gave up or ended).
        page: template of the address; ``section`` the same with plain words that may be data taken out.
        control: role and name of the control, "" where the kind has none; ``action`` what was done with it.
        other: the second page of two.
        goal: how the goal begins, without its values.
        ending: how it ended, as ``error`` of a run without any flag; is_hint: its flag is no more than a hint.
    """

    run: str
    site: str
    outcome: str
    steps: int
    detector: str = ""
    error: str = ""
    page: str = ""
    section: str = ""
    control: str = ""
    action: str = ""
    other: str = ""
    goal: str = ""
    ending: str = ""
    is_hint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashKind:
    """Crashes of one cause: how their error reads, the cause in words, and whose fault it is."""

    pattern: re.Pattern[str]
    words: str
    label: Label | None


def _crash(pattern: str, words: str, label: Label | None) -> CrashKind:
    return CrashKind(pattern=re.compile(pattern, re.IGNORECASE), words=words, label=label)


CRASH_KINDS = (
    _crash(r"could not find any task config", "no task config was found", Label.HARNESS_FAULT),
    _crash(
        r"context.?length|maximum context|too many tokens|prompt is too long",
        "the prompt was too long for the model",
        Label.HARNESS_FAULT,
    ),
    _crash(
        r"\b(?:internalservererror|ratelimiterror|apiconnectionerror|apitimeouterror|apistatuserror"
        r"|authenticationerror|badrequesterror)\b|overloaded|rate limit",
        "the model's server had an error",
        Label.HARNESS_FAULT,
    ),
    _crash(
        r"net::err_|ns_error_|connection refused|could not connect to server",
        "the site could not be reached",
        Label.ENVIRONMENT_FAULT,
    ),
    _crash(
        r"(?:browser|context|page|target)\S* (?:has been |was )?(?:closed|crashed)|browser disconnected",
        "the browser closed or crashed",
        Label.HARNESS_FAULT,
    ),
    _crash(
        r"page\.goto: timeout|navigation timeout", "the site did not load in time", Label.ENVIRONMENT_FAULT
    ),
)
"""Causes of crashes that are known by their errors; the first that fits counts."""

CLAIMED, GOING_ON, ONE_PAGE, NUMBERS, WORDS = "claimed", "going on", "one page", "numbers", "words"
"""How runs without a flag ended that answered."""
COULD_NOT, ASKED, NOTHING, INFEASIBLE = "could not", "asked", "nothing", "infeasible"
"""Ways of giving up."""

_DONE = (
    r"(?:added|created|changed|updated|set|posted|submitted|sent|deleted|removed|opened|upvoted|downvoted|starred|forked"
    r"|invited|merged|closed|edited|increased|reduced|assigned|drafted|saved|subscribed|filled|placed|ordered|made)"
)
_CLAIM = re.compile(
    r"^\W*(?:done|completed?|all set|success(?:fully)?|finished"
    rf"|{_DONE}\b|(?:your|the) [\w' ]{{1,40}}? (?:has|have) (?:now )?been\b|you.re now\b|showing\b)"
    rf"|(?:^\W*|[.!]\s+)(?:i|i.ve|i have)\s+(?:have\s+)?(?:now\s+|successfully\s+|just\s+)?{_DONE}\b",
    re.IGNORECASE,
)
_GOING_ON = re.compile(
    r"\b(?:i.ll (?:now|next|then)|i will (?:now|next|then)|next,? i.?(?:ll| will)|let me now)\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"[\s\d.,:;%$€£+\-\[\](){}'\"/]+")
_ERROR_PAGE = re.compile(r"(?:Led to|The run began on) (.+?)(?: at '| \(\d|: |$)")
_TAG = re.compile(r"<([\w-]+)")

_GLYPHS = re.compile(r"(?:\\u[ef][0-9a-f]{3}|[\ue000-\uf8ff])\s*")
"""Icons of icon fonts, as characters or as BrowserGym writes them."""
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`")
_ADDRESS = re.compile(r"\b[a-z][\w+.-]*://\S+", re.IGNORECASE)
_HEX = re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_BLANKS = re.compile(r"…(?:\W{0,2}…)+")


def without_values(text: str) -> str:
    """Return an error on one line without quoted values, addresses, ids and numbers, each replaced by ``…``."""
    line = one_line(text, 400)
    for pattern in (_QUOTED, _ADDRESS, _HEX, _DIGITS):
        line = pattern.sub("…", line)
    return one_line(_BLANKS.sub("…", line), MOST_WORDS)


def goal_of(intent: str) -> str:
    """Return how a goal begins, without its values: tasks of one template have the same."""
    words = without_values(intent).split()
    return " ".join(words[:GOAL_WORDS]) if len(words) >= GOAL_WORDS else ""


def control_of(target: str) -> str:
    """Return a target's role and name as ``button 'Save'``, numbers in the name replaced; "" for none."""
    role, _, name = target.strip().partition(" ")
    if not role:
        return ""
    shown = one_line(_DIGITS.sub("…", _GLYPHS.sub("", name)), 60)
    return f"{role} '{shown}'" if shown else f"{role} without a name"


def telling_flag(flags: Mapping[int, Flag]) -> int:
    """Return the number of the flag that explains a failure best, the same whatever the ranking has learnt.

    What ended the run comes first, then what stood in its way, then how it ended, then hints. Of one detector's flags
    the most certain counts.
    """
    return min(flags, key=lambda row: (_explains(flags[row]), row))


def _explains(flag: Flag) -> tuple[int, int, float, int]:
    rank = evidence_rank(flag) + 1
    if flag.detector in _ENDED_BY:
        rank = 0
    elif rank < _HINTED and is_weak(flag):
        rank = _HINTED
    return (rank, _RANK.get(flag.detector, len(_RANK)), -flag.confidence, flag.step)


def is_weak(flag: Flag) -> bool:
    """Whether a flag alone says little about a failure: a hint, or of a detector that many passed runs have too."""
    known = BY_NAME.get(flag.detector)
    return flag.severity is Severity.HINT or (known is not None and known.prior.fired <= _PROVES_LITTLE)


def speaks_of_a_page(detector: str) -> bool:
    """Whether failures of this kind are about a control of the page."""
    known = BY_NAME.get(detector)
    return detector != CRASH and (known is None or known.explains == "hindrance")


def error_of(flag: Flag | None, outcome: str, error: str, answer: str, pages: int) -> str:
    """Return what tells failures of one detector apart: the error without values, or how the run gave up or ended."""
    if flag is None:
        return ending_of(outcome, answer, pages)
    evidence = flag.evidence
    match flag.detector:
        case "crash":
            whole = f"{error} {evidence.get('error', '')}"
            known = next((kind for kind in CRASH_KINDS if kind.pattern.search(whole)), None)
            return known.words if known else without_values(str(evidence.get("error", error)))
        case "gave-up":
            return _way_of_giving_up(flag.message)
        case "error-page":
            found = _ERROR_PAGE.match(flag.message)
            return one_line(_DIGITS.sub("…", found[1]), MOST_WORDS) if found else ""
        case "covered-element":
            tag = _TAG.match(str(evidence.get("over", "")))
            return tag[1] if tag else ""
        case _:
            return without_values(str(evidence.get("error", "")))


def place_of(url: str) -> tuple[str, str]:
    """Return the template of an address, and its section; "" for a page that is none."""
    page = page_template(url) if url else ""
    return page, section(page) if page else ""


def _way_of_giving_up(message: str) -> str:
    for begin, way in (
        ("Gave up", INFEASIBLE), ("Asked", ASKED), ("Answered that there is nothing", NOTHING), ("Answered", COULD_NOT),
    ):  # fmt: skip
        if message.startswith(begin):
            return way
    return ""


def ending_of(outcome: str, answer: str, pages: int) -> str:
    """Return how a run ended, by its outcome and the kind of its answer."""
    if outcome != Outcome.ANSWERED.value or not answer.strip():
        return outcome
    if _GOING_ON.search(answer):
        return GOING_ON
    if _CLAIM.search(answer):
        return CLAIMED
    if pages <= 1:
        return ONE_PAGE
    return NUMBERS if _NUMBERS.fullmatch(answer) and _DIGITS.search(answer) else WORDS
