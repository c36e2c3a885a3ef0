"""Time clauses of tips: "before you press X", "once you have chosen Y"."""

from __future__ import annotations

from kb.compiler.clauses import TipClause
from kb.compiler.lexicon import KEYS
from kb.compiler.ordering import OrderedSteps
from kb.compiler.tokens import Sort, Token, Tokens, written
from kb.compiler.verbs import Imperative, past_at, verb_at
from kb.procedure import ProcedureStep, StepKind


class TimedSteps(OrderedSteps):
    """Puts the steps of time clauses where they belong in the order of acting."""

    def _time(self, clause: TipClause) -> None:
        made = self._done(clause.tokens)
        if not made and clause.tokens and clause.tokens[0].is_capital and clause.tokens[0].low in KEYS:
            made = [ProcedureStep(kind=StepKind.PRESS, target=clause.tokens[0].text)]
        if not made and clause.word == "having":
            made = self._done([Token(Sort.WORD, "you", "you"), *clause.tokens])
        if clause.word == "before":
            if clause.fronted and (at := self._place_there(made)) >= 0:
                self._ahead = at
            elif clause.fronted:
                self._later += self._resolved(made)
            else:
                self._put(self._resolved(made))
        elif made and clause.fronted:
            self._put(self._resolved(made))
        elif made:
            self._insert(self._resolved(made), len(self.entries) if self._all else self._count)
        elif clause.word in ("once", "until", "till") and clause.fronted:
            self._next_when = written(clause.tokens)

    def _place_there(self, made: list[ProcedureStep]) -> int:
        """The place of a step that an earlier sentence told; -1 if none did."""
        targets = [one.target if isinstance(one, ProcedureStep) else "" for one in self.earlier]
        return (
            targets.index(made[-1].target) if made and made[-1].target in targets and not self.entries else -1
        )

    def _done(self, tokens: Tokens) -> list[ProcedureStep]:
        """The steps of "you have pressed X and chosen Y"."""
        for place in range(1, len(tokens) - 1):
            if tokens[place].low in ("and", ",") and (
                past_at(tokens, place + 1) or verb_at(tokens, place + 1, gerund=True)
            ):
                you = Token(Sort.WORD, "you", "you")
                return [*self._one_done(tokens[:place]), *self._done([you, *tokens[place + 1 :]])]
        return self._one_done(tokens)

    def _one_done(self, tokens: Tokens) -> list[ProcedureStep]:
        """The steps of "you have pressed X", "pressing X", "you press X"."""
        place = 0
        while place < len(tokens) and tokens[place].low in (
            "you",
            "have",
            "you've",
            "having",
            "already",
            "then",
            "had",
        ):
            place += 1
        subject = place > 0
        if [one.low for one in tokens[place : place + 3]] in (
            ["a", "click", "on"],
            ["a", "press", "on"],
            ["a", "tap", "on"],
        ):
            return self._frames.steps(Imperative("press", "press", 0), tokens[place + 3 :], [])
        verb = verb_at(tokens, place, gerund=True) or (
            (past_at(tokens, place) or verb_at(tokens, place)) if subject else None
        )
        if verb is None or verb.frame in ("void", "means", "check"):
            return []
        made = self._frames.steps(verb, tokens[verb.end :], [])
        self.spoken.frame = verb.frame if made else self.spoken.frame
        return made
