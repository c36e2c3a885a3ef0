"""Supervision without disk or browser: six fake runs that answer at once, each action with its events.

Two need a person (a captcha, an order to approve), one is paused by a flag, one is queued, one has ended.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from dataclasses import replace

from app.engine.api.live_api import LiveRunDetail
from app.engine.api.run_api import RunRequest
from app.engine.core.events import (
    ActionPlanned,
    EventBus,
    HintChanged,
    InterventionMade,
    KnowledgeChanged,
    LiveRunChanged,
    LiveRunDismissed,
    PageFrame,
    PolicyChanged,
    RequestChanged,
    TipsRetrieved,
)
from app.engine.core.hand_back import HAND_BACK, HandBack
from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    InterventionPolicy,
    PolicyCount,
    PolicyPreview,
    RiskClass,
)
from app.engine.core.ledger import Ledger
from app.engine.core.page_input import NavigationKind, PageInput
from app.engine.core.supervision import (
    ApprovalRequest,
    DecisionKind,
    FlagReaction,
    Hint,
    Intervention,
    KnowledgeAtStep,
    LiveRow,
    Need,
    OperatorAction,
    OperatorDecision,
    PlannedAction,
    RaisedFlag,
    RequestState,
    RunState,
    Stage,
    TakeoverSummary,
    TipAtStep,
    TipOverride,
)
from app.engine.core.verdicts import Severity
from app.errors import Conflict, NotFound
from kb.tip import TipDraft
from tests.support.fake_equal_requests import FakeEqualRequests
from tests.support.made_up import NOW, make_run, make_step

SHOP = "http://shop.example"
DEEDS = {
    DecisionKind.APPROVE: OperatorAction.APPROVED,
    DecisionKind.DENY: OperatorAction.DENIED,
    DecisionKind.EDIT: OperatorAction.EDITED,
    DecisionKind.ANSWER: OperatorAction.ANSWERED,
    DecisionKind.RETRY: OperatorAction.RESUMED,
    DecisionKind.NO_WALL: OperatorAction.NO_WALL,
}


def page_jpeg(width: int, height: int, shade: int = 0) -> bytes:
    """Return a page-like picture: a header, a few lines, a button."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (width, height), (250, 250, 250 - shade % 40))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, width, height // 10), fill=(15, 118, 110))
    for line in range(6):
        y = height // 6 + line * height // 10
        draw.rectangle(
            (width // 20, y, width // 2 + (line * 37) % (width // 3), y + height // 30), fill=(190, 196, 204)
        )
    draw.rectangle((width // 20, height * 8 // 10, width // 4, height * 9 // 10), fill=(37, 99, 235))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=60)
    return out.getvalue()


def make_rows() -> list[LiveRow]:
    """Return the runs, in no particular order."""

    def row(number: int, intent: str, state: RunState, **more: object) -> LiveRow:
        usual = LiveRow(
            run=f"live-{number}", intent=intent, state=state, site="shop", policy="scout", start_url=f"{SHOP}/",
            url=f"{SHOP}/catalogue/?page={number}", title=f"Catalogue page {number}", step=number + 1, max_steps=30,
            plan="find the product, then put it into the basket", words="click link 'Next'", stage=Stage.THINKING,
            stage_since=NOW, seconds=31.0 * number, started_at=NOW - 60 * number,
        )  # fmt: skip
        return replace(usual, **more)

    captcha = ApprovalRequest(
        id="req-1", run="live-2", need=Need.WALL, step=3, site="shop", url=f"{SHOP}/check/", opened_at=NOW - 40,
        question="A captcha stands before shop.example/check/. Deal with it on the page.",
        why="the page says 'Are you a robot?'",
    )  # fmt: skip
    order = ApprovalRequest(
        id="req-2", run="live-3", need=Need.APPROVAL, step=4, site="shop", url=f"{SHOP}/checkout/",
        question="May the agent press 'Place order'?", why="the word 'order' on a button that sends a form",
        words="click button 'Place order'", call='click("12")', risk=RiskClass.BUYS.value, opened_at=NOW - 20,
    )  # fmt: skip
    flag = RaisedFlag(
        detector="repeated_action", step=4, severity=Severity.ERROR,
        message="The click on 'Save' changed nothing (3rd time)",
    )  # fmt: skip
    return [
        row(1, "What is the price of 'Hacking Exposed Wireless'?", RunState.RUNNING),
        row(2, "Order two copies of 'The Shellcoder's Handbook'", RunState.WAITING, needs=(captcha,), risk=0.41),
        row(3, "Buy the cheapest book on the second page", RunState.WAITING, needs=(order,), risk=0.35),
        row(4, "Rename the category 'Fiction' to 'Novels'", RunState.PAUSED, flags=(flag,), risk=0.88, policy="llm"),
        row(5, "How many orders were placed in May?", RunState.QUEUED, step=0, stage=Stage.IDLE, words="", plan=""),
        row(6, "Which review has the lowest rating?", RunState.ENDED, outcome="answered", why="answered: 'Too thin'"),
    ]  # fmt: skip


class FakeLive(FakeEqualRequests):
    """The supervision part of ``FakeEngine``."""

    bus: EventBus
    own_votes: dict[str, str]
    calls: list[tuple[str, tuple[object, ...]]]

    def start_live(self, *, empty: bool = False) -> None:
        self.rows = {} if empty else {row.run: row for row in make_rows()}
        self.needs = {need.id: need for row in self.rows.values() for need in row.needs}
        self.hints: dict[str, Hint] = {}
        self.deeds: list[Intervention] = []
        self.reactions: list[FlagReaction] = []
        self.policy = DEFAULT_POLICY
        self.inputs: list[PageInput] = []
        self.watched: dict[str, tuple[int, int, float]] = {}
        self.before_takeover: dict[str, RunState] = {}
        self._numbers = itertools.count(1)

    # ------------------------------------------------------------ the wall
    async def live_runs(self) -> list[LiveRow]:
        return list(self.rows.values())

    async def live_run(self, run: str) -> LiveRunDetail:
        row = self._live_row(run)
        made = make_run(0)
        return LiveRunDetail(
            row=row,
            steps=tuple(make_step(made, number) for number in range(row.step)),
            next=self.next_of(run) if row.state.alive and row.state is not RunState.QUEUED else None,
            knowledge=self.knowledge_of(run),
            ledger=Ledger(goal=row.intent),
            ledger_changes=("fact: page 2 has 20 products",),
            requests=row.needs,
            hints=tuple(hint for hint in self.hints.values() if hint.run == run),
            interventions=tuple(deed for deed in self.deeds if deed.run == run),
        )

    async def start_runs(self, requests: Sequence[RunRequest], at_once: int = 0) -> list[str]:
        self.calls.append(("start_runs", (tuple(requests), at_once)))
        made: list[str] = []
        for request in requests:
            run = f"live-new-{next(self._numbers)}"
            row = LiveRow(
                run=run, intent=request.intent, state=RunState.STARTING, policy=request.policy,
                start_url=request.start_url, max_steps=request.max_steps, started_at=NOW,
            )  # fmt: skip
            self.put(row)
            made.append(run)
        return made

    async def read_tasks(self, path: str, start_url: str = "") -> list[RunRequest]:
        self.calls.append(("read_tasks", (path, start_url)))
        return [RunRequest(intent=f"Task {number} of {path}", start_url=f"{SHOP}/") for number in (1, 2, 3)]

    async def run_request(self, run: str) -> RunRequest:
        row = self._live_row(run)
        return RunRequest(
            intent=row.intent, start_url=row.start_url, policy=row.policy, max_steps=row.max_steps
        )

    async def dismiss_run(self, run: str) -> None:
        self.calls.append(("dismiss_run", (run,)))
        self._live_row(run)
        del self.rows[run]
        self.bus.publish(LiveRunDismissed(run=run))

    # ------------------------------------------------------------ one run
    async def pause_run(self, run: str) -> None:
        self._move(run, RunState.PAUSED, OperatorAction.PAUSED)

    async def continue_run(self, run: str) -> None:
        self._move(run, RunState.RUNNING, OperatorAction.RESUMED)

    async def step_run(self, run: str) -> None:
        row = self._live_row(run)
        self.put(replace(row, step=row.step + 1, state=RunState.PAUSED))
        self._deed(run, OperatorAction.STEPPED)

    async def end_run(self, run: str) -> None:
        row = self._live_row(run)
        self.put(replace(row, state=RunState.ENDED, outcome="stopped", needs=()))
        self._deed(run, OperatorAction.STOPPED)

    async def pause_all(self) -> int:
        going = [row.run for row in self.rows.values() if row.state is RunState.RUNNING]
        for run in going:
            await self.pause_run(run)
        return len(going)

    # ------------------------------------------------------------ a person's word
    async def requests(self, run: str = "", closed: bool = False) -> list[ApprovalRequest]:
        return [
            need
            for need in self.needs.values()
            if run in ("", need.run) and (closed or need.state is not RequestState.CLOSED)
        ]

    async def decide(self, request: str, decision: OperatorDecision) -> ApprovalRequest:
        self.calls.append(("decide", (request, decision)))
        need = self.needs.get(request)
        if need is None:
            raise NotFound(f"no request {request!r}")
        if need.state is not RequestState.OPEN:
            raise Conflict("this was decided already")
        need = replace(need, state=RequestState.DECIDED, decision=decision)
        self.needs[request] = need
        self.bus.publish(RequestChanged(request=need))
        self._deed(need.run, DEEDS[decision.kind], about=request)
        row = self._live_row(need.run)
        left = tuple(one for one in row.needs if one.id != request)
        self.put(replace(row, needs=left, state=RunState.RUNNING if not left else row.state))
        return need

    async def send_hint(self, run: str, text: str) -> Hint:
        self.calls.append(("send_hint", (run, text)))
        row = self._live_row(run)
        hint = Hint(id=f"hint-{next(self._numbers)}", run=run, step=row.step, text=text, at=NOW)
        self.hints[hint.id] = hint
        self.bus.publish(HintChanged(hint=hint))
        self._deed(run, OperatorAction.HINTED, text, about=hint.id)
        return hint

    async def draft_tip_from_hint(self, hint: str) -> TipDraft:
        self.calls.append(("hint_draft", (hint,)))
        return TipDraft(site="shop", text=self.hints[hint].text)

    async def interventions(self, run: str) -> list[Intervention]:
        return [deed for deed in self.deeds if deed.run == run]

    async def judge_flag(self, run: str, step: int, detector: str, right: bool) -> FlagReaction:
        self.calls.append(("react", (run, step, detector, right)))
        reaction = FlagReaction(run=run, step=step, detector=detector, right=right, at=NOW)
        self.reactions.append(reaction)
        self._deed(run, OperatorAction.CONFIRMED if right else OperatorAction.DISMISSED, about=detector)
        return reaction

    async def override_tip(self, run: str, tip: str, stance: TipOverride) -> None:
        self.calls.append(("steer_tip", (run, tip, stance)))
        here = self.knowledge_of(run)
        tips = tuple(replace(one, stance=stance) if one.tip == tip else one for one in here.tips)
        self.bus.publish(TipsRetrieved(here=replace(here, tips=tips)))

    async def vote_tip(self, run: str, tip: str, vote: int) -> None:
        self.calls.append(("vote_tip", (run, tip, vote)))
        if not run:  # in Knowledge
            self.own_votes[tip] = {1: "up", -1: "down"}.get(vote, "")
            self.bus.publish(KnowledgeChanged(tips=(tip,)))
            return
        self.own_votes[f"{run}/{tip}"] = {1: "up", -1: "down"}.get(vote, "")
        if run in self.all_runs:  # in Review
            self.bus.publish(KnowledgeChanged(tips=(tip,)))
            return
        here = self.knowledge_of(run)
        tips = tuple(replace(one, vote=vote) if one.tip == tip else one for one in here.tips)
        self.bus.publish(TipsRetrieved(here=replace(here, tips=tips)))

    # ------------------------------------------------------------ the policy
    async def intervention_policy(self) -> InterventionPolicy:
        return self.policy

    async def save_intervention_policy(self, policy: InterventionPolicy) -> InterventionPolicy:
        self.calls.append(("save_intervention_policy", (policy,)))
        self.policy = policy
        self.bus.publish(PolicyChanged())
        return policy

    async def preview_policy(self, policy: InterventionPolicy) -> PolicyPreview:
        whole = PolicyCount(
            site="", runs=59, judged=59, failed=31, marked=50, notified=30, paused=14, asked=2, failed_notified=24,
            failed_paused=12, failed_asked=2, first_step=6.0,
        )  # fmt: skip
        return PolicyPreview(whole=whole, sites=(replace(whole, site="shop"),), held=(("fake-run", 6),))

    # ------------------------------------------------------------ the page
    async def watch_page(self, run: str, width: int, height: int, rate: float) -> None:
        self._live_row(run)
        if rate <= 0:
            self.watched.pop(run, None)
        else:
            self.watched[run] = (width, height, rate)

    async def take_over(self, run: str) -> None:
        self.before_takeover[run] = self._live_row(run).state
        self._move(run, RunState.TAKEN_OVER, OperatorAction.TOOK_OVER)

    async def send_input(self, run: str, inputs: Sequence[PageInput]) -> None:
        if self._live_row(run).state is not RunState.TAKEN_OVER:
            raise Conflict("you don't have control of the page; take it over first")
        self.inputs += inputs

    async def move_page(self, run: str, move: NavigationKind, url: str = "") -> str:
        row = self._live_row(run)
        self.calls.append(("move_page", (run, move, url)))
        if row.state is not RunState.TAKEN_OVER:
            raise Conflict("you don't have control of the page; take it over first")
        if move is NavigationKind.OPEN:
            self.put(replace(row, url=url))
        return f"{url} is not one of this run's sites" if "elsewhere" in url else ""

    async def release(self, run: str, back: HandBack = HAND_BACK) -> TakeoverSummary:
        row = self._live_row(run)
        self.calls.append(("release", (run, back)))
        if row.state is not RunState.TAKEN_OVER:
            raise Conflict("you don't have control of the page")
        left = tuple(need for need in row.needs if need.need is not Need.WALL)
        self.put(replace(row, needs=left))
        self._move(run, RunState.RUNNING, OperatorAction.RELEASED)
        if back.ends:
            self.put(replace(self.rows[run], state=RunState.ENDED, outcome="done_by_hand", needs=()))
        return TakeoverSummary(
            run=run, first_step=row.step, steps=2, words="clicked link 'Orders', filled in 'Search'",
            url_before=row.url, url_after=f"{SHOP}/orders/", changes=("the address is now /orders/",),
            tip_text="The orders are under 'Orders' in the account menu.", masked=1,
        )  # fmt: skip

    async def draft_tip_from_takeover(self, run: str, step: int) -> TipDraft:
        self.calls.append(("takeover_draft", (run, step)))
        return TipDraft(site="shop", text="The orders are under 'Orders' in the account menu.")

    async def takeover_to_graph(self, run: str, step: int) -> int:
        self.calls.append(("takeover_to_graph", (run, step)))
        return 2

    # ------------------------------------------------------------ for tests
    def put(self, row: LiveRow) -> None:
        """Set a run and publish it."""
        self.rows[row.run] = row
        self.bus.publish(LiveRunChanged(row=row))

    def next_of(self, run: str) -> PlannedAction:
        return PlannedAction(
            run=run, step=self.rows[run].step, words="click button 'Place order'", call='click("12")',
            reason="the basket holds what was asked for", risk=RiskClass.BUYS, risk_why="the button says 'order'",
            element=12, box=(64.0, 640.0, 256.0, 80.0), point=(192.0, 680.0), url=self.rows[run].url,
            follows={"shop-001": True, "shop-002": False},
        )  # fmt: skip

    def plan(self, run: str) -> None:
        """Publish the next action."""
        self.bus.publish(ActionPlanned(next=self.next_of(run)))

    def knowledge_of(self, run: str) -> KnowledgeAtStep:
        row = self.rows[run]
        tips = (
            TipAtStep(
                tip="shop-001", text="The price stands on the product's own page, not in the list.", kind="navigation",
                route="url", score=1.0, routes={"url": 1.0, "keyword": 0.42}, why="the address fits /catalogue/*",
                tokens=18, follows=True,
            ),
            TipAtStep(
                tip="shop-002", text="Sort by 'Price low to high' before taking the cheapest.", kind="operation",
                route="keyword", score=0.61, routes={"keyword": 0.61}, why="cheapest, price", tokens=15, follows=False,
            ),
            TipAtStep(
                tip="shop-003", text="Orders are counted without those that were cancelled.", kind="data-fact",
                route="embedding", score=0.38, routes={"embedding": 0.38}, tokens=240, cut="over the budget of tokens",
            ),
        )  # fmt: skip
        return KnowledgeAtStep(run=run, step=row.step, url=row.url, tips=tips, tokens=33, budget=600)

    def frame(self, run: str, *, input_at: float = 0.0) -> None:
        """Send a picture of the page, in the requested size."""
        width, height, _ = self.watched[run]
        number = next(self._numbers)
        self.bus.publish(
            PageFrame(
                run=run, number=number, width=width, height=height, page_width=1280, page_height=800,
                jpeg=page_jpeg(width, height, number), url=self.rows[run].url, pointer=(192.0, 680.0),
                input_at=input_at,
            )
        )  # fmt: skip

    def _live_row(self, run: str) -> LiveRow:
        row = self.rows.get(run)
        if row is None:
            raise NotFound(f"no run {run!r} among the live runs")
        return row

    def _move(self, run: str, state: RunState, deed: OperatorAction) -> None:
        row = self._live_row(run)
        self.calls.append((deed.value, (run,)))
        self.put(replace(row, state=state))
        self._deed(run, deed)

    def _deed(self, run: str, deed: OperatorAction, words: str = "", about: str = "") -> None:
        made = Intervention(
            run=run, step=self.rows[run].step, action=deed, words=words, author="ana", about=about, at=NOW,
            order=next(self._numbers),
        )  # fmt: skip
        self.deeds.append(made)
        self.bus.publish(InterventionMade(intervention=made))
