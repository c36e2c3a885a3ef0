"""The scout as a policy: each skill proposes, the surest proposal is taken, the decision says why.

Deterministic and without a model.  It is honest about what it can't do: where no skill has anything to propose it
stops with the reason, and it never sends, deletes or pays what the task doesn't ask for (``allowed``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.engine.agent.scout.allowed import not_asked_for
from app.engine.agent.scout.intent import read_intent
from app.engine.agent.scout.skill import DONE, Memory, Proposal, Skill, View, key_of
from app.engine.core.actions.recorded import to_recorded
from app.engine.core.actions.types import Action, ReportInfeasible, Stop, elements_of
from app.engine.core.observation import AgentDecision, HistoryEntry, Observation

ATTEMPTS = 2
"""Failures after which an attempt is not made again."""
MOST_CLAUSES = 20
"""Clauses of one task that may turn out to be done already, at one step."""
MOST_REPEATS = 3
"""Times the same thing is done in all, unless its skill says it may be repeated."""


class ScoutPolicy:
    """Decides by skills; ``skills`` are asked in this order, which decides among equal scores."""

    def __init__(self, skills: Sequence[Skill] | None = None) -> None:
        if skills is None:
            from app.engine.agent.scout.following import ByProcedure
            from app.engine.agent.scout.hinting import ByHint
            from app.engine.agent.scout.site_skills import on_sites
            from app.engine.agent.scout.skills import standard  # skills import this module's neighbours

            skills = [ByHint(), ByProcedure(), *on_sites(standard())]
        self._skills = tuple(skills)
        self._memory = Memory()
        self._intent = ""
        self._at = 0

    @property
    def name(self) -> str:
        """``scout``."""
        return "scout"

    @property
    def memory(self) -> Memory:
        """What it keeps of the run under way."""
        return self._memory

    async def decide(self, observation: Observation) -> AgentDecision:
        """The surest of what the skills propose; ``Stop`` or ``ReportInfeasible`` where they propose nothing."""
        if observation.step == 0 or observation.intent != self._intent:
            self._memory, self._intent = Memory(), observation.intent
        self._memory.learn(self._news(observation))
        task = read_intent(observation.intent)
        for _ in range(MOST_CLAUSES):
            view = View(observation, task, self._memory)
            chosen, skill = self._choose(view)
            if chosen is None or chosen.command is None:
                if chosen is None:
                    return _the_end(view)
                self._memory.marks.update(chosen.marks)
                self._memory.values.update(chosen.keeps)
                continue
            self._memory.pending, self._memory.pending_skill = chosen, skill
            return AgentDecision(
                action=chosen.command,
                reason=f"{skill}: {chosen.reason}",
                intent=chosen.reason,
                facts=chosen.facts,
                followed=dict(chosen.followed),
            )
        return _the_end(View(observation, task, self._memory))

    async def aclose(self) -> None:
        """Nothing is held."""

    def _news(self, observation: Observation) -> HistoryEntry | None:
        """What came of the last proposal; ``None`` where it was never done, or a person had another one done."""
        last, pending, at = observation.last, self._memory.pending, self._at
        self._at = observation.step
        if last is None or pending is None or pending.command is None or last.step < at:
            return None
        return last if _alike(last.action, pending.command) else None

    def _choose(self, view: View) -> tuple[Proposal | None, str]:
        best: Proposal | None = None
        whose = ""
        for skill in self._skills:
            for proposal in skill.propose(view):
                if best is not None and proposal.score <= best.score:
                    continue
                proposal = named(proposal, view)
                if proposal.command is None:
                    if set(proposal.marks) <= self._memory.marks:
                        continue
                elif self._worn_out(proposal) or (
                    not proposal.told and not_asked_for(proposal.command, view)
                ):
                    continue
                best, whose = proposal, skill.name
        return best, whose

    def _worn_out(self, proposal: Proposal) -> bool:
        memory = self._memory
        if memory.failed.get(proposal.key, 0) >= ATTEMPTS:
            return True
        return not proposal.again and memory.done.get(proposal.key, 0) >= MOST_REPEATS


def _alike(done: Action, meant: Action) -> bool:
    """Whether they are the same action, however its element is numbered by now."""
    if type(done) is not type(meant) or getattr(done, "label", "") != getattr(meant, "label", ""):
        return False
    one, other = to_recorded(done).args, to_recorded(meant).args
    return all(one.get(name) == value for name, value in other.items() if not name.endswith("bid"))


def named(proposal: Proposal, view: View) -> Proposal:
    """The proposal with the key it is remembered by."""
    if proposal.key or proposal.command is None:
        return proposal
    return replace(proposal, key=_words(proposal.command, view))


def _words(command: Action, view: View) -> str:
    elements = view.page.elements
    places = [key_of(elements[number]) for number in elements_of(command) if 0 <= number < len(elements)]
    args = {name: value for name, value in to_recorded(command).args.items() if not name.endswith("bid")}
    return f"{type(command).__name__}|{'|'.join(places)}|{args}"


def _the_end(view: View) -> AgentDecision:
    """No skill has anything to propose: the task is done, or it can't be done by these means."""
    left = view.open_clauses
    if not left and view.task.clauses and not view.task.question:
        return AgentDecision(action=Stop(DONE), reason="everything the task asks for is done")
    what = left[0][1].text if left else view.task.text
    why = f"no skill knows how to go on with: {what}"
    return AgentDecision(action=ReportInfeasible(reason=why), reason=why)
