"""The scout on real sites: one skill that answers, gathers, changes or finds the way, and a gate for the others.

On a page that is one of many (it leads to other addresses of its host) the way counts most, and clicking what the task
quotes is a guess; on a page that stands for itself these skills have nothing to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.engine.agent.scout.acting import acts
from app.engine.agent.scout.aims import Goal
from app.engine.agent.scout.answering import answers
from app.engine.agent.scout.collecting import collects
from app.engine.agent.scout.place import Place
from app.engine.agent.scout.reaching import by_others, plainly, reaches
from app.engine.agent.scout.skill import Proposal, Skill, View
from app.engine.agent.scout.wayfinding import ways
from app.engine.core.action_result import Effect
from app.engine.core.actions.types import Click

DAMPED = 0.1
"""What a proposal of another skill is worth on a site, beside these."""


class OnSite:
    """Answers questions and makes changes on a site of many pages."""

    name = "site"

    def propose(self, view: View) -> Sequence[Proposal]:
        """Answers first, then what gathers or changes, then ways on."""
        place = Place(view)
        if not place.on_site:
            return ()
        if plainly(view.task):
            made = reaches(place)
        elif place.aim.goal is Goal.CHANGE:
            made = [*acts(place), *([] if place.done else ways(place))]
        else:
            made = list(answers(place)) or _collected(place)
        refused = _refused_here(view)
        return [
            one
            for one in made
            if one.score > 0 and not (isinstance(one.command, Click) and one.command.label in refused)
        ]


def _collected(place: Place) -> list[Proposal]:
    """In front of the list that is asked about, other ways are only for when nothing more can be had from it."""
    made = collects(place)
    return [*made, *(replace(one, score=one.score * 0.5) if made else one for one in ways(place))]


def _refused_here(view: View) -> frozenset[str]:
    """Names of what was pressed in vain since this page came."""
    names: set[str] = set()
    for turn in reversed(view.sight.history):
        if turn.url != view.page.url or turn.result.effect is Effect.NAVIGATED:
            break
        if isinstance(turn.action, Click) and turn.action.label and not turn.result.success:
            names.add(turn.action.label)
    return frozenset(names)


class Elsewhere:
    """Another skill, which on a site only acts when nothing better is known."""

    def __init__(self, skill: Skill) -> None:
        self._skill = skill
        self.name = skill.name

    def propose(self, view: View) -> Sequence[Proposal]:
        """What the skill proposes, for less on a site."""
        made = self._skill.propose(view)
        if not made or by_others(view) or not Place(view).on_site:
            return made
        return [replace(one, score=one.score * DAMPED) for one in made]


def on_sites(others: Sequence[Skill]) -> list[Skill]:
    """The skills for sites, then the others behind their gate."""
    return [OnSite(), *(Elsewhere(one) for one in others if not isinstance(one, OnSite | Elsewhere))]
