"""What is wrong with a run by the signs it gives, and what is to be done about it.  Pure functions.

Most of what breaks is seen to where it breaks: the hands have limits of their own, and so has the model's client.  So a
person is told early (within ten seconds), and something is done late, where those limits did not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.engine.supervision import RunState, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds.

    Attributes:
        every: between two looks of the watchdog.
        page, model: of silence that are told.  page_cut: of silence after which the browser is opened anew.
        model_first, model_idle: of silence of a model after which the call is cut short: before its answer begins, and
            within it.
        looking, acting, thinking: that a stage may take in all; a model that goes on answering may think for longer.
        writing: that a step may take to be written, then it is told.
        grace: that the hands get to see for themselves that their browser is gone.
        slept: between two looks, beyond what was meant, after which the machine counts as having slept.
    """

    every: float = 2.0
    page: float = 5.0
    page_cut: float = 20.0
    model: float = 7.0
    model_first: float = 60.0
    model_idle: float = 15.0
    looking: float = 60.0
    acting: float = 75.0
    thinking: float = 120.0
    writing: float = 6.0
    mending: float = 180.0
    grace: float = 4.0
    slept: float = 10.0


USUAL = Limits()


class Ill(StrEnum):
    """What can be wrong."""

    SLEPT = "slept"
    BROWSER = "browser"
    DISK = "disk"
    PAGE = "page"
    MODEL = "model"
    STUCK = "stuck"


class Cure(StrEnum):
    """What is done about it."""

    TELL = "tell"  # a person sees it
    MEND = "mend"  # the browser is brought back while the loop does without it
    CUT = "cut"  # what the loop waits for is cut short
    REOPEN = "reopen"  # the same, and the browser is ended by force
    LOOK = "look"  # the page is looked at again before anything is done
    HOLD = "hold"  # nothing is done on the page until a person, or time, has mended it


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What is to be seen of a run at one moment; silences and stages in seconds that a sleep does not count in.

    Attributes:
        stage_seconds: since the stage was entered.
        broken: what browser or page say is wrong with them; ``broken_seconds`` since when.
        page_silence: since the page in front answered last.
        model_silence: since the model gave a sign of life, ``None`` while none is asked.
        model_answers: its answer has begun.
        disk: why nothing can be written, "" where it can.
        slept: that the machine (or this program) stood still just now.
    """

    state: RunState
    stage: Stage
    stage_seconds: float = 0.0
    broken: str = ""
    broken_seconds: float = 0.0
    page_silence: float = 0.0
    model_silence: float | None = None
    model_answers: bool = False
    disk: str = ""
    slept: float = 0.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, in a sentence, and what is to be done."""

    ill: Ill
    cure: Cure
    why: str


def diagnose(signs: Signs, limits: Limits = USUAL) -> Finding | None:
    """The weightiest of what is wrong; ``None`` where all is well, or the run is not going."""
    if not signs.state.alive or signs.state in (RunState.QUEUED, RunState.STARTING):
        return None
    if signs.slept > limits.slept:
        return Finding(Ill.SLEPT, Cure.LOOK, f"the machine stood still for {_span(signs.slept)}")
    if signs.disk:
        return Finding(Ill.DISK, Cure.HOLD, signs.disk)
    if signs.state is RunState.MENDING:
        return _stuck(signs, limits.mending, "bringing the browser back takes", Cure.TELL)
    return _of_the_browser(signs, limits) or _of_the_page(signs, limits) or _of_the_stage(signs, limits)


def _of_the_browser(signs: Signs, limits: Limits) -> Finding | None:
    if not signs.broken:
        return None
    at_work = not signs.state.held and signs.stage in (Stage.LOOKING, Stage.ACTING)
    cure = Cure.TELL if at_work and signs.broken_seconds < limits.grace else Cure.MEND
    return Finding(Ill.BROWSER, cure, signs.broken)


def _of_the_page(signs: Signs, limits: Limits) -> Finding | None:
    if signs.page_silence < limits.page:
        return None
    why = f"the page has not answered for {signs.page_silence:.0f} s"
    waited_for = signs.stage in (Stage.LOOKING, Stage.ACTING) and not signs.state.held
    if signs.page_silence >= limits.page_cut and waited_for:
        return Finding(Ill.PAGE, Cure.REOPEN, why)
    return Finding(Ill.PAGE, Cure.TELL, why)


def _of_the_stage(signs: Signs, limits: Limits) -> Finding | None:
    if signs.state.held:
        return None
    match signs.stage:
        case Stage.THINKING:
            return _of_the_model(signs, limits)
        case Stage.LOOKING:
            return _stuck(signs, limits.looking, "looking at the page has taken", Cure.REOPEN)
        case Stage.ACTING:
            return _stuck(signs, limits.acting, "the action has taken", Cure.REOPEN)
        case Stage.WRITING:
            return _stuck(signs, limits.writing, "writing the step down has taken", Cure.TELL)
        case _:
            return None


def _of_the_model(signs: Signs, limits: Limits) -> Finding | None:
    silence = signs.model_silence
    if silence is None:
        return _stuck(signs, limits.thinking, "thinking has taken", Cure.CUT)
    if silence < limits.model:
        return None
    most = limits.model_idle if signs.model_answers else limits.model_first
    said = "fell silent in its answer" if signs.model_answers else "has not said a word"
    cure = Cure.CUT if silence >= most else Cure.TELL
    return Finding(Ill.MODEL, cure, f"the model {said} for {silence:.0f} s")


def _stuck(signs: Signs, most: float, what: str, cure: Cure) -> Finding | None:
    if signs.stage_seconds < most:
        return None
    return Finding(Ill.STUCK, cure, f"{what} {signs.stage_seconds:.0f} s")


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
