"""The whole prompts of every role at three steps, as text: one scripted run on the pages of the bundled demo site.

Nothing of it depends on the clock, on chance or on the machine: the marker is fixed, the date is given, the pages are
captures in files, their pictures grey.  The answers are prepared; they say nothing of how a model would do.

``python -m tests.support.golden_prompts --write`` renews the files, ``--show`` prints one full prompt of each role.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from app.engine.agent.judging.answer_judge import ask_judge
from app.engine.agent.judging.cause_question import ask_for_cause
from app.engine.agent.judging.judge import JudgeOptions, judge_run
from app.engine.agent.llm.llm_policy import LlmPolicy
from app.engine.agent.llm.options import LlmOptions
from app.engine.agent.llm.prompting import Fence
from app.engine.agent.llm.selector import Selector
from app.engine.agent.memory import entries
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.navigator import StateCandidate
from app.engine.agent.procedures import model_draft
from app.engine.agent.vision.vision_client import VisionClient, VisionFocus
from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.recorded import ActionTarget, describe_action, to_recorded
from app.engine.core.actions.types import Action, elements_of
from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind
from app.engine.core.evaluation.judge_question import JudgeAsks, JudgeQuestion
from app.engine.core.local_time import LocalTime
from app.engine.core.model_api import AgentRole, ModelError
from app.engine.core.observation import AgentDecision, HistoryEntry, NavigableSite, Observation, RetrievedTip
from app.engine.core.page_state import PageCapture
from app.engine.core.trajectory import Outcome, Run, Step
from app.engine.detectors.cause_material import CauseMaterial
from kb.tip import Kind, TipDraft
from tests.support.golden_pages import HOST, golden_page, grey_picture
from tests.support.scripted_model import Question, ScriptedModel

FOLDER = Path(__file__).parents[1] / "golden" / "prompts"
MARKER = "0123456789ab"
BEGAN = 1_772_533_800.0
"""2026-03-03 10:30 UTC."""
INTENT = 'Put three large "Enamel Mug" into the basket and answer with what they cost together, as a number.'
SHOWN = {AgentRole.OPERATOR: (0, 3, 6), AgentRole.PLANNER: (0, 3, 6)}
"""Steps of the roles that are asked at nearly every step; of the others the first three."""

TIPS = (
    RetrievedTip(
        tip="tip-size", kind="operation", routes=("url",), score=2.4,
        text="A product goes into the basket only after a size was chosen, even where there is one size only.",
        when="on a product's page", do="choose the size, then press 'Add to basket'",
    ),
    RetrievedTip(
        tip="tip-price", kind="data-fact", routes=("keyword",), score=1.1,
        text="Prices on department pages are those of the smallest size.",
    ),
)  # fmt: skip
MAP = (NavigableSite(name="larkspur", states=24, home=f"{HOST}/"),)


def planned(step: int, *, done: bool = False) -> str:
    """Return the planner's prepared answer."""
    states = ("done", "active", "open") if step else ("active", "open", "open")
    intents = ("find the Enamel Mug", "choose the large size, three of them", "read the price")
    return json.dumps(
        {
            "observation": "the shop", "challenges": "nothing", "reasoning": "as far as the plan says",
            "constraints": [], "done": done, "impossible": False, "missing": "",
            "plan": [{"id": str(at) if step else "", "intent": intent, "state": state}
                     for at, (intent, state) in enumerate(zip(intents, states, strict=True), 1)],
            "next_steps": ["open the page of the Enamel Mug"], "final_answer": "28.50" if done else "",
        }
    )  # fmt: skip


class GoldenRun:
    """The scripted run; ``asked`` are the questions of each role with their steps."""

    def __init__(self) -> None:
        self.step = 0
        self.asked: dict[str, list[tuple[int, Question]]] = defaultdict(list)
        self.model = ScriptedModel(self._answer)
        self.fence = Fence(MARKER)
        self.ledger = LedgerStore(clock=lambda: BEGAN)
        self.pages = {name: golden_page(name) for name in ("home", "shelf", "product")}
        self._said: list[tuple[str, str, str]] = [
            (
                "home",
                'navigate("larkspur", "Kitchen department with the Enamel Mug")',
                "I start at the shop's home.",
            ),
            (
                "shelf",
                'take_note("Enamel Mug, small: 9.50")',
                "The mug is listed; the tip says this is the small one.",
            ),
            ("shelf", self._click("shelf", "Enamel Mug"), "I open the mug's page for the large size."),
            ("product", self._click("product", "Large"), "The task wants the large size."),
            ("product", self._click("product", "Add to basket"), "The size is chosen; now into the basket."),
            ("product", 'calculate("9.50 * 3")', "The price of the large one is the same."),
            ("product", 'stop("28.50")', "All three are in the basket, and the sum is known."),
        ]
        self._results = (
            ActionResult(success=True, effect=Effect.NAVIGATED, output="arrived at 'Kitchen · Larkspur Goods'"),
            ActionResult(success=True, effect=Effect.DONE, output="kept as note 1"),
            ActionResult(success=True, effect=Effect.NAVIGATED),
            ActionResult(
                success=False, effect=Effect.NOTHING, cause=Cause.COVERED, why="covered by dialog 'Cookies'",
                alternatives=("close the dialog first",),
            ),
            ActionResult(success=True, effect=Effect.CHANGED),
            ActionResult(success=True, effect=Effect.DONE, output="= 28.50"),
        )  # fmt: skip

    async def play(self) -> None:
        """Ask every role."""
        await self._run()
        await self._select()
        await self._look()
        await self._judge()
        await self._draft()

    def texts(self) -> dict[str, str]:
        """Return the chosen prompts by file name."""
        found: dict[str, str] = {}
        for role, asked in self.asked.items():
            wanted = SHOWN.get(AgentRole(role)) if role in set(AgentRole) else None
            chosen = {step: question for step, question in asked if wanted is None or step in wanted}
            for step, question in list(chosen.items())[:3]:
                found[f"{role.replace(' ', '_')}-step{step}.txt"] = prompt_text(question)
        return found

    def _answer(self, question: Question) -> str:
        role = question.role
        name = role.value
        match role:
            case AgentRole.OPERATOR:
                _, action, thought = self._said[self.step]
                said = (
                    f"<think>\n{thought}\n</think>\n<expect>It works.</expect>\n<action>\n{action}\n</action>"
                )
            case AgentRole.PLANNER:
                said = planned(self.step, done=self.step == len(self._said) - 1 and self._is_claim(question))
            case AgentRole.SUMMARIZER:
                said = json.dumps({"summary": f"Up to step {self.step - 3}: the mug was found."})
            case AgentRole.ALIGNMENT:
                said = json.dumps({"tips": [{"tip": 1, "bearing": "follows"}], "guidance": ""})
            case AgentRole.SELECTOR:
                said = json.dumps({"reasoning": "it lists the mugs", "page": 1})
            case AgentRole.JUDGE:
                name = JUDGED[str(question.schema["title"])] if question.schema else name
                said = json.dumps(
                    {"expected": "x", "shows": "yes", "evidence": "x", "confidence": 0.9, "missing": "nothing",
                     "met": "yes", "reason": "", "step": self.step, "facts": "x", "verdict": "correct"}
                )  # fmt: skip
            case AgentRole.DRAFTER:
                said = json.dumps({"steps": []})
            case _:
                said = json.dumps({"page_type": "product_detail", "summary": "a mug", "boxes": [BOX]})
        self.asked[name].append((self.step, question))
        return said

    def _is_claim(self, question: Question) -> bool:
        return "The agent claims" in question.text

    async def _run(self) -> None:
        policy = LlmPolicy(
            self.model, options=LlmOptions(every=3, fold=1, batch=5, pictures="changed"), fence=self.fence
        )
        self.ledger.write(entries.goal(INTENT))
        history: tuple[HistoryEntry, ...] = ()
        for number, (name, _, _) in enumerate(self._said):
            self.step = number
            seen = self._observation(self.pages[name], history)
            decision = await policy.decide(seen)
            if decision.action is None or number == len(self._results):
                break
            turn = self._turn(seen, decision, decision.action, self._results[number])
            self._remember(decision, turn)
            history = (*history, turn)
        await policy.aclose()
        self.history = history

    def _observation(self, page: PageCapture, history: tuple[HistoryEntry, ...]) -> Observation:
        return Observation(
            step=self.step, steps_left=30 - self.step, intent=INTENT, start_url=f"{HOST}/", page=page,
            state=f"{self.step:016x}", tips=TIPS, domains=MAP, ledger=self.ledger.ledger, history=history,
            clock=LocalTime(began=BEGAN, now=BEGAN + 20 * self.step),
        )  # fmt: skip

    def _turn(
        self, seen: Observation, decision: AgentDecision, action: Action, result: ActionResult
    ) -> HistoryEntry:
        target = _target(seen.page, action)
        return HistoryEntry(
            step=seen.step, url=seen.page.url, title=seen.page.title, state=seen.state, action=action,
            result=result, words=describe_action(to_recorded(action), target), reason=decision.reason,
        )  # fmt: skip

    def _remember(self, decision: AgentDecision, turn: HistoryEntry) -> None:
        dead = entries.dead_end_of(turn.result, turn.words, state=turn.state, url=turn.url, step=turn.step)
        self.ledger.write(
            entries.plan(decision.plan, turn.step) if decision.plan is not None else None,
            entries.subgoal(decision.subgoal, turn.step) if decision.subgoal else None,
            *(entries.fact_of(fact, turn.step) for fact in decision.facts),
            *(entries.note(note, turn.step) for note in decision.notes),
            entries.agent_note(turn.action.text, turn.step, turn.url)
            if hasattr(turn.action, "text")
            else None,
            entries.outcome(turn.step, turn.words, turn.result, url=turn.url, state=turn.state),
            dead,
        )

    async def _select(self) -> None:
        async def pictures(digests: Any) -> dict[str, bytes]:
            return {digest: grey_picture(64, 40) for digest in digests}

        cards = [
            StateCandidate(
                node=name, title=page.title, url=page.url, headings=page.headings, picture=f"{at:064x}",
                controls=tuple(f"{one.role} {one.name}" for one in page.elements if one.name), matched=("Kitchen",),
            )
            for at, (name, page) in enumerate(self.pages.items(), 1)
        ]  # fmt: skip
        selector = Selector(self.model, self.fence, pictures)
        for self.step, query in enumerate(("list of kitchen things", "page of the Enamel Mug", "the basket")):
            await selector.choose(query, INTENT, cards)

    async def _look(self) -> None:
        client = VisionClient(self.model, clock=lambda: 0.0, fence=self.fence)
        focus, frame = VisionFocus(task=INTENT, subgoal="choose the large size", labels=("Large",)), None
        for self.step, name in enumerate(("shelf", "product")):
            frame = await client.look(self.pages[name], focus, frame)
        assert frame is not None
        self.step = 2
        await client.look_for_missing(self.pages["product"], focus, frame)

    async def _judge(self) -> None:
        contents = {f"{at:064x}": page.tree.encode() for at, page in enumerate(self.pages.values(), 1)}
        shots = {f"{at + 9:064x}": page.picture for at, page in enumerate(self.pages.values(), 1)}
        places = {page.url: at for at, page in enumerate(self.pages.values(), 1)}

        async def load(digest: str) -> bytes:
            return (contents | shots)[digest]

        def page_of(turn: HistoryEntry, **more: Any) -> Step:
            at = places[turn.url]
            return Step(
                index=turn.step,
                url=turn.url,
                title=turn.title,
                tree=f"{at:064x}",
                screenshot=f"{at + 9:064x}",
                **more,
            )

        steps = [
            page_of(
                turn,
                reason=turn.reason,
                action=to_recorded(turn.action),
                effect=turn.result.effect.value,
                target=_target(next(one for one in self.pages.values() if one.url == turn.url), turn.action),
            )
            for turn in self.history
        ]
        final = replace(page_of(self.history[-1]), index=len(steps), executed=False)
        run = Run(
            id="golden", source="sitelore", intent=INTENT, start_url=f"{HOST}/", answer="28.50", final=final,
            outcome=Outcome.ANSWERED, step_count=len(steps),
        )  # fmt: skip
        self.step = len(steps)
        await judge_run(run, steps, load, self.model, options=JudgeOptions(steps=0), fence=self.fence)
        for step in steps:
            self.step = step.index
            after = steps[step.index + 1] if step.index + 1 < len(steps) else final
            short = replace(run, final=replace(after, executed=False), outcome=Outcome.RUNNING)
            await judge_run(short, [step], load, self.model, fence=self.fence)

        for self.step, asks in enumerate(JudgeAsks):
            question = JudgeQuestion(asks=asks, intent=INTENT, reference="28.50; three mugs", answer="28.50")
            await ask_judge([question], self.model, self.fence)
        self.step = len(steps)
        failed = CauseMaterial(run=replace(run, score=0.0), steps=steps)
        with suppress(ModelError):  # the judge's scripted answer has no cause
            await ask_for_cause(failed, "It answered.", ["The answer says 28.50."], self.model, self.fence)

    async def _draft(self) -> None:
        for self.step, tip in enumerate(TIPS_TO_DRAFT):
            await self.model.ask(
                AgentRole.DRAFTER, model_draft.question(tip, self.fence), schema=model_draft.SCHEMA
            )

    def _click(self, page: str, name: str) -> str:
        element = next(one for one in self.pages[page].elements if one.name.startswith(name))
        return f'click("{element.index}")'


BOX = {
    "label": "Large", "box_2d": [500, 560, 530, 640], "role": "radio", "clickable": True, "confidence": 0.9,
    "relevant": True, "scene": "target",
}  # fmt: skip
JUDGED = {
    "run_check": "judge_outcome",
    "step_check": "judge_step",
    "answer_check": "judge_answer",
    "reason_check": "judge_reason",
    "failure_cause": "explain_failure",
}
"""Kinds of the judge's questions by the titles of their schemas."""
TIPS_TO_DRAFT = (
    TipDraft(site="larkspur", text=TIPS[0].text, when=TIPS[0].when, do=TIPS[0].do),
    TipDraft(site="larkspur", text="Search orders by number, never by the customer's name.", kind=Kind.NAVIGATION),
    TipDraft(
        site="larkspur", text="The basket is emptied by a reload.", kind=Kind.UI_QUIRK,
        do=f"open {HOST}/basket", before="save the list", why="the shop forgets it",
    ),
)  # fmt: skip


def _target(page: PageCapture, action: Action) -> ActionTarget | None:
    numbers = elements_of(action)
    element = page.elements[numbers[0]] if numbers else None
    return ActionTarget(role=element.role, name=element.name) if element is not None else None


def prompt_text(question: Question) -> str:
    """Return a whole message list as text; a picture is its size and its words."""
    schema = f"\n=== answer: JSON by the schema {question.schema['title']}\n" if question.schema else ""
    return (
        "\n".join(_message_text(one, question.pictures) for one in question.messages).rstrip() + f"\n{schema}"
    )


def _message_text(message: ChatMessage, pictures: dict[str, bytes]) -> str:
    parts = "\n".join(_part_text(part, pictures) for part in message.parts)
    return f"=== {message.role.value}\n{parts}\n"


def _part_text(part: MessagePart, pictures: dict[str, bytes]) -> str:
    if part.kind is not PartKind.IMAGE:
        return part.text
    if part.digest not in pictures:
        return f"[picture left out] {part.text}".rstrip()
    width, height = Image.open(io.BytesIO(pictures[part.digest])).size
    return f"[picture {width}x{height}] {part.text}".rstrip()


def golden_prompts() -> dict[str, str]:
    """Return all golden prompts by file name."""

    async def playing() -> dict[str, str]:
        run = GoldenRun()
        await run.play()
        return run.texts()

    with asyncio.Runner() as runner:
        return runner.run(playing())


def main(arguments: list[str]) -> None:
    """Write or show the prompts."""
    found = golden_prompts()
    if "--write" in arguments:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for old in {path.name for path in FOLDER.glob("*.txt")} - found.keys():
            (FOLDER / old).unlink()
        for name, text in found.items():
            (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{len(found)} prompts are written to {FOLDER}\n")
        return
    shown = set[str]()
    for name, text in found.items():
        if (role := name.partition("-")[0]) not in shown:
            shown.add(role)
            sys.stdout.write(f"################ {name}, about {len(text.encode()) // 4} tokens\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
