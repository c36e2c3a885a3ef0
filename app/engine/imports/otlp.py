"""Importer of OpenTelemetry traces in OTLP/JSON, by the conventions of GenAI, OpenInference and OpenLLMetry.

A run is a trace. Its tool calls are the steps; where no span records them they are taken from the models' answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.engine.core.cost import Cost
from app.engine.core.redaction import redact_text
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.imports.json_values import fields_of, parsed
from app.engine.imports.otlp_evaluations import evaluation_of
from app.engine.imports.otlp_index import index_file, looks_like_otlp, otlp_files, problems_of
from app.engine.imports.otlp_messages import (
    SpanKind,
    answer_messages,
    cost_of_span,
    kind_of,
    metadata_of,
    model_of,
    sent_messages,
    tokens_of,
    words_of,
)
from app.engine.imports.otlp_spans import Trace, TracedSpan, read_trace
from app.engine.imports.otlp_steps import ReadSteps, StepsOfSpans, error_of
from app.engine.imports.otlp_values import text
from app.engine.imports.page_contents import ForeignContents, sites_of
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import ReadRun
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "otlp"
MAX_WORDS = 20_000
"""Characters kept of a goal or an answer."""

_NO_AGENT = (
    "OpenTelemetry data without a span of an agent, a model or a tool (GenAI or OpenInference conventions)"
)
_NO_CONTENT = (
    "the models' messages were not recorded: switch on the capture of content where the spans are made"
)
_GOAL_KEYS = ("task", "goal", "intent", "question", "query", "input", "prompt", "instruction")


@dataclass(slots=True)
class TracedRun:
    """A trace and where it was found."""

    path: Path
    part: str
    trace: Trace

    @property
    def content_hash(self) -> str:
        """Hash of the spans, whatever file they stand in."""
        return self.trace.content_hash


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    holders: dict[str, list[Path]] = defaultdict(list)
    agents: dict[str, None] = {}
    for name in folder.names:
        path = folder.path / name
        if not looks_like_otlp(folder.head(name)):
            continue
        try:
            index = index_file(path)
        except InputError as error:
            folder.problems.append(PathError(path=error.path or str(path), error=error.what))
            continue
        folder.problems.extend(problems_of(path, index))
        if not index.agents and not index.faults:
            folder.problems.append(PathError(path=str(path), error=_NO_AGENT))
        for trace in index.places:
            holders[trace].append(path)
        agents.update(dict.fromkeys(sorted(index.agents)))
    for trace in agents:
        places = holders[trace]
        yield FoundPart(places[0] if len(places) == 1 else folder.path, trace)


def load(path: Path, root: Path, part: str) -> TracedRun:
    """Read the spans of one trace.

    Raises:
        InputError: a file can't be read, or has no span of it.
    """
    if path.is_dir():
        files = [file for file in otlp_files(path) if _holds(file, part)]
    else:
        files = [path]
    return TracedRun(path, part, read_trace(files, part))


def _holds(file: Path, trace: str) -> bool:
    try:
        return trace in index_file(file).places
    except InputError:
        return False


def parse(raw: TracedRun, sites: SiteTable) -> ReadRun:
    """Make a run of a trace."""
    trace, contents = raw.trace, ForeignContents()
    read = StepsOfSpans(trace, contents).read()
    root = _root(trace.spans)
    evaluation = evaluation_of(trace, root)
    steps, final = read.steps, read.final
    urls = [step.url for step in ([*steps, final] if final is not None else steps) if step.url]
    site, visited = sites_of(urls, sites)
    about = {**metadata_of(trace.resource), **(metadata_of(root.attributes) if root is not None else {})}
    answer, outcome = _end(root, read, trace.spans)
    run = Run(
        id=make_run_id(f"{SOURCE}-{raw.part[:12]}", raw.content_hash[:8]),
        source=SOURCE,
        suite=redact_text(str(about.get("benchmark") or about.get("suite") or "")[:200]),
        task_id=redact_text(str(about.get("task_id") or "")[:200]),
        site=site,
        sites=visited,
        intent=redact_text(_goal(root, read)[:MAX_WORDS]),
        start_url=urls[0] if urls else "",
        score=evaluation.score,
        outcome=outcome,
        error=redact_text(error_of(root)[:MAX_WORDS]) if root is not None else "",
        answer=contents.said(redact_text(answer[:MAX_WORDS])) if answer else None,
        step_count=len(steps),
        final=final,
        started_at=trace.spans[0].start if trace.spans else 0.0,
        source_path=printable(str(raw.path)),
        content_hash=raw.content_hash,
        notes=(*_notes(raw, read, root, contents), *evaluation.notes),
        policy=redact_text(text(root.attributes.get("gen_ai.agent.name"))[:200]) if root is not None else "",
        model=redact_text(_model(trace, read)),
        tokens=_tokens(read, root),
        cost=_cost(read, root),
        calls=_last_calls(read, steps),
    )
    return ReadRun(run=run, steps=tuple(steps), blobs=contents.blobs)


def _root(spans: Sequence[TracedSpan]) -> TracedSpan | None:
    """Return the outermost agent's span, else the span without a parent; ``None`` where both are missing."""
    ids = {span.id for span in spans}
    tops = [span for span in spans if span.parent not in ids]
    agents = [span for span in spans if kind_of(span) is SpanKind.AGENT]
    agent_ids = {span.id for span in agents}
    longest = sorted(agents, key=lambda span: (span.start, -span.end))
    outer = [span for span in tops if kind_of(span) is SpanKind.OTHER and not span.parent]
    return next((span for span in tops if span.id in agent_ids), None) or (longest or outer or [None])[0]


def _goal(root: TracedSpan | None, read: ReadSteps) -> str:
    if root is not None:
        if words := words_of(sent_messages(root)):
            return words
        found = root.attributes
        for name in ("input.value", "traceloop.entity.input", "ai.prompt"):
            if said := _words_in(found.get(name)):
                return said
    return read.first_words


def _words_in(value: object) -> str:
    """Return the words of a span's plain input or output; of an object the field that holds them."""
    found = parsed(value)
    if isinstance(found, str):
        return found
    fields = fields_of(found)
    inner = fields_of(fields.get("inputs")) or fields_of(fields.get("kwargs")) or fields
    return next(
        (said for name in (*_GOAL_KEYS, "output", "answer", "result") if (said := text(inner.get(name)))), ""
    )


def _end(root: TracedSpan | None, read: ReadSteps, spans: Sequence[TracedSpan]) -> tuple[str, Outcome]:
    """Return the answer and how the run ended."""
    last = read.steps[-1].action if read.steps else None
    if last is not None and last.kind in ("send_msg_to_user", "report_infeasible"):
        infeasible = last.kind == "report_infeasible"
        said = str(next(iter(last.args.values()), ""))
        return said, Outcome.INFEASIBLE if infeasible else Outcome.ANSWERED
    answer = ""
    if root is not None:
        answer = next((one.text for one in reversed(answer_messages(root)) if one.text.strip()), "")
        found = root.attributes
        answer = (
            answer or _words_in(found.get("output.value")) or _words_in(found.get("traceloop.entity.output"))
        )
    if not answer and read.models and not read.models[-1].calls:
        answer = read.models[-1].said
    if root is not None and root.failed:
        return answer, Outcome.CRASHED
    return answer, Outcome.ANSWERED if answer else Outcome.UNKNOWN


def _model(trace: Trace, read: ReadSteps) -> str:
    names = Counter(name for call in read.models if (name := model_of(call.span)))
    names = names or Counter(name for span in trace.spans if (name := model_of(span)))
    return names.most_common(1)[0][0] if names else ""


def _tokens(read: ReadSteps, root: TracedSpan | None) -> tuple[int, int]:
    counts = [tokens_of(call.span) for call in read.models]
    total = (sum(one[0] for one in counts), sum(one[1] for one in counts))
    return total if any(total) or root is None else tokens_of(root)


def _cost(read: ReadSteps, root: TracedSpan | None) -> Cost | None:
    found = [money for call in read.models if (money := cost_of_span(call.span)) is not None]
    money = sum(found) if found else cost_of_span(root) if root is not None else None
    return Cost(known=money) if money is not None else None


def _last_calls(read: ReadSteps, steps: Sequence[Step]) -> tuple[str, ...]:
    taken = {digest for step in steps for digest in step.calls}
    return tuple(
        dict.fromkeys(call.exchange for call in read.models if call.exchange and call.exchange not in taken)
    )


def _notes(
    raw: TracedRun, read: ReadSteps, root: TracedSpan | None, contents: ForeignContents
) -> Iterator[str]:
    if root is None:
        yield "the span of the whole run is missing: goal and answer are taken from the models' messages"
    elif root.parent:
        yield "the span above the agent's is missing: what was recorded there is not known"
    if raw.trace.circular:
        yield f"{raw.trace.circular} spans are recorded as above themselves: they are read as having nothing above them"
    if read.models and not read.has_messages:
        yield _NO_CONTENT
    if raw.trace.cut or read.cut:
        yield "the trace is longer than is read: its later spans are left out"
    if contents.left_out:
        yield f"{contents.left_out} pictures are left out: together they are too large"


RUN_FORMAT = RunFormat(
    name="otlp",
    title="OpenTelemetry (OTLP/JSON; GenAI and OpenInference conventions)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
