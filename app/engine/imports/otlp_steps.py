"""Steps of a run from its spans: one for each tool call, with the model's answer that led to it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import orjson

from app.engine.api.exchange_api import EXCHANGE_FORMAT
from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.ax_tree import find_node
from app.engine.core.chat_messages import ChatRole, PartKind
from app.engine.core.cost import Cost
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.trajectory import BY_PERSON, ErrorClass, Step, Tab, add_blob
from app.engine.imports.otlp_messages import (
    Call,
    Message,
    answer_messages,
    cost_of_span,
    model_of,
    sent_messages,
    tokens_of,
    tool_args,
    tool_call_id,
    tool_name,
    tool_result,
)
from app.engine.imports.otlp_spans import Trace, TracedSpan
from app.engine.imports.otlp_tree import SpanTree
from app.engine.imports.otlp_values import Mapped, text
from app.engine.imports.page_contents import ForeignContents, as_json, secrets_in_call
from app.engine.imports.shown_page import ShownPage, page_after
from app.engine.imports.tool_calls import LOOKING, base_name, read_tool_call
from app.engine.imports.tool_results import ToolResult, last_picture, read_tool_result

MAX_STEPS = 5000
MAX_OUTPUT = 2000
"""Characters kept of a tool's answer that shows no page."""
MAX_EXCHANGES = 64 * 2**20
"""Bytes kept of one run's exchanges with a model."""

_ROLES = {role.value for role in ChatRole}


@dataclass(slots=True)
class ModelCall:
    """A span of a model, read: its answer, the picture it was shown, its exchange."""

    span: TracedSpan
    calls: list[Call]
    said: str
    reasoning: str
    picture: bytes
    exchange: str
    claimed: set[int] = field(default_factory=set[int])

    @property
    def reason(self) -> str:
        """The model's reasoning, or the words around its calls."""
        return "\n".join(filter(None, (self.reasoning, self.said)))


class _Claims:
    """Which call of which model a tool's span answers: each call is claimed by name once."""

    def __init__(self, models: list[ModelCall]) -> None:
        self._models = models
        self._starts = [model.span.start for model in models]
        self._by_id: dict[str, tuple[ModelCall, int]] = {}
        self._by_name: dict[tuple[int, str], list[int]] = {}
        for at, model in enumerate(models):
            for place, call in enumerate(model.calls):
                self._by_id.setdefault(call.id, (model, place))
                self._by_name.setdefault((at, base_name(call.name)), []).append(place)
        for places in self._by_name.values():
            places.reverse()  # taken from the end

    def claim(self, call_id: str, name: str, start: float) -> tuple[ModelCall | None, int | None]:
        """Return the model's call by its id, else the next one of that name of the newest model before ``start``."""
        model, place = self._by_id.get(call_id, (None, None)) if call_id else (None, None)
        if model is None:
            at = bisect_right(self._starts, start) - 1
            model = self._models[at] if at >= 0 else None
            places = self._by_name.get((at, name), [])
            while places and model is not None and places[-1] in model.claimed:
                places.pop()
            place = places[-1] if places else None
        if model is not None and place is not None:
            model.claimed.add(place)
        return model, place


@dataclass(slots=True)
class _Act:
    """One tool call in time order."""

    name: str
    args: Mapped
    at: float
    seconds: float = 0.0
    result: object = None
    error: str = ""
    url: str = ""
    model: ModelCall | None = None
    attributes: Mapped = field(default_factory=dict[str, object])


@dataclass(slots=True)
class ReadSteps:
    """The steps of a trace, the page after them, and the models' calls."""

    steps: list[Step]
    final: Step | None
    models: list[ModelCall]
    first_words: str
    has_messages: bool
    cut: bool


class StepsOfSpans:
    """Reads the steps of one trace; contents of pages go to ``contents``."""

    def __init__(self, trace: Trace, contents: ForeignContents) -> None:
        self._trace, self._contents = trace, contents
        self._tree = SpanTree(trace.spans)
        self._results: dict[str, object] = {}
        self._first_words, self._has_messages = "", False
        self._exchange_bytes = 0

    def read(self) -> ReadSteps:
        """Return the steps."""
        models = [self._model(span) for span in self._tree.models()]
        acts = self._acts(models)
        cut = len(acts) > MAX_STEPS
        steps, final = self._steps(acts[:MAX_STEPS])
        return ReadSteps(steps, final, models, self._first_words, self._has_messages, cut)

    def _model(self, span: TracedSpan) -> ModelCall:
        sent, answers = sent_messages(span), answer_messages(span)
        for message in sent:
            for call, result in message.results:
                self._results.setdefault(call, result)
        words = next((one.text for one in sent if one.role in ("user", "human") and one.text.strip()), "")
        self._first_words = self._first_words or words
        self._has_messages = self._has_messages or bool(sent or answers)
        last = [one for one in sent if one.role not in ("assistant", "model", "system")][-1:]
        picture = last_picture(last[0].raw) if last else b""
        for call in (call for one in answers for call in one.calls):
            action, target = read_tool_call(call.name, call.args)
            self._contents.foresee([(action, target)])
            self._contents.remember(*secrets_in_call(call.args))
        said = "\n".join(one.text for one in answers if one.text.strip())
        reasoning = "\n".join(one.reasoning for one in answers if one.reasoning.strip())
        return ModelCall(
            span=span,
            calls=[call for one in answers for call in one.calls],
            said=redact_text(said),
            reasoning=redact_text(reasoning),
            picture=picture,
            exchange=self._exchange(span, sent, answers),
        )

    def _acts(self, models: list[ModelCall]) -> list[_Act]:
        claims = _Claims(models)
        acts = [self._tool_act(span, claims) for span in self._tree.tools()]
        for model in models:
            for position, call in enumerate(model.calls):
                if position not in model.claimed:
                    at = model.span.end + position * 1e-6
                    acts.append(
                        _Act(call.name, call.args, at, result=self._results.get(call.id), model=model)
                    )
        return sorted(acts, key=lambda act: act.at)

    def _tool_act(self, span: TracedSpan, claims: _Claims) -> _Act:
        call_id, name = tool_call_id(span), base_name(tool_name(span))
        model, place = claims.claim(call_id, name, span.start)
        args = tool_args(span)
        if model is not None and place is not None:
            args = args or model.calls[place].args
            call_id = call_id or model.calls[place].id
        result = tool_result(span)
        return _Act(
            name=tool_name(span),
            args=args,
            at=span.start,
            seconds=span.end - span.start,
            result=result if result is not None else self._results.get(call_id),
            error=error_of(span),
            url=text(span.attributes.get("url.full")),
            model=model,
            attributes=span.attributes,
        )

    def _steps(self, acts: list[_Act]) -> tuple[list[Step], Step | None]:
        steps: list[Step] = []
        page, seen = ShownPage(), set[int]()
        for act in acts:
            result = read_tool_result(act.result)
            first = act.model is not None and id(act.model) not in seen
            if act.model is not None:
                seen.add(id(act.model))
            if before := text(act.attributes.get("sitelore.page.before")):
                page = page_after(page, read_tool_result(before), "", {}, failed=False)
            if base_name(act.name) in LOOKING and result.shows_page:
                page = page_after(page, result, "", {}, failed=False)
            step = self._step(len(steps), act, page, result, first=first)
            steps.append(step)
            kind = step.action.kind if step.action is not None else ""
            result.url = result.url or (act.url if not step.error else "")
            page = page_after(page, result, kind, act.args, failed=bool(step.error))
        final = replace(self._on_page(len(steps), page), executed=False) if steps and page.is_known else None
        return steps, final

    def _step(self, index: int, act: _Act, page: ShownPage, result: ToolResult, *, first: bool) -> Step:
        action, target = read_tool_call(act.name, act.args)
        self._contents.remember(*secrets_in_call(act.args))
        model = act.model
        step = self._on_page(index, page)
        if not step.screenshot and model is not None and model.picture:
            step = replace(step, screenshot=self._contents.picture(model.picture))
        error = redact_text(act.error or result.error)[:20_000]
        if model is not None:
            money = cost_of_span(model.span) if first else None
            step = replace(
                step,
                reason=model.reason,
                raw_output="\n".join(
                    filter(None, (model.said, f"{act.name}({redact_text(as_json(act.args))})"))
                ),
                calls=(model.exchange,) if model.exchange and first else (),
                tokens=tokens_of(model.span) if first else (0, 0),
                cost=Cost(known=money) if money is not None else None,
                agent_seconds=model.span.end - model.span.start if first else 0.0,
                model_seconds=model.span.end - model.span.start if first else 0.0,
            )
        step = replace(
            step,
            error=error,
            error_class=_error_class(error, act.attributes),
            output="" if result.shows_page else redact_text(result.text[:MAX_OUTPUT]),
            started_at=model.span.start if model is not None and first and model.span.start else act.at,
            env_seconds=max(act.seconds, 0.0),
            by=BY_PERSON if act.attributes.get("sitelore.by") == BY_PERSON else "",
        )
        target = _own_target(act.attributes, action) or target or _target_on(page.tree, action)
        return self._contents.acted(step, action, target)

    def _on_page(self, index: int, page: ShownPage) -> Step:
        url, title = redact_url(page.url), redact_text(page.title)
        step = Step(
            index=index,
            url=url,
            title=title,
            tabs=(Tab(url=url, title=title),) if url else (),
            html=self._contents.html(page.html) if page.html else "",
            screenshot=self._contents.picture(page.picture) if page.picture else "",
        )
        return self._contents.with_tree(step, page.tree)

    def _exchange(self, span: TracedSpan, sent: list[Message], answers: list[Message]) -> str:
        """Store a model's call as an exchange; return its digest, "" where nothing was recorded or all room is used."""
        if not sent and not answers:
            return ""
        tokens = tokens_of(span)
        document = {
            "format": EXCHANGE_FORMAT,
            "role": "operator",
            "at": span.start,
            "messages": [
                {
                    "role": one.role if one.role in _ROLES else ChatRole.USER.value,
                    "parts": [
                        {"kind": PartKind.TEXT.value, "text": self._contents.said(redact_text(_words(one)))}
                    ],
                }
                for one in sent
            ],
            "reply": {
                "model": redact_text(model_of(span)),
                "text": self._contents.said(
                    redact_text("\n".join(filter(None, (_words(one) for one in answers))))
                ),
                "thinking": self._contents.said(
                    redact_text("\n".join(one.reasoning for one in answers if one.reasoning))
                ),
                "tokens": list(tokens),
                "seconds": span.end - span.start,
                "money": cost_of_span(span),
            },
        }
        data = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
        if self._exchange_bytes + len(data) > MAX_EXCHANGES:
            return ""
        self._exchange_bytes += len(data)
        return add_blob(self._contents.blobs, data)


def error_of(span: TracedSpan) -> str:
    """Return the error of a span, "" where it did not fail."""
    said = next(
        (
            ": ".join(
                filter(
                    None, (text(event.attributes.get(f"exception.{name}")) for name in ("type", "message"))
                )
            )
            for event in span.events
            if event.name == "exception"
        ),
        "",
    )
    if not span.failed:
        return ""
    return said or span.message or text(span.attributes.get("error.type")) or "the call failed"


def _error_class(error: str, found: Mapped) -> ErrorClass:
    if error and found.get("sitelore.error_class") == ErrorClass.SOFT:
        return ErrorClass.SOFT
    return ErrorClass.HARD if error else ErrorClass.NONE


def _own_target(found: Mapped, action: RecordedAction) -> ActionTarget | None:
    """Return the target that an export of Sitelore names."""
    role, name = (redact_text(text(found.get(f"sitelore.target.{part}"))) for part in ("role", "name"))
    return ActionTarget(role=role, name=name, bid=action.bid or "") if role or name else None


def _target_on(tree: str, action: RecordedAction) -> ActionTarget | None:
    node = find_node(tree, action.bid) if action.bid and tree else None
    if node is None:
        return None
    return ActionTarget(role=node.role, name=redact_text(node.name), bid=node.bid)


def _words(message: Message) -> str:
    calls = (f"{call.name}({as_json(call.args)})" for call in message.calls)
    results: Iterable[str] = (
        result if isinstance(result, str) else as_json(result) for _, result in message.results
    )
    shown = [message.text, *calls, *(() if message.text else (one[:200_000] for one in results))]
    return "\n".join(filter(None, shown))
