"""Evaluations of a trace: events ``gen_ai.evaluation.result`` and OpenInference's annotations.

The run's score is one about the whole run, in [0, 1], by a person or a program; or by an evaluator that does not say
what it is, if it judges success by its name. Scores of models, of single steps and on other scales are notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.engine.core.redaction import redact_text
from app.engine.imports.otlp_messages import SpanKind, kind_of
from app.engine.imports.otlp_spans import Trace, TracedSpan
from app.engine.imports.otlp_values import Mapped, real, text

MAX_NOTES = 20

_ANNOTATION = re.compile(r"annotations\.(\d{1,4})\.annotation\.(\w+)")
_SUCCESS = re.compile(r"success|correct|complet|pass|reward|score|accura|task", re.IGNORECASE)
_PASSED = frozenset({"pass", "passed", "correct", "success", "successful", "true", "yes"})
_FAILED = frozenset({"fail", "failed", "incorrect", "failure", "unsuccessful", "false", "no"})
_BY = {
    "HUMAN": "by a person",
    "CODE": "by a program",
    "LLM": "by a model",
    "": "by an evaluator of an unknown kind",
}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The score of a run, and a sentence for each evaluation that says more than it."""

    score: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Result:
    name: str
    kind: str
    score: float | None
    label: str
    why: str
    whole_run: bool

    @property
    def words(self) -> str:
        value = "" if self.score is None else f" {self.score:g}"
        label = f" ({self.label})" if self.label else ""
        why = f": {self.why}" if self.why else ""
        where = "" if self.whole_run else " of one step"
        return redact_text(
            f"evaluation {self.name or 'without a name'}{value}{label}{where}, {_BY[self.kind]}{why}"
        )

    @property
    def passed(self) -> float | None:
        """The score in [0, 1]; of a label alone 0 or 1."""
        if self.score is not None:
            return self.score if 0 <= self.score <= 1 else None
        label = self.label.lower()
        return 1.0 if label in _PASSED else 0.0 if label in _FAILED else None


def evaluation_of(trace: Trace, root: TracedSpan | None) -> Evaluation:
    """Return the run's score and its other evaluations."""
    results = list(_results(trace, root))
    usable = [
        one
        for one in results
        if one.whole_run
        and one.passed is not None
        and (one.kind in ("HUMAN", "CODE") or (not one.kind and _SUCCESS.search(one.name)))
    ]
    usable.sort(key=lambda one: (("HUMAN", "CODE", "").index(one.kind), not _SUCCESS.search(one.name)))
    chosen = usable[0] if usable else None
    notes = [f"the score is the {chosen.words}"] if chosen is not None else []
    notes += [one.words for one in results if one is not chosen]
    more = [f"{len(notes) - MAX_NOTES} more evaluations"] if len(notes) > MAX_NOTES else []
    return Evaluation(
        chosen.passed if chosen is not None else None, (*dict.fromkeys(notes[:MAX_NOTES]), *more)
    )


def _results(trace: Trace, root: TracedSpan | None) -> Iterator[_Result]:
    for event in trace.loose:
        if event.name == "gen_ai.evaluation.result":
            yield _event_result(event.attributes, whole_run=True)
    for span in trace.spans:
        whole_run = span is root or (kind_of(span) is SpanKind.AGENT and not span.parent)
        for event in span.events:
            if event.name == "gen_ai.evaluation.result":
                yield _event_result(event.attributes, whole_run=whole_run)
        numbered: dict[int, Mapped] = {}
        for key, value in span.attributes.items():
            if found := _ANNOTATION.match(key):
                numbered.setdefault(int(found[1]), {})[found[2]] = value
        for number in sorted(numbered):
            yield _annotation(numbered[number], whole_run=whole_run)


def _event_result(found: Mapped, *, whole_run: bool) -> _Result:
    kind = text(found.get("sitelore.annotator_kind")) or text(found.get("annotator_kind"))
    how = text(found.get("gen_ai.evaluation.method")) + text(found.get("gen_ai.evaluation.evaluator.type"))
    if not kind and re.search(r"llm|model|judge", how, re.IGNORECASE):
        kind = "LLM"
    return _Result(
        name=text(found.get("gen_ai.evaluation.name"))[:200],
        kind=_kind(kind),
        score=real(found.get("gen_ai.evaluation.score.value")),
        label=text(found.get("gen_ai.evaluation.score.label"))[:200],
        why=text(found.get("gen_ai.evaluation.explanation"))[:1000],
        whole_run=whole_run and not found.get("sitelore.step"),
    )


def _annotation(found: Mapped, *, whole_run: bool) -> _Result:
    return _Result(
        name=text(found.get("name"))[:200],
        kind=_kind(text(found.get("annotator_kind"))),
        score=real(found.get("score")),
        label=text(found.get("label"))[:200],
        why=text(found.get("explanation"))[:1000],
        whole_run=whole_run,
    )


def _kind(value: str) -> str:
    upper = value.upper()
    return upper if upper in _BY else ""
