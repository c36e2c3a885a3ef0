"""The dialect ``webarena``: the published evaluators of WebArena, with their quirks.

Evaluators, and the comparisons within each, are multiplied.  WebChoreArena's variant overrides four rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.evaluation.helper_calls import place_of
from app.engine.core.evaluation.judge_question import JudgeAsks, JudgeQuestion
from app.engine.core.evaluation.run_evidence import EvidenceSource, RunEvidence, TargetEvidence
from app.engine.core.evaluation.suite import Evaluator, HtmlTarget, SuiteTask
from app.engine.core.evaluation.task_score import SubCheck
from app.engine.evaluation.dialects import address_rules, answer_rules
from app.engine.evaluation.dialects.checking import (
    CheckedPart,
    EvaluatorOptions,
    JudgeReplies,
    compared,
    known_bases,
    shown,
    single,
    together,
    unbound_name,
    undecided,
    with_bases,
)
from app.engine.evaluation.dialects.score_range import ScoreRange, best, product, range_of
from app.errors import InputError

UNACHIEVABLE = "N/A"
"""Answer to a task that can't be done."""
_SAID_NOTHING = "the run said nothing"
_ANOTHER = "the answer is another"


class WebArenaDialect:
    """Comparisons of one task with the evidence of one run."""

    name = "webarena"

    def __init__(
        self, task: SuiteTask, evidence: RunEvidence, options: EvaluatorOptions, replies: JudgeReplies
    ) -> None:
        self._task, self._oracle, self._evidence = task, task.oracle, evidence
        self._options, self._replies = options, replies
        self._known_bases = known_bases(options.bases)
        said = evidence.answer or ""
        self._answer = UNACHIEVABLE if evidence.infeasible and options.infeasible_is_na else said

    def part(self, evaluator: str) -> CheckedPart | None:
        """Return the outcome of one evaluator, ``None`` for one that this dialect does not have."""
        match evaluator:
            case Evaluator.STRING:
                return self._string()
            case Evaluator.URL:
                return single(self._url())
            case Evaluator.HTML:
                return self._html()
            case _:
                return None

    # rules that WebChoreArena has otherwise

    def _combined(self, scores: Sequence[ScoreRange]) -> ScoreRange:
        """Return the score of several required texts."""
        return product(scores)

    def _includes(self, reference: str, answer: str, *, tokenise: bool = False) -> float:
        return answer_rules.must_include(reference, answer, tokenise=tokenise)

    def _fuzzy_references(self) -> Sequence[str]:
        """Return the reference answers that a judge is asked about, one question each."""
        return self._oracle.fuzzy_match

    def _address_matches(self, address: str) -> float:
        return address_rules.matches(self._bound(self._oracle.url), address)

    def _address_expected(self) -> str:
        return self._oracle.url

    def _alternatives(self, target: HtmlTarget) -> Sequence[HtmlTarget]:
        """Return the alternatives of a target that count."""
        del target
        return ()

    # string_match

    def _string(self) -> CheckedPart:
        oracle, answer = self._oracle, answer_rules.clean_answer(self._answer)
        parts: list[CheckedPart] = []
        if oracle.exact_match is not None:
            score = answer_rules.exact_match(oracle.exact_match, answer)
            parts.append(single(self._said(f"the answer is {oracle.exact_match!r}", score, _ANOTHER)))
        if oracle.must_include:
            parts.append(self._must_include(oracle.must_include, answer))
        parts += [self._fuzzy(reference, answer) for reference in self._fuzzy_references()]
        if oracle.unachievable:
            return self._unachievable(parts, answer)
        if not parts:
            return single(
                undecided(Evaluator.STRING, "a reference answer", "the task has no reference answer")
            )
        return together(parts)

    def _must_include(self, references: Sequence[str], answer: str) -> CheckedPart:
        alone = len(references) == 1
        checks = tuple(
            self._said(
                f"the answer includes {reference!r}"
                + (", as a word" if alone and len(reference) == 1 else ""),
                self._includes(reference, answer, tokenise=alone),
            )
            for reference in references
        )
        return CheckedPart(checks=checks, score=self._combined([range_of(check.score) for check in checks]))

    def _said(self, expected: str, score: float, why: str = "it is not in the answer") -> SubCheck:
        return compared(
            Evaluator.STRING, expected, self._answer, score, why if self._answer else _SAID_NOTHING
        )

    def _fuzzy(self, reference: str, answer: str) -> CheckedPart:
        question = JudgeQuestion(
            asks=JudgeAsks.SAME_MEANING, intent=self._task.intent, reference=reference, answer=answer
        )
        return self._judged(question, f"a judge finds that the answer means {shown(reference)!r}")

    def _unachievable(self, before: Sequence[CheckedPart], answer: str) -> CheckedPart:
        """Return the outcome where the task can't be done: the answer is "N/A", or gives the right reason.

        As published, the reason takes the place of all other comparisons of the answer.
        """
        score = answer_rules.exact_match(UNACHIEVABLE, answer)
        exact = single(self._said("the answer is 'N/A'", score, _ANOTHER))
        whole = together([*before, exact])
        if whole.score.decided == 1:
            return whole
        question = JudgeQuestion(
            asks=JudgeAsks.SAME_REASON, intent=self._task.intent, reference=self._oracle.note, answer=answer
        )
        judged = self._judged(question, f"a judge finds that it says why: {shown(self._oracle.note)!r}")
        return together([whole, judged], judged.score)

    def _judged(self, question: JudgeQuestion, expected: str) -> CheckedPart:
        if not question.answer:  # no judge could find anything in it
            return single(compared(question.asks, expected, "", 0.0, _SAID_NOTHING))
        reply = self._replies.get(question.id)
        if reply is None:
            check = undecided(question.asks, expected, self._options.no_judge)
            return CheckedPart(checks=(check,), score=range_of(None), questions=(question,))
        if reply.decided is None:
            check = SubCheck(
                evaluator=question.asks,
                expected=expected,
                found=shown(self._answer),
                why=f"the judge's reply is no verdict: {shown(reply.reply)!r}",
            )
        else:
            check = compared(
                question.asks,
                expected,
                self._answer,
                float(reply.decided),
                f"the judge {reply.model} says no".replace("  ", " "),
            )
        return CheckedPart(checks=(check,), score=range_of(check.score), replies=(reply,))

    # url_match

    def _url(self) -> SubCheck:
        expected = f"the address in front has {shown(self._address_expected())} in it"
        if self._oracle.url_note not in ("", address_rules.RULE):
            why = f"the rule {shown(self._oracle.url_note)!r} is not one of the published ones"
            return undecided(Evaluator.URL, expected, why)
        if self._evidence.url is None:
            return undecided(Evaluator.URL, expected, self._no_page())
        bound = self._bound(self._address_expected())
        if name := unbound_name(bound):
            return undecided(Evaluator.URL, expected, self._unknown(name))
        if not bound.strip():
            return undecided(Evaluator.URL, expected, "the task has no reference address")
        try:
            score = self._address_matches(self._evidence.url)
        except InputError as error:
            return undecided(Evaluator.URL, expected, error.what)
        return compared(Evaluator.URL, expected, self._evidence.url, score, "another page is in front")

    def _bound(self, address: str) -> str:
        return with_bases(address, self._options.bases)

    def _unknown(self, name: str) -> str:
        """Return why the address of a site's name is not known."""
        if self._evidence.source is EvidenceSource.STORED_PAGE:
            return f"the address of {name} in this run is not known"
        return f"{name} stands for no address in the table of sites"

    def _no_page(self) -> str:
        return next(iter(self._evidence.notes), "no page in front was recorded")

    # program_html

    def _html(self) -> CheckedPart:
        if not self._oracle.html:
            return single(undecided(Evaluator.HTML, "a page", "the task names no page"))
        captured = {one.target: one for one in self._evidence.targets}
        return together(
            [self._target(number, target, captured) for number, target in enumerate(self._oracle.html)]
        )

    def _target(self, number: int, target: HtmlTarget, captured: dict[str, TargetEvidence]) -> CheckedPart:
        """Return the outcome at one target; with alternatives the best one counts."""
        parts = [self._content(target, captured.get(str(number)))]
        parts += [
            self._content(alternative, captured.get(f"{number}.{other}"))
            for other, alternative in enumerate(self._alternatives(target))
        ]
        if len(parts) == 1:
            return parts[0]
        scores = [part.score for part in parts]
        return together(parts, best(scores))

    def _content(self, target: HtmlTarget, found: TargetEvidence | None) -> CheckedPart:
        place = f"{shown(target.url)} {shown(target.locator) or 'the whole page'}"
        if target.exact_match is None and not target.must_include:
            return single(undecided(Evaluator.HTML, place, "the task does not say what has to be there"))
        if found is not None and found.place not in ("", place_of(target)):
            why = "the run's evidence was captured for another version of the task"
            return single(undecided(Evaluator.HTML, f"{_required(target)} at {place}", why))
        if found is None or found.value is None:
            why = (found.why if found is not None else "") or self._no_page()
            return single(undecided(Evaluator.HTML, f"{_required(target)} at {place}", why))
        content = found.value
        if target.exact_match is not None:
            checks = [self._there(target.exact_match, place, content, whole=True)]
        else:
            checks = [self._there(one, place, content) for one in target.must_include]
        if self._evidence.source is EvidenceSource.STORED_PAGE:
            checks = [_doubted(check, target, content) for check in checks]
        return CheckedPart(
            checks=tuple(checks), score=self._combined([range_of(check.score) for check in checks])
        )

    def _there(self, reference: str, place: str, content: str, *, whole: bool = False) -> SubCheck:
        """Compare one required text, in which names of sites stand for their addresses."""
        required = with_bases(reference, self._known_bases)
        expected = f"{'exactly ' if whole else ''}{required!r} at {place}"
        name = unbound_name(required)
        if name and name in dict(self._options.bases):
            return undecided(Evaluator.HTML, expected, self._unknown(name))
        if whole:
            score = answer_rules.exact_match(required, content)
        else:
            score = max(self._includes(one, content) for one in required.split(address_rules.OR))
        return compared(Evaluator.HTML, expected, content, score, "it is not there")


def _doubted(check: SubCheck, target: HtmlTarget, content: str) -> SubCheck:
    """Return a comparison with a page of which only a part was stored.

    What is missing in the whole page may have been in the part that was left out, and so may a place that is empty as
    it should be.
    """
    whole_page = not target.locator.strip()
    if (whole_page and check.score == 0) or (not whole_page and check.score == 1 and not content):
        return undecided(Evaluator.HTML, check.expected, "the stored page is only a part of the page")
    return check


def _required(target: HtmlTarget) -> str:
    if target.exact_match is not None:
        return f"exactly {target.exact_match!r}"
    return ", ".join(map(repr, target.must_include))
