"""An entry of the schedule as a form: typed text, checked while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.core.schedule import Schedule, ScheduledTask
from app.engine.core.schedule_times import clock_of
from app.models.common.form import FormModel, Problem
from app.models.common.translate import tr

if TYPE_CHECKING:
    from collections.abc import Collection

    from PySide6.QtCore import QObject

MOST_DAYS = 365
_NEW = {"task": ScheduledTask.EXPLORE.value, "site": "", "every": "7", "clock": "03:00"}


class ScheduleForm(FormModel):
    """One entry; ``before`` is the one that is edited, ``None`` for a new one.

    Attributes:
        mapped, named: sites that have a map, and all sites; empty until they are known.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(dict(_NEW), parent)
        self.before: Schedule | None = None
        self.mapped: Collection[str] = ()
        self.named: Collection[str] = ()

    def show(self, schedule: Schedule | None) -> None:
        """Show an entry, or an empty form."""
        self.before, self.error = schedule, ""
        self.values = texts_of(schedule)
        self.changed.emit()

    @property
    def is_changed(self) -> bool:
        """Whether something was typed that is not saved."""
        return self.values != texts_of(self.before)

    @property
    def task(self) -> ScheduledTask:
        return ScheduledTask(self.values["task"])

    @property
    def sites(self) -> list[str]:
        """Return the sites on which the chosen work can be done."""
        return sorted(self.named if self.task is ScheduledTask.TEST_TIPS else self.mapped)

    @property
    def schedule(self) -> Schedule:
        """The typed entry; only without problems.  Its time is the engine's to find."""
        before = self.before
        return Schedule(
            id=before.id if before is not None else "",
            task=self.task,
            site=self.values["site"].strip(),
            every_days=int(self.values["every"].strip()),
            clock=clock_of(self.values["clock"]),
            is_on=before.is_on if before is not None else True,
            author=before.author if before is not None else "",
        )

    @property
    def problems(self) -> list[Problem]:
        """All problems, in the order of the form."""
        found = [Problem("site", words)] if (words := self._site_problem()) else []
        found += self._integer_problem("every", 0, MOST_DAYS)
        if not clock_of(self.values["clock"]):
            found.append(Problem("clock", tr("Enter a time of day, such as 03:00")))
        return found

    def _site_problem(self) -> str:
        site = self.values["site"].strip()
        if not site:
            return tr("Name a site")
        if self.named and site not in self.named:
            return tr("There is no site of this name in the workspace")
        if self.named and self.task is not ScheduledTask.TEST_TIPS and site not in self.mapped:
            return tr("This site has no map yet; explore it first")
        return ""


def texts_of(schedule: Schedule | None) -> dict[str, str]:
    """Return an entry as the texts of the form."""
    if schedule is None:
        return dict(_NEW)
    return {
        "task": schedule.task.value,
        "site": schedule.site,
        "every": str(schedule.every_days),
        "clock": schedule.clock,
    }
