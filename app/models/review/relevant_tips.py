"""Tips relevant to the current step: delivered then, retrieved now, or written from this run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.engine.core.trajectory import Exposure, Run, Step
from app.models.common.object_list import ObjectList
from app.models.common.tasks import ignore
from app.models.common.translate import tr
from kb.compiler import procedure_of
from kb.tip import Query, Tip

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

MAX_FOUND = 4
"""Tips retrieved at a step that are listed."""


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

    @property
    def more(self) -> str:
        """The details beside the role: id, status, why."""
        return " · ".join(part for part in (self.tip, self.status, self.why) if part)


class RelevantTipListModel(ObjectList[RelevantTip]):
    """Tips by role; one tip may appear in two roles."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda here: (here.role, here.tip), parent)

    def words(self, value: RelevantTip) -> str:
        """``in force: gitlab-003, the text (why)``."""
        why = f" ({value.why})" if value.why else ""
        return f"{value.role}: {value.tip}, {value.text}{why}"


class RelevantTipsModel(QObject):
    """Fills the list; steps that are passed quickly load nothing."""

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.model = RelevantTipListModel(self)
        self._written: tuple[str, ...] = ()
        self._known: dict[str, Tip] = {}
        self._here: list[RelevantTip] = []
        self._own: list[RelevantTip] = []

    def clear(self) -> None:
        """Empty the list: another run is being opened."""
        self._here, self._own, self._written = [], [], ()
        self._tasks.cancel("review-tips-step")
        self.model.replace([])

    def forget(self) -> None:
        """Load the texts again: the knowledge base changed."""
        self._known.clear()
        self._written = ()

    def show_written(self, tips: Sequence[str]) -> None:
        """List the tips written from the open run."""
        if tuple(tips) == self._written:
            return
        self._written = tuple(tips)

        def came(found: list[Tip]) -> None:
            self._own = [
                RelevantTip(tip=tip.id, text=tip.text, role="from this run", status=tip.status.value)
                for tip in found
            ]
            self._show()

        self._tasks.start(self._fetch(self._written), came, ignore, key="review-tips-run")

    def show_step(self, run: Run, step: Step, *, credited: bool = False) -> None:
        """List the tips recorded as in force at this step; where none were, those that it would retrieve now.

        ``credited``: the run recorded which tips applied, so that one without a record did not.
        """

        def came(here: list[RelevantTip]) -> None:
            self._here = here
            self._show()

        self._tasks.start(
            self._bearing(run, step, credited), came, ignore, key="review-tips-step", delay=0.15
        )

    async def _bearing(self, run: Run, step: Step, credited: bool) -> list[RelevantTip]:
        if step.tips:
            shown = {exposure.tip: exposure for exposure in step.exposures}
            return [
                RelevantTip(
                    tip=tip.id,
                    text=tip.text,
                    role=credit_words(shown.get(tip.id), tip, step, credited)
                    or role_words(shown.get(tip.id)),
                    why=route_words(shown.get(tip.id)),
                    status=tip.status.value,
                )
                for tip in await self._fetch(step.tips)
            ]
        query = Query(url=step.url, text=run.intent, site=run.site)
        found = await self._client.api.retrieve(query, k=MAX_FOUND)
        return [
            RelevantTip(
                tip=one.tip.id,
                text=one.tip.text,
                role="found now",
                why=f"{one.route.value} {one.score:.2f}: {one.why}",
                status=one.tip.status.value,
            )
            for one in found.results
        ]

    async def _fetch(self, tips: Sequence[str]) -> list[Tip]:
        for tip in tips:
            if tip not in self._known:
                self._known[tip] = await self._client.api.tip(tip)
        return [self._known[tip] for tip in tips]

    def _show(self) -> None:
        own = {one.tip for one in self._own}
        self.model.merge([*self._own, *(one for one in self._here if one.tip not in own)])


def credit_words(exposure: Exposure | None, tip: Tip, step: Step, credited: bool) -> str:
    """Return the part a tip's steps had in an action; "" for a tip without steps, or where it was not recorded."""
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
    return tr("not applicable here") if credited and exposure.followed is None else ""


def role_words(exposure: Exposure | None) -> str:
    """Return the role of a delivered tip, and whether the action followed it, where known."""
    followed = exposure.followed if exposure is not None else None
    return "in force" if followed is None else "followed" if followed else "not followed"


def route_words(exposure: Exposure | None) -> str:
    """Return how a tip reached the agent: ``by url, keyword``."""
    return f"by {', '.join(exposure.routes)}" if exposure is not None and exposure.routes else ""
