"""Tips relevant to the current step: delivered then, retrieved now, or written from this run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.core.trajectory import Exposure, Step, steps_done
from app.errors import SiteloreError
from app.models.common.object_list import ObjectList
from app.models.common.tasks import ignore
from app.models.common.translate import tr
from kb.compiler import procedure_of
from kb.evidence import DOWN, UP
from kb.tip import Query, Tip

if TYPE_CHECKING:
    from app.engine.api.engine_api import RunDetail
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

MAX_FOUND = 4
"""Tips retrieved at a step that are listed."""
MAX_CONTROLS, MAX_HEADINGS = 120, 12
"""As many of a page's controls and headings as a run asks with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantTip:
    """A tip and its role: ``in force`` (recorded; in its place the tip's part in the action where that is known),
    ``found now`` or ``from this run``.
    """

    tip: str
    text: str
    role: str
    why: str = ""
    status: str = ""
    vote: str = ""
    """The person's own vote in this run: ``up``, ``down`` or none."""

    @property
    def more(self) -> str:
        """The details beside the role: the own vote, id, status, why."""
        voted = {UP: tr("you: useful"), DOWN: tr("you: not useful")}.get(self.vote, "")
        return " · ".join(part for part in (voted, self.tip, self.status, self.why) if part)


class RelevantTipListModel(ObjectList[RelevantTip]):
    """Tips by role; one tip may appear in two roles."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda here: (here.role, here.tip), parent)

    def words(self, value: RelevantTip) -> str:
        """``in force: gitlab-003, the text (why)``."""
        why = f" ({value.why})" if value.why else ""
        return f"{value.role}: {value.tip}, {value.text}{why}"


class RelevantTipsModel(QObject):
    """Fills the list; steps that are passed quickly load nothing.

    Signals:
        notice: a sentence for a passing message.
    """

    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.model = RelevantTipListModel(self)
        self._written: tuple[str, ...] | None = None
        self._known: dict[str, Tip] = {}
        self._votes: dict[str, str] = {}
        self._run = ""
        self._here: list[RelevantTip] = []
        self._own: list[RelevantTip] = []

    def clear(self) -> None:
        """Empty the list: another run is being opened."""
        self._here, self._own, self._written = [], [], None
        self._tasks.cancel("review-tips-step")
        self._tasks.cancel("review-tips-run")
        self.model.replace([])

    def forget(self) -> None:
        """Load the texts again: the knowledge base changed."""
        self._known.clear()
        self._votes.clear()
        self._written = None

    def vote(self, row: int, vote: int) -> None:
        """Vote a listed tip useful (1) or not (-1) in the open run; the same vote again takes it back.

        Without a row that is listed the first tip is meant.
        """
        listed, run, api = self.model.at(max(row, 0)), self._run, self._client.api
        if listed is None or not run:
            self.notice.emit(self.tr("No tip applies to this step."))
            return
        tip = listed.tip

        async def voting() -> int:
            own = (await api.tip_standing(tip, run)).own_vote
            wanted = 0 if own == (UP if vote > 0 else DOWN) else vote
            await api.vote_tip(run, tip, wanted)
            return wanted

        def came(given: int) -> None:
            words = {
                1: self.tr("{0} is useful"),
                -1: self.tr("{0} is not useful"),
                0: self.tr("no vote on {0}"),
            }
            self.notice.emit(words[given].format(tip))

        self._tasks.start(voting(), came, lambda error: self.notice.emit(str(error)), key="review-tips-vote")

    def show_written(self, run: str, tips: Sequence[str]) -> None:
        """List the tips written from the open run, by their provenance."""
        self._begin(run)
        if tuple(tips) == self._written:
            return
        self._written = tuple(tips)

        def came(found: list[Tip]) -> None:
            self._own = [
                RelevantTip(
                    tip=tip.id,
                    text=tip.text,
                    role="from this run",
                    status=tip.status.value,
                    vote=self._votes.get(tip.id, ""),
                )
                for tip in found
                if tip.provenance.run == run
            ]
            self._show()

        async def fetch(tips: Sequence[str]) -> list[Tip]:
            await self._fetch_votes(tips)
            return await self._fetch(tips)

        self._tasks.start(fetch(self._written), came, ignore, key="review-tips-run")

    def show_step(self, detail: RunDetail, step: Step) -> None:
        """List the tips recorded as in force at this step; where none were, those that it would retrieve now."""

        def came(here: list[RelevantTip]) -> None:
            self._here = here
            self._show()

        self._begin(detail.run.id)
        self._tasks.start(self._bearing(detail, step), came, ignore, key="review-tips-step", delay=0.15)

    async def _bearing(self, detail: RunDetail, step: Step) -> list[RelevantTip]:
        if step.tips:
            credited = any(use.applied for use in detail.uses)
            done = steps_done(one for one in detail.steps if one.index < step.index)
            shown = {exposure.tip: exposure for exposure in step.exposures}
            await self._fetch_votes(step.tips)
            return [
                RelevantTip(
                    tip=tip.id,
                    text=tip.text,
                    role=credit_words(shown.get(tip.id), tip, step, credited, done.get(tip.id, 0))
                    or role_words(shown.get(tip.id)),
                    why=route_words(shown.get(tip.id)),
                    status=tip.status.value,
                    vote=self._votes.get(tip.id, ""),
                )
                for tip in await self._fetch(step.tips)
            ]
        found = await self._client.api.retrieve(await self._query(detail, step), k=MAX_FOUND)
        await self._fetch_votes([one.tip.id for one in found.results])
        return [
            RelevantTip(
                tip=one.tip.id,
                text=one.tip.text,
                role="found now",
                why=f"{one.route.value} {one.score:.2f}: {one.why}",
                status=one.tip.status.value,
                vote=self._votes.get(one.tip.id, ""),
            )
            for one in found.results
        ]

    async def _query(self, detail: RunDetail, step: Step) -> Query:
        """Return the query of a step with the page's headings and its controls, in view where that was recorded."""
        query = Query(url=step.url, text=detail.run.intent, site=detail.run.site, title=step.title)
        try:
            page = await self._client.api.page_elements(detail.run.id, step.index)
        except SiteloreError:
            return query
        named = [element for element in page.elements if element.name]
        headings = [element.name for element in named if element.role == "heading"]
        seen = [element for element in named if element.box is not None] or named
        controls = [f"{element.role} {element.name}" for element in seen if element.role != "heading"]
        return replace(
            query,
            headings=tuple(headings[:MAX_HEADINGS]),
            controls=tuple(dict.fromkeys(controls))[:MAX_CONTROLS],
        )

    def _begin(self, run: str) -> None:
        if run != self._run:
            self._run = run
            self._votes.clear()
            self._own, self._written = [], None
            self._tasks.cancel("review-tips-run")
            self._show()

    async def _fetch_votes(self, tips: Sequence[str]) -> None:
        run = self._run
        for tip in tips:
            if tip not in self._votes:
                vote = (await self._client.api.tip_standing(tip, run)).own_vote
                if run == self._run:
                    self._votes[tip] = vote

    async def _fetch(self, tips: Sequence[str]) -> list[Tip]:
        for tip in tips:
            if tip not in self._known:
                self._known[tip] = await self._client.api.tip(tip)
        return [self._known[tip] for tip in tips]

    def _show(self) -> None:
        own = {one.tip for one in self._own}
        self.model.merge([*self._own, *(one for one in self._here if one.tip not in own)])


def credit_words(exposure: Exposure | None, tip: Tip, step: Step, credited: bool, done: int = 0) -> str:
    """Return the part a tip's steps had in an action; "" for a tip without steps, or where it was not recorded.

    ``credited``: the run recorded which tips applied, so that one without a record did not; ``done``: the last of the
    tip's steps that was done before.
    """
    total = len(procedure_of(tip).steps)
    if exposure is None or not total:
        return ""
    if exposure.step and exposure.effect:
        return tr("step {0} of {1} done, effect seen").format(exposure.step, total)
    if exposure.step and step.executed:
        return tr("step {0} of {1} done, no effect seen").format(exposure.step, total)
    if exposure.step:
        return tr("step {0} of {1} failed").format(exposure.step, total)
    if exposure.applied:
        return tr("applied, not done")
    if done >= total:
        return tr("all {0} steps done before").format(total)
    return tr("not applicable here") if credited and exposure.followed is None else ""


def role_words(exposure: Exposure | None) -> str:
    """Return the role of a delivered tip, and whether the action followed it, where known."""
    followed = exposure.followed if exposure is not None else None
    return "in force" if followed is None else "followed" if followed else "not followed"


def route_words(exposure: Exposure | None) -> str:
    """Return how a tip reached the agent: ``by url, keyword``."""
    return f"by {', '.join(exposure.routes)}" if exposure is not None and exposure.routes else ""
