"""The dialect ``sitelore``: the evaluators of suites of our own form.

    answer   the answer names one of the accepted things and no other of its kind; case, units and order do not count
    page     path and query of the page in front match a regular expression as a whole
    state    each check of the site's state command found what it expects after the run

Accepted answers and the expression stand in the suite, or come from the state command before the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from app.engine.core.evaluation.run_evidence import RunEvidence, SiteState
from app.engine.core.evaluation.suite import Evaluator, SuiteTask
from app.engine.core.evaluation.task_score import SubCheck
from app.engine.evaluation.dialects.answer_kinds import KINDS, is_right
from app.engine.evaluation.dialects.checking import (
    CheckedPart,
    EvaluatorOptions,
    JudgeReplies,
    compared,
    shown,
    single,
    undecided,
)
from app.engine.evaluation.dialects.page_pattern import full_match
from app.engine.evaluation.dialects.score_range import product, range_of
from app.errors import InputError


class SiteloreDialect:
    """Comparisons of one task with the evidence of one run."""

    name = "sitelore"

    def __init__(
        self, task: SuiteTask, evidence: RunEvidence, options: EvaluatorOptions, replies: JudgeReplies
    ) -> None:
        del options, replies
        self._oracle, self._evidence = task.oracle, evidence

    def part(self, evaluator: str) -> CheckedPart | None:
        """Return the outcome of one evaluator, ``None`` for one that this dialect does not have."""
        match evaluator:
            case Evaluator.ANSWER:
                return single(self._answer())
            case Evaluator.PAGE:
                return single(self._page())
            case Evaluator.STATE:
                return self._state()
            case _:
                return None

    def _answer(self) -> SubCheck:
        kind = self._oracle.answer_kind or "text"
        if kind not in KINDS:
            why = f"the kind of answer {shown(kind)!r} is none of {', '.join(KINDS)}"
            return undecided(Evaluator.ANSWER, "an answer", why)
        accepted = self._oracle.accepted or _texts(_said(self._evidence.before, "answer"))
        if not accepted:
            return undecided(Evaluator.ANSWER, "an answer", _nothing_said(self._evidence.before, "answer"))
        joined = (", " if kind == "list" else " or ").join(accepted)
        expected = f"the answer is the {kind} {shown(joined)}"
        if self._evidence.infeasible:
            said = self._evidence.answer or ""
            return compared(Evaluator.ANSWER, expected, said, 0.0, "the run reported that it can't be done")
        if self._evidence.answer is None:
            return compared(Evaluator.ANSWER, expected, "", 0.0, "the run said nothing")
        try:
            right = is_right(kind, self._evidence.answer, accepted)
        except InputError as error:
            return undecided(Evaluator.ANSWER, expected, error.what)
        return compared(
            Evaluator.ANSWER, expected, self._evidence.answer, float(right), "the answer is another"
        )

    def _page(self) -> SubCheck:
        given = self._oracle.page or _said(self._evidence.before, "page")
        if not isinstance(given, str) or not given:
            return undecided(Evaluator.PAGE, "a page", _nothing_said(self._evidence.before, "page"))
        expected = f"path and query of the page in front match {shown(given)}"
        url = self._evidence.url
        if url is None:
            why = next(iter(self._evidence.notes), "no page in front was recorded")
            return undecided(Evaluator.PAGE, expected, why)
        try:
            parts = urlsplit(url)
            path = unquote(parts.path + (f"?{parts.query}" if parts.query else ""))
            matched = full_match(given, path)
        except InputError as error:
            return undecided(Evaluator.PAGE, expected, error.what)
        except ValueError:
            return compared(Evaluator.PAGE, expected, url, 0.0, "the address in front can't be read")
        return compared(Evaluator.PAGE, expected, path, float(matched), "another page is in front")

    def _state(self) -> CheckedPart:
        checks: list[SubCheck] = []
        for state in self._evidence.after:
            checks += _state_checks(state)
        if not checks:
            checks = [undecided(Evaluator.STATE, "a state of the site", "the site's state was not recorded")]
        return CheckedPart(checks=tuple(checks), score=product([range_of(check.score) for check in checks]))


def _state_checks(state: SiteState) -> list[SubCheck]:
    """Return one comparison for each check that the state command of a site made."""
    listed = state.output.get("checks")
    if state.why or not isinstance(listed, list):
        why = state.why or f"the state command of {state.site} lists no checks"
        return [undecided(Evaluator.STATE, f"the state of {state.site}", why)]
    return [_state_check(state.site, one) for one in cast("list[object]", listed)]


def _state_check(site: str, given: object) -> SubCheck:
    check = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    name = shown(f"{site}: {check.get('name', 'a check')}")
    if "expected" not in check or "found" not in check:
        return undecided(Evaluator.STATE, name, "the state command does not say what it expects and found")
    wanted, found = check["expected"], check["found"]
    # True is not 1 here, as in JSON.
    same = wanted == found and isinstance(wanted, bool) == isinstance(found, bool)
    expected = shown(f"{name} is {wanted!r}")
    return compared(Evaluator.STATE, expected, repr(found), float(same), "it is something else")


def _said(states: Sequence[SiteState], key: str) -> object:
    """Return what the state commands say of a key; the first site that says something counts."""
    return next((state.output[key] for state in states if key in state.output and not state.why), None)


def _texts(said: object) -> tuple[str, ...]:
    """Return accepted answers as texts: a list's items, or a single one."""
    items = cast("list[object]", said) if isinstance(said, list) else [said]
    return tuple(
        str(item) for item in items if isinstance(item, str | int | float) and not isinstance(item, bool)
    )


def _nothing_said(states: Sequence[SiteState], key: str) -> str:
    """Return why the right answer or page is not known."""
    broken = next((state.why for state in states if state.why), "")
    return broken or f"neither the suite nor a site's state command says which {key} is right"
