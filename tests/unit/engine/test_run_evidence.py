"""A run ends with the evidence for its evaluation, and never fails because of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.loop import AgentDependencies, AgentLoop
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.ports import AgentTask
from app.engine.core.actions.types import Action, ReportInfeasible, Stop
from app.engine.core.evaluation.evidence_redaction import redact_evidence
from app.engine.core.evaluation.run_evidence import RunEvidence, TargetEvidence
from app.engine.core.evaluation.suite import Dialect, Suite, SuiteTask
from app.engine.core.trajectory import Outcome, Run, Tab
from app.engine.services.run_evidence import task_lookup
from app.errors import InputError, NotFound, SiteloreError, StoreError
from tests.support.fake_executor import HOME, FakeExecutor, InMemoryRecorder, ScriptedPolicy, page_of

RUN = Run(id="r1", source="sitelore", intent="Look", start_url=HOME, outcome=Outcome.RUNNING)


@dataclass
class Capturer:
    """Hands out these bytes, or fails; notes what it was told."""

    data: bytes = b"evidence"
    error: SiteloreError | None = None
    told: list[tuple[str | None, bool]] = field(default_factory=list)

    async def capture(self, answer: str | None, *, infeasible: bool) -> bytes:
        self.told.append((answer, infeasible))
        if self.error is not None:
            raise self.error
        return self.data


async def _run(
    move: Action, capturer: Capturer | None, break_at: frozenset[int] = frozenset()
) -> tuple[Run, InMemoryRecorder]:
    hands, book, kept = (
        FakeExecutor({HOME: page_of(HOME, "Dead")}, break_at),
        LedgerStore(),
        InMemoryRecorder(),
    )
    parts = AgentDependencies(
        executor=hands,
        policy=ScriptedPolicy([move]),
        ledger_store=book,
        recorder=kept,
        dispatcher=ActionDispatcher(hands, book, calculate),
        evidence=capturer,
    )
    task = AgentTask(run="r1", intent="Look", start_url=HOME, max_steps=3)
    return await AgentLoop(task, parts, RUN).run(), kept


async def test_a_run_names_its_evidence_and_stores_it_with_its_end() -> None:
    capturer = Capturer()
    run, kept = await _run(Stop("42"), capturer)
    assert kept.blobs[run.evidence] == b"evidence"
    assert capturer.told == [("42", False)]


async def test_a_run_that_gave_up_says_so() -> None:
    capturer = Capturer()
    await _run(ReportInfeasible("no such thing"), capturer)
    assert capturer.told == [("no such thing", True)]


@pytest.mark.parametrize("error", [SiteloreError("gone"), StoreError("full"), InputError("odd")])
async def test_a_capture_that_fails_costs_the_evidence_and_not_the_run(error: SiteloreError) -> None:
    run, _ = await _run(Stop("42"), Capturer(error=error))
    assert (run.outcome, run.answer, run.evidence) == (Outcome.ANSWERED, "42", "")


async def test_without_a_capturer_a_run_has_none() -> None:
    run, _ = await _run(Stop("42"), None)
    assert run.evidence == ""


async def test_a_lost_last_page_is_no_reason_not_to_capture() -> None:
    capturer = Capturer()
    run, _ = await _run(Stop("42"), capturer, frozenset({1}))
    assert (run.final, run.evidence != "", len(capturer.told)) == (None, True, 1)


class Shelf:
    """Suites by name."""

    def __init__(self, *suites: Suite) -> None:
        self._suites = {suite.name: suite for suite in suites}

    async def suite(self, name: str) -> Suite:
        if name not in self._suites:
            raise NotFound(f"no suite {name}")
        return self._suites[name]


@pytest.mark.parametrize(
    ("suite", "task", "found"),
    [
        ("own", "t1", True),
        ("own", "t2", False),
        ("other", "t1", False),
        ("", "t1", False),
        ("own", "", False),
    ],
)
async def test_a_run_of_an_unknown_task_has_no_targets(suite: str, task: str, found: bool) -> None:
    own = Suite(
        name="own",
        form="sitelore",
        dialect=Dialect.SITELORE,
        sha256="",
        tasks=(SuiteTask(id="t1", intent="x"),),
    )
    known = await task_lookup(Shelf(own))(suite, task)  # type: ignore[arg-type]
    assert (known is not None) == found


def _mask(text: str) -> str:
    return text.replace("hush", "REDACTED")


def test_no_secret_is_left_in_any_part_of_the_evidence() -> None:
    evidence = RunEvidence(
        answer="hush",
        tabs=(Tab(url="http://h/?token=abcdef123456&q=hush", title="hush"),),
        active=0,
        html='<input type="password" value="pw-1"><p>hush</p>',
        targets=(
            TargetEvidence(target="0", url="http://h/hush", value="hush"),
            TargetEvidence(target="1", value='<input type="password" value="pw-2">'),
            TargetEvidence(target="2", why="hush is not there"),
        ),
        har={"log": {"entries": [{"request": {"url": "http://h/hush"}, "response": {}}]}},
        notes=("hush",),
    )
    clean = redact_evidence(evidence, _mask)
    assert not any(secret in repr(clean) for secret in ("hush", "abcdef123456", "pw-1", "pw-2"))
    assert clean.targets[0].value == "REDACTED"
    assert (clean.html or "").endswith("<p>REDACTED</p>")


def test_evidence_without_secrets_stays_as_it_is() -> None:
    evidence = RunEvidence(
        answer="42",
        tabs=(Tab(url="http://h/a?x=1", title="A"),),
        active=0,
        html="<p>42 &amp; more</p>",
        targets=(TargetEvidence(target="0", url="http://h/a", value="None"),),
    )
    assert redact_evidence(evidence, _mask) == evidence
    assert redact_evidence(replace(evidence, har={"log": 1}), _mask).notes == (
        "the recorded requests are no HTTP archive",
    )
