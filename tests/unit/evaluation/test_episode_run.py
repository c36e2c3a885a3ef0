"""One episode: what its record says of a run, of its sites' states, and of failures that are not the agent's."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.api.run_api import RunRequest, RunSummary
from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.evaluation.episode import Arm, TipInEpisode
from app.engine.core.evaluation.run_evidence import RunEvidence
from app.engine.core.evaluation.suite import Dialect, Oracle, Suite, SuiteTask
from app.engine.core.evaluation.task_score import JudgeReply, ScoreVerdict, TaskScore
from app.engine.core.sites import Site
from app.engine.core.trajectory import Exposure, Outcome, Run, add_blob
from app.engine.evaluation.evidence_codec import decode_evidence, encode_evidence
from app.engine.services.core import Core
from app.engine.services.episode_run import EpisodeRunner
from app.engine.services.site_logins import login_path
from app.errors import SiteloreError
from tests.support.demo_suite import demo_row
from tests.support.runs import make_run, make_step

URL = "http://127.0.0.1:9801"
TASK = SuiteTask(
    id="t",
    intent="Open the basket.",
    sites=("demo",),
    start_url="__DEMO__",
    template="basket",
    kind="way",
    required_obs="any",
    oracle=Oracle(evaluators=("page",), page="/basket"),
)
SUITE = Suite(name="shop", form="sitelore", dialect=Dialect.SITELORE, sha256="1" * 64, tasks=(TASK,))
REPLY = JudgeReply(model="m", prompt_sha256="2" * 64, reply="Correct.", decided=True)
REQUEST = EpisodeRequest(suite="shop", dialect="sitelore", task="t", arm=Arm(name="none"), repeat=1)


class Rescoring:
    """Passes every run, or fails to score it; keeps the evidence it was given."""

    def __init__(self) -> None:
        self.evidence: list[RunEvidence] = []
        self.error: Exception | None = None

    async def score(
        self, suite: Suite, task: SuiteTask, evidence: RunEvidence, *_: Any, **__: Any
    ) -> TaskScore:
        self.evidence.append(evidence)
        if self.error is not None:
            raise self.error
        return TaskScore(
            verdict=ScoreVerdict.PASS, score=1.0, why="the basket", dialect=suite.dialect, judge=(REPLY,),
            evaluator="webarena-verified 1.2.3, data 0123",
        )  # fmt: skip


class Bench:
    """An episode runner whose runs end as a test says, one ending a run."""

    def __init__(self, core: Core) -> None:
        self.core, self.rescoring = core, Rescoring()
        self.asked: list[RunRequest] = []
        self.endings: list[Run | SiteloreError] = []
        self.encoder_waits = 0
        self.maps_read: list[str] = []
        self.runner = EpisodeRunner(core, self.rescoring, self.run_task, self.encoder_ready, self.map_ready)  # pyright: ignore

    async def encoder_ready(self) -> None:
        self.encoder_waits += 1

    async def map_ready(self, site: str) -> None:
        self.maps_read.append(site)

    async def run_task(self, request: RunRequest) -> RunSummary:
        self.asked.append(request)
        ending = self.endings.pop(0) if self.endings else ended()
        if isinstance(ending, SiteloreError):
            raise ending
        blobs: dict[str, bytes] = {}
        digest = add_blob(blobs, encode_evidence(RunEvidence(answer="yes")))
        shown = (Exposure(tip="demo-1", step=1), Exposure(tip="demo-2"))
        steps = [
            make_step(index=0, exposures=shown, action=RecordedAction(kind="click")),
            make_step(index=1, exposures=shown[1:], action=RecordedAction(kind="fill")),
        ]
        run = replace(ending, id=f"run-{len(self.asked)}", evidence=digest, step_count=2)
        await self.core.on_store(self.core.workspace.runs.add, run, steps, blobs)
        return RunSummary(
            run=run.id, outcome=run.outcome.value, answer=None, error=run.error, steps=2, seconds=1.5,
            own_ms=1.0, policy="scout", url=URL, flags=("loop",),
        )  # fmt: skip

    async def episode(self, request: EpisodeRequest = REQUEST, task: SuiteTask = TASK):
        return await self.runner.run(replace(SUITE, tasks=(task,)), request)

    async def stored(self, run: str = "run-1") -> Run:
        return (await self.core.on_store(self.core.workspace.runs.load, run))[0]


def ended(outcome: Outcome = Outcome.ANSWERED, error: str = "", url: str = URL) -> Run:
    return make_run("x", outcome=outcome, error=error, score=None, final=make_step(index=2, url=url))


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SITELORE_LOGINS", str(tmp_path / "logins"))
    core = await Core.open(tmp_path / "workspace", "mina")
    core.workspace.change_site(None, demo_row(URL))
    yield Bench(core)
    await core.aclose()


def _command(tmp_path: Path, text: str) -> str:
    script = tmp_path / f"command-{len(list(tmp_path.glob('command-*')))}.py"
    script.write_text(text)
    return f"{sys.executable} {script}"


def _change(bench: Bench, **values: Any) -> None:
    row: Site = bench.core.workspace.site_store.rows["demo"]
    bench.core.workspace.change_site(row, replace(row, **values))


async def test_a_record_says_what_the_run_did_and_its_run_has_the_score(bench: Bench):
    record = await bench.episode()
    assert (record.key.task, record.key.repeat, record.key.arm) == ("t", 1, "none")
    assert (record.cluster, record.sites, record.kind, record.required_obs) == (
        "demo:basket",
        ("demo",),
        "way",
        "any",
    )
    assert (record.verdict, record.score, record.why, record.error) == (
        ScoreVerdict.PASS,
        1.0,
        "the basket",
        "",
    )
    assert (record.run, record.outcome, record.claimed, record.steps) == ("run-1", "answered", True, 2)
    assert (record.seconds, record.flags, record.actions) == (1.5, ("loop",), ("click", "fill"))
    assert record.tips == (
        TipInEpisode(tip="demo-1", shown=1, followed=1),
        TipInEpisode(tip="demo-2", shown=2, followed=0),
    )
    assert (await bench.stored()).score == 1.0
    asked = bench.asked[0]
    assert (asked.suite, asked.task_id, asked.start_url, asked.kb, asked.graph) == (
        "shop",
        "t",
        URL,
        "none",
        (),
    )
    assert not asked.supervised


async def test_states_of_a_site_before_and_after_are_part_of_the_stored_evidence(
    bench: Bench, tmp_path: Path
):
    text = "import json, sys; print(json.dumps({'given': sys.argv[1:], 'unasked': ['a', 'b']}))"
    _change(bench, state=_command(tmp_path, text))
    record = await bench.episode()
    assert record.unasked == 2
    run = await bench.stored()
    stored = decode_evidence(await bench.core.on_store(bench.core.workspace.runs.read_blob, run.evidence))
    assert stored == bench.rescoring.evidence[0]
    assert stored.answer == "yes"
    assert [state.output["given"] for state in (*stored.before, *stored.after)] == [
        ["before", "t"],
        ["after", "t"],
    ]


OUTSIDE = [
    (
        ended(Outcome.NEEDS_PERSON, "a log-in blocks http://x/login"),
        "the log-in has expired or is not accepted",
    ),
    (ended(Outcome.CRASHED, f"{URL} could not be opened"), "could not be opened"),
    (ended(Outcome.CRASHED, ""), "the run crashed"),
    (ended(Outcome.ANSWERED, url="chrome-error://chromewebdata/"), "could not be reached"),
    (SiteloreError("no browser can be started"), "no browser can be started"),
]
AGENTS_OWN = [
    ended(Outcome.NEEDS_PERSON, "asked: which one?"),
    ended(Outcome.NEEDS_PERSON, "a captcha blocks http://x/"),
    ended(Outcome.CRASHED, "3 answers in a row had no action: no JSON"),
    ended(Outcome.INFEASIBLE),
    ended(Outcome.STEP_LIMIT),
    ended(Outcome.OUT_OF_BUDGET),
    ended(Outcome.LEFT_ALLOWED_SITES),
]


@pytest.mark.parametrize(("ending", "why"), OUTSIDE)
async def test_a_failure_outside_of_the_agent_is_no_verdict(bench: Bench, ending, why):
    bench.endings = [ending]
    record = await bench.episode()
    assert (record.verdict, record.score) == (ScoreVerdict.UNDECIDED, None)
    assert why in record.error
    assert bench.rescoring.evidence == []


@pytest.mark.parametrize("ending", AGENTS_OWN)
async def test_a_failure_of_the_agent_is_scored(bench: Bench, ending):
    bench.endings = [ending]
    record = await bench.episode()
    assert (record.error, record.score, record.claimed) == ("", 1.0, False)


async def test_a_record_keeps_the_rules_with_their_checksums_and_the_judges_raw_reply(bench: Bench):
    record = await bench.episode()
    assert (record.evaluator, record.judge) == ("webarena-verified 1.2.3, data 0123", (REPLY,))


@pytest.mark.parametrize("error", [SiteloreError("the judge is gone"), ValueError("odd")])
async def test_a_run_that_can_not_be_scored_stays_with_the_reason(bench: Bench, error):
    bench.rescoring.error = error
    record = await bench.episode()
    assert (record.run, record.score) == ("run-1", None)
    assert record.error.startswith("the run could not be scored: ")
    assert str(error) in record.error


LOGIN = "import json, sys; json.dump({'cookies': [], 'origins': []}, open(sys.argv[2], 'w')); open(%r, 'a').write('x')"


async def test_a_log_in_is_made_by_the_sites_command_once_and_anew_after_a_reset(
    bench: Bench, tmp_path: Path
):
    made = tmp_path / "made"
    _change(bench, login=_command(tmp_path, LOGIN % str(made)))
    task = replace(TASK, login="clerk")
    await bench.episode(task=task)
    await bench.episode(task=task)
    assert made.read_text() == "x"
    await bench.episode(replace(REQUEST, renew=("demo",)), task)
    assert made.read_text() == "xx"
    assert bench.asked[0].storage_state == str(login_path("demo", "clerk"))


async def test_the_usual_log_in_is_made_anew_where_there_was_one(bench: Bench, tmp_path: Path):
    made = tmp_path / "made"
    _change(bench, login=_command(tmp_path, LOGIN % str(made)))
    await bench.episode(replace(REQUEST, renew=("demo",)))
    assert not made.exists()
    login_path("demo").write_text(json.dumps({"cookies": [], "origins": []}))
    await bench.episode()
    assert not made.exists()
    await bench.episode(replace(REQUEST, renew=("demo",)))
    assert made.read_text() == "x"
    bench.endings = [ended(Outcome.NEEDS_PERSON, "a log-in blocks http://x/login")]
    assert (await bench.episode()).error == ""
    assert made.read_text() == "xx"
    await bench.episode(replace(REQUEST, renew=("demo",)), replace(TASK, login="nobody"))
    assert made.read_text() == "xx"


async def test_an_expired_log_in_is_made_anew_and_the_run_tried_once_more(bench: Bench, tmp_path: Path):
    made = tmp_path / "made"
    _change(bench, login=_command(tmp_path, LOGIN % str(made)))
    login_path("demo", "clerk").write_text(json.dumps({"cookies": [], "origins": []}))
    wall = ended(Outcome.NEEDS_PERSON, "a log-in blocks http://x/login")
    bench.endings = [wall]
    record = await bench.episode(task=replace(TASK, login="clerk"))
    assert (record.run, record.score, record.error) == ("run-2", 1.0, "")
    bench.endings = [wall, wall]
    record = await bench.episode(task=replace(TASK, login="clerk"))
    assert record.error.startswith("the log-in has expired")
    assert len(bench.asked) == 4


async def test_budgets_knowledge_and_steps_are_the_arms_and_the_evaluations(bench: Bench):
    arm = Arm(name="akb+map", kb="kbs/1/june.akb", maps=True)
    await bench.episode(
        replace(REQUEST, arm=arm, max_steps=9, max_seconds=60.0, max_tokens=5, max_money=0.5, har=True)
    )
    asked = bench.asked[0]
    assert asked.kb == str(bench.core.workspace.path / "kbs/1/june.akb")
    assert (asked.max_steps, asked.max_seconds, asked.max_tokens, asked.max_money) == (9, 60.0, 5, 0.5)
    assert asked.har
    assert bench.encoder_waits == 1
    await bench.episode(task=replace(TASK, max_steps=4))
    assert bench.asked[1].max_steps == 4
    assert bench.encoder_waits == 1
