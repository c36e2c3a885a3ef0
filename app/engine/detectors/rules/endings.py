"""How a run ended: step limit, crash, off the allowed sites, gave up, no answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.engine.core.addresses import is_on_any_host, split_address
from app.engine.core.text import quoted
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import (
    FINAL_ACTIONS,
    Detector,
    Prior,
    RunEnding,
    action_text,
)


class _EndingRule(Detector):
    """A rule about the ending: it flags the last step; by then there is nothing left to pause."""

    fires_during_run = False
    last = 0
    seen = 0

    def see(self, step: Step) -> Iterable[Flag]:
        self.last, self.seen = step.index, self.seen + 1
        return ()


class StepLimit(_EndingRule):
    name = "step-limit"
    severity = Severity.ERROR
    summary = "All allowed steps were used up without an answer."
    prior = Prior(3.2)
    explains = "nothing"
    _flagged = False

    def see(self, step: Step) -> Iterable[Flag]:
        super().see(step)
        limit = self.context.step_limit
        closing = step.action is not None and step.action.kind in FINAL_ACTIONS
        if limit is not None and self.seen >= limit and not closing and not self._flagged:
            yield self._tell()

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        if ending.at_step_limit and not self._flagged:
            yield self._tell()

    def _tell(self) -> Flag:
        self._flagged = True
        return self.flag(
            self.last, 0.97, f"Used all {self.seen} steps without an answer", {"steps": self.seen}
        )


_CRASH_PREFIX = "Exception uncaught by agent or environment"
"""BrowserGym's first line above the error itself."""


class Crash(_EndingRule):
    """The run crashed with an error; often not the agent's doing, so other evidence names the step."""

    name = "crash"
    severity = Severity.ERROR
    summary = "The run crashed with an error."
    prior = Prior(4.0)
    explains = "nothing"

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        if ending.crash:
            lines = [line.strip() for line in ending.crash.splitlines() if line.strip()]
            told = " ".join(
                lines[1:3] if len(lines) > 1 and lines[0].startswith(_CRASH_PREFIX) else lines[:1]
            )
            when = f"after {self.seen} steps" if self.seen else "before the first step"
            yield self.flag(
                self.last,
                0.99,
                f"The run crashed {when}: {quoted(told, 160)}",
                {"steps": self.seen, "error": told[:300]},
            )


class LeftSites(Detector):
    name = "left-sites"
    severity = Severity.ERROR
    summary = "The agent went to a site that is not part of the task."
    prior = Prior(3.5)
    _before: Step | None = None
    _page = ""
    _flagged = False
    _handed = False

    def see(self, step: Step) -> Iterable[Flag]:
        if not self._handed:  # otherwise a person navigated there
            yield from self._look(step)
        self._before, self._handed = step, False

    def see_handover(self, page: Step) -> Iterable[Flag]:
        yield from self._look(page)
        self._handed = True

    def see_last(self, page: Step) -> Iterable[Flag]:
        self._page = page.url
        yield from self._look(page)

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        if ending.left_sites and not self._flagged:
            yield self._tell(self._page)

    def _look(self, step: Step) -> Iterable[Flag]:
        allowed = self.context.allowed_hosts
        if allowed is None or self._flagged:
            return
        if split_address(step.url).scheme not in ("http", "https"):
            return
        if not is_on_any_host(step.url, allowed):
            yield self._tell(step.url)

    def _tell(self, url: str) -> Flag:
        self._flagged = True
        cause = self._before
        where = f" to {url[:120]}" if url.startswith("http") else ""
        how = f" with: {action_text(cause)}" if cause else ""
        at = cause.index if cause else 0
        return self.flag(at, 0.99, f"Left the allowed sites{where}{how}", {"url": url})


_INABILITY = re.compile(
    r"\b(?:(?:i|we)(?: am|'m| was| were| have been)?"
    r" (?:could not|couldn't|cannot|can't|can not|was not able|unable|not able)"
    r"|(?:could not|couldn't|cannot|can't|can not) be"
    r" (?:found|determined|completed|located|identified|verified|retrieved)"
    r"|unable to|not able to|not possible to|impossible to"
    r"|(?:is|are|was|were) not (?:available|accessible) (?:on|in|from)"
    r"|(?:did not|didn't) (?:find|create|add|change|delete|post)|not feasible|infeasible)\b",
    re.IGNORECASE,
)
_EMPTY_ANSWER = re.compile(
    r"\W*(?:n/?a|none|unknown|not found|no (?:results?|answer|information|data)(?: found)?)\W*", re.IGNORECASE
)


_ASKS_BACK = re.compile(
    r"\b(?:do you want me to|would you like me to|should i|shall i|which (?:one )?(?:should|would|do) "
    r"|(?:please|can you|could you) (?:provide|specify|clarify|confirm|log in|grant))\b[^?\n]*\??",
    re.IGNORECASE,
)


ASKED = "asked"
"""Evidence key of a run that asked the user a question, mostly a polite one after the work."""


class GaveUp(_EndingRule):
    name = "gave-up"
    severity = Severity.WARNING
    summary = "The agent reported the task as infeasible, said that it could not do it, or asked the user a question."
    prior = Prior(0.2)
    explains = "ending"
    version = 2

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        if ending.infeasible is not None:
            reason = f": {quoted(ending.infeasible, 120)}" if ending.infeasible.strip() else ""
            yield self.flag(
                self.last, 0.6, f"Gave up as infeasible{reason}", {"said": ending.infeasible[:300]}
            )
        elif ending.answer:
            answer = ending.answer[:20_000].replace("’", "'")
            if (found := _INABILITY.search(answer)) is not None:
                sentence = max(answer.rfind(mark, 0, found.start()) for mark in (". ", "! ", "? ", "\n")) + 1
                told = f"Answered that it could not: {quoted(answer[sentence:], 120)}"
                yield self.flag(self.last, 0.55, told, {"said": found.group(0)})
            elif (found := _ASKS_BACK.search(answer)) is not None:
                told = f"Asked the user: {quoted(found.group(0), 120)}"
                said: dict[str, str | int | float] = {"said": found.group(0)[:300], ASKED: 1}
                yield self.flag(self.last, 0.5, told, said, Severity.HINT)
            elif _EMPTY_ANSWER.fullmatch(answer):
                told = f"Answered that there is nothing: {quoted(ending.answer)}"
                yield self.flag(self.last, 0.5, told, {"said": ending.answer[:300]})


class NoAnswer(_EndingRule):
    name = "no-answer"
    severity = Severity.WARNING
    summary = "The agent ended the run without telling the user anything."
    prior = Prior(1.5)
    explains = "ending"
    _wordless = False

    def see(self, step: Step) -> Iterable[Flag]:
        # Some programs end a run by a mark that has no place for an answer.
        self._wordless = (
            step.action is not None and step.action.kind in FINAL_ACTIONS and not step.action.args
        )
        return super().see(step)

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        cut_off = ending.crash or ending.at_step_limit or ending.left_sites
        if (
            cut_off
            or (ending.answer is None and self._wordless)
            or ending.infeasible is not None
            or (ending.answer or "").strip()
        ):
            return
        what = "Ended without an answer" if ending.answer is None else "The answer is empty"
        yield self.flag(self.last, 0.8, what, {"steps": self.seen})
