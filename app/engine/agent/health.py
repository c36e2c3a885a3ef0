"""Health rules of a run: which fault its signals show, and which remedy follows.  Pure functions.

Most faults are handled where they occur: the executor and the model client have limits of their own.  So a person is
notified early (within ten seconds), and a remedy comes late, where those limits did not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.engine.core.supervision import RunState, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthLimits:
    """Limits of the health rules, in seconds.

    Attributes:
        every: between two checks of the watchdog.
        page, model: silence after which a person is notified.  page_cut: silence after which the browser is
            restarted.
        model_first, model_idle: silence of a model after which its call is cancelled: before its answer begins,
            and within
            it.
        looking, acting, thinking: longest duration of a stage; a model that keeps answering may think longer.
        writing: longest time to write a step before a person is notified.
        mending: longest time to bring the browser back before a person is notified.
        grace: time that the executor has to notice by itself that its browser is gone.
        slept: delay between two checks, beyond the planned one, after which the machine counts as having slept.
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
    recovering: float = 180.0
    grace: float = 4.0
    slept: float = 10.0


DEFAULT_HEALTH_LIMITS = HealthLimits()


class HealthFault(StrEnum):
    """Kinds of faults."""

    SLEPT = "slept"
    BROWSER = "browser"
    DISK = "disk"
    PAGE = "page"
    MODEL = "model"
    STUCK = "stuck"


class Remedy(StrEnum):
    """Kinds of remedies."""

    NOTIFY = "tell"  # notify a person
    RECOVER = "mend"  # reopen the browser while the loop does not use it
    INTERRUPT = "cut"  # cancel the loop's current operation
    RESTART_BROWSER = "reopen"  # the same, and kill the browser
    LOOK_AGAIN = "look"  # look at the page again before the next action
    BLOCK_ACTIONS = "hold"  # block actions until the fault is over


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSignals:
    """Signals of a run at one moment; durations in seconds, without time the machine slept.

    Attributes:
        stage_seconds: since the stage began.
        broken: the fault that browser or page report themselves; ``broken_seconds`` since when.
        page_silence: since the page in front last answered.
        model_silence: since the model last showed activity, ``None`` while no call is open.
        model_answers: its answer has begun.
        disk: why nothing can be written, "" where it can.
        slept: how long the machine (or this program) has just been suspended.
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
class HealthFinding:
    """A fault with its remedy, and the reason in a sentence."""

    fault: HealthFault
    remedy: Remedy
    why: str


def diagnose(signs: HealthSignals, limits: HealthLimits = DEFAULT_HEALTH_LIMITS) -> HealthFinding | None:
    """Return the gravest fault; ``None`` where all is well or the run is not active."""
    if not signs.state.alive or signs.state in (RunState.QUEUED, RunState.STARTING):
        return None
    if signs.slept > limits.slept:
        return HealthFinding(
            HealthFault.SLEPT,
            Remedy.LOOK_AGAIN,
            f"the machine was suspended for {_duration_text(signs.slept)}",
        )
    if signs.disk:
        return HealthFinding(HealthFault.DISK, Remedy.BLOCK_ACTIONS, signs.disk)
    if signs.state is RunState.RECOVERING:
        return _stuck(signs, limits.recovering, "restarting the browser has taken", Remedy.NOTIFY)
    return _browser_finding(signs, limits) or _page_finding(signs, limits) or _stage_finding(signs, limits)


def _browser_finding(signs: HealthSignals, limits: HealthLimits) -> HealthFinding | None:
    if not signs.broken:
        return None
    at_work = not signs.state.held and signs.stage in (Stage.LOOKING, Stage.ACTING)
    cure = Remedy.NOTIFY if at_work and signs.broken_seconds < limits.grace else Remedy.RECOVER
    return HealthFinding(HealthFault.BROWSER, cure, signs.broken)


def _page_finding(signs: HealthSignals, limits: HealthLimits) -> HealthFinding | None:
    if signs.page_silence < limits.page:
        return None
    why = f"the page has not answered for {signs.page_silence:.0f} s"
    waited_for = signs.stage in (Stage.LOOKING, Stage.ACTING) and not signs.state.held
    if signs.page_silence >= limits.page_cut and waited_for:
        return HealthFinding(HealthFault.PAGE, Remedy.RESTART_BROWSER, why)
    return HealthFinding(HealthFault.PAGE, Remedy.NOTIFY, why)


def _stage_finding(signs: HealthSignals, limits: HealthLimits) -> HealthFinding | None:
    if signs.state.held:
        return None
    match signs.stage:
        case Stage.THINKING:
            return _model_finding(signs, limits)
        case Stage.LOOKING:
            return _stuck(signs, limits.looking, "looking at the page has taken", Remedy.RESTART_BROWSER)
        case Stage.ACTING:
            return _stuck(signs, limits.acting, "the action has taken", Remedy.RESTART_BROWSER)
        case Stage.WRITING:
            return _stuck(signs, limits.writing, "writing the step has taken", Remedy.NOTIFY)
        case _:
            return None


def _model_finding(signs: HealthSignals, limits: HealthLimits) -> HealthFinding | None:
    silence = signs.model_silence
    if silence is None:
        return _stuck(signs, limits.thinking, "thinking has taken", Remedy.INTERRUPT)
    if silence < limits.model:
        return None
    most = limits.model_idle if signs.model_answers else limits.model_first
    said = "stopped in its answer" if signs.model_answers else "has not answered"
    cure = Remedy.INTERRUPT if silence >= most else Remedy.NOTIFY
    return HealthFinding(HealthFault.MODEL, cure, f"the model {said} for {silence:.0f} s")


def _stuck(signs: HealthSignals, most: float, what: str, cure: Remedy) -> HealthFinding | None:
    if signs.stage_seconds < most:
        return None
    return HealthFinding(HealthFault.STUCK, cure, f"{what} {signs.stage_seconds:.0f} s")


def _duration_text(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
