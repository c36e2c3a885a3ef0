"""Models' and tools' spans of a trace: two libraries that record the same call nest their spans, which are one then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from app.engine.imports.otlp_messages import SpanKind, kind_of, tool_name
from app.engine.imports.otlp_spans import TracedSpan
from app.engine.imports.tool_calls import base_name


class SpanTree:
    """Spans with the nearest one above each that is a model's or a tool's; none is above itself."""

    def __init__(self, spans: Sequence[TracedSpan]) -> None:
        self._spans = spans
        self._kinds = {span.id: kind_of(span) for span in spans}
        self._order = _parents_first(spans)
        by_id = {span.id: span for span in spans}
        self._models: dict[str, TracedSpan] = {}
        self._tools: dict[str, TracedSpan] = {}
        for span in self._order:
            above = by_id.get(span.parent)
            if above is None:
                continue
            kind = self._kinds[above.id]
            tool = above if kind is SpanKind.TOOL else self._tools.get(above.id)
            # a tool or an agent between two models has a model of its own
            between = self._models.get(above.id) if kind is SpanKind.OTHER else None
            model = above if kind is SpanKind.MODEL else between
            if tool is not None:
                self._tools[span.id] = tool
            if model is not None:
                self._models[span.id] = model

    def models(self) -> list[TracedSpan]:
        """Return the models' spans that are in no other one of a model, with what only the inner ones know."""
        outermost: dict[str, TracedSpan] = {}
        for span in self._order:
            outer = self._models.get(span.id)
            if outer is not None and self._kinds[span.id] is SpanKind.MODEL:
                outermost[span.id] = outermost.get(outer.id, outer)
        found: list[TracedSpan] = []
        for span in self._of(SpanKind.MODEL):
            outer = outermost.get(span.id)
            if outer is None:
                found.append(span)
            else:
                _add_attributes(outer, span)
                outer.events += span.events
        return found

    def tools(self) -> list[TracedSpan]:
        """Return the tools' spans: of nested ones the outer where both name one tool, else the inner."""
        names = {span.id: base_name(tool_name(span)) for span in self._of(SpanKind.TOOL)}
        left_out = set[str]()
        outermost: dict[str, TracedSpan] = {}
        for span in self._order:
            outer = self._tools.get(span.id)
            if outer is None or span.id not in names:
                continue
            if names[outer.id] == names[span.id]:
                outermost[span.id] = outermost.get(outer.id, outer)
                left_out.add(span.id)
            else:
                left_out.add(outer.id)  # an agent that another one uses as a tool
        for span in self._of(SpanKind.TOOL):
            if span.id in outermost:
                _add_attributes(outermost[span.id], span)
        return [span for span in self._of(SpanKind.TOOL) if span.id not in left_out]

    def _of(self, kind: SpanKind) -> list[TracedSpan]:
        return [span for span in self._spans if self._kinds[span.id] is kind]


def _add_attributes(outer: TracedSpan, inner: TracedSpan) -> None:
    for name, value in inner.attributes.items():
        outer.attributes.setdefault(name, value)


def _parents_first(spans: Sequence[TracedSpan]) -> list[TracedSpan]:
    below: defaultdict[str, list[TracedSpan]] = defaultdict(list)
    ids = {span.id for span in spans}
    for span in spans:
        below[span.parent if span.parent in ids else ""].append(span)
    order = list(below[""])
    for span in order:  # grows while it is read
        order += below.get(span.id, ())
    return order
