"""The scout as a policy: it reads the task in parts and does one after the other, a step at each look.

How a task becomes a goal, a goal a place and a place an answer: ``task`` reads parts; ``terms`` and ``navigation``
find the page of a part; ``answering`` reads an answer off it and ``changes`` does what it asks for.  A person's hint
comes first, then the steps of tips.  "Done" needs evidence on the page; otherwise it gives up and says what it would
need.  Deterministic and without a model; the write gate stands under it.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.agent.navigator import StateCandidate
from app.engine.agent.scout.change_part import change_step
from app.engine.agent.scout.hinting import hint_step
from app.engine.agent.scout.memory import Memory, ScoutStep
from app.engine.agent.scout.navigation import choose_state
from app.engine.agent.scout.page_context import PageContext, page_key
from app.engine.agent.scout.part_view import GiveUp, PartDone, PartView
from app.engine.agent.scout.question_part import question_step
from app.engine.agent.scout.task import Task, TaskMode, TaskPart, read_task
from app.engine.agent.scout.terms import terms_of
from app.engine.agent.scout.tip_following import failed_tips, tip_step
from app.engine.agent.scout.way_part import way_step
from app.engine.core.actions.recorded import to_recorded
from app.engine.core.actions.types import Action, CloseTab, GoBack, ReportInfeasible, Stop
from app.engine.core.observation import AgentDecision, HistoryEntry, Observation

DONE = "done"
"""Answer of a task that asks for none."""
_MOST_PARTS = 12
_STEPS = {TaskMode.WAY: way_step, TaskMode.QUESTION: question_step, TaskMode.CHANGE: change_step}


class ScoutPolicy:
    """Decides by rules; one object a run."""

    def __init__(self) -> None:
        self._memory = Memory()
        self._answers: list[str] = []
        self._evidence: list[str] = []
        self._intent = self._key = self._start = ""
        self._at = 0

    @property
    def name(self) -> str:
        """``scout``."""
        return "scout"

    async def decide(self, observation: Observation) -> AgentDecision:
        """Return the next step; ``Stop`` with evidence, or ``ReportInfeasible`` with what is missing."""
        if observation.step == 0 or observation.intent != self._intent:
            self._memory, self._answers, self._evidence = Memory(), [], []
            self._intent, self._start = observation.intent, observation.start_url
        self._memory.learn(self._outcome(observation))
        context = PageContext(observation.page)
        self._key = context.key
        self._memory.note_page(context.key, (one.href for one in context.links))
        step = hint_step(observation, context, self._memory) or self._out_of_nowhere(observation)
        if step is None:
            step = self._next(observation, context, read_task(observation.intent))
        return step if isinstance(step, AgentDecision) else self._decided(step)

    def choose_state(self, candidates: Sequence[StateCandidate]) -> int | None:
        """Return the number of the state of a map that the part in hand is about, ``None`` for none."""
        parts, memory = read_task(self._intent).parts, self._memory
        terms = terms_of(parts[min(memory.part, len(parts) - 1)])
        fit = memory.fits.get(self._key, 0.0)
        number = choose_state(terms, candidates, fit=fit, seen=memory.fits, start=self._start)
        if number == 0:  # the state search says so, too
            memory.marks.add(f"map:{page_key(candidates[0].url)}")
        return number

    async def aclose(self) -> None:
        """Nothing is held."""

    def _next(self, observation: Observation, context: PageContext, task: Task) -> ScoutStep | AgentDecision:
        for _ in range(_MOST_PARTS):
            if self._memory.part >= len(task.parts):
                return self._ended()
            part = self._part(task)
            later = task.parts[self._memory.part + 1 :]
            view = PartView(observation, part, context, self._memory, later)
            found: ScoutStep | PartDone | GiveUp | None = tip_step(view) or _STEPS[part.mode](view)
            if isinstance(found, ScoutStep):
                return found
            if isinstance(found, GiveUp):
                return self._gave_up(found, observation)
            self._evidence.append(found.evidence)
            self._answers += [found.answer] if found.answer else []
            self._memory = self._memory.next_part(found.parts)
        return self._ended()

    def _part(self, task: Task) -> TaskPart:
        return task.parts[self._memory.part]

    def _decided(self, step: ScoutStep) -> AgentDecision:
        self._memory.pending = step
        return AgentDecision(
            action=step.action,
            reason=step.reason,
            intent=step.reason,
            followed={step.tip: True} if step.tip else {},
        )

    def _ended(self) -> AgentDecision:
        return AgentDecision(
            action=Stop(", ".join(self._answers) or DONE),
            reason="; ".join(one for one in self._evidence if one) or "everything the task asks for is done",
        )

    def _gave_up(self, found: GiveUp, observation: Observation) -> AgentDecision:
        why = "; ".join((found.needs, *failed_tips(observation)))
        if self._memory.errors:
            why = f"{why}; last failure: {self._memory.errors[-1]}"
        return AgentDecision(action=ReportInfeasible(reason=why), reason=why)

    def _out_of_nowhere(self, observation: Observation) -> ScoutStep | None:
        """Return the step out of an empty tab that a link opened; links of that name are not followed again."""
        if not observation.page.url.startswith("about:") or observation.last is None:
            return None
        self._memory.dead.add(getattr(observation.last.action, "label", ""))
        action = CloseTab() if len(observation.tabs) > 1 else GoBack()
        return ScoutStep(action=action, reason="the page is empty", key=f"empty:{observation.step}")

    def _outcome(self, observation: Observation) -> HistoryEntry | None:
        """Return what came of the last step; ``None`` where it was never done, or a person had another one done."""
        last, pending, at = observation.last, self._memory.pending, self._at
        self._at = observation.step
        if last is None or pending is None or last.step < at:
            return None
        return last if _alike(last.action, pending.action) else None


def _alike(done: Action, meant: Action) -> bool:
    """Whether they are the same action, however its element is numbered by now."""
    if type(done) is not type(meant) or getattr(done, "label", "") != getattr(meant, "label", ""):
        return False
    one, other = to_recorded(done).args, to_recorded(meant).args
    return all(one.get(name) == value for name, value in other.items() if not name.endswith("bid"))
