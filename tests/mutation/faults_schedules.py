"""Faults in the rules of scheduled work: when it is due, who does it, and what is kept of it."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

TIMES = "app/engine/core/schedule_times.py"
SERVICE, STORE = "app/engine/services/schedules.py", "app/engine/store/schedule_store.py"
_TIMES = ("tests/unit/engine/test_schedule_times.py",)
_WORK = ("tests/unit/engine/test_schedules.py",)

FAULTS = (
    Mutation(
        "schedule-due-early",
        TIMES,
        "return schedule.is_on and not is_active and 0 < schedule.at <= now",
        "return schedule.is_on and not is_active and 0 < schedule.at",
        "Nothing is due before its time.",
        _TIMES,
    ),
    Mutation(
        "schedule-done-while-active",
        TIMES,
        "return schedule.is_on and not is_active and",
        "return schedule.is_on and",
        "What is being done is not due.",
        _TIMES,
    ),
    Mutation(
        "schedule-off-is-due",
        TIMES,
        "return schedule.is_on and not is_active",
        "return not is_active",
        "What is switched off is not due.",
        _TIMES,
    ),
    Mutation(
        "schedule-by-seconds",
        TIMES,
        "at = moment(planned + timedelta(days=times * schedule.every_days), schedule.clock)",
        "at = schedule.at + times * schedule.every_days * DAY",
        "Days are calendar days at the same local clock, not spans of 24 hours.",
        _TIMES,
    ),
    Mutation(
        "schedule-same-day-again",
        TIMES,
        "for times in range(missed + 1, missed + 5):",
        "for times in range(missed, missed + 5):",
        "A clock that was moved back does not bring the same day again.",
        _TIMES,
    ),
    Mutation(
        "schedule-missed-times-repeat",
        TIMES,
        "        if at > now:\n            return at",
        "        if at > schedule.at:\n            return at",
        "Times that were missed are done once.",
        _TIMES,
    ),
    Mutation(
        "schedule-cut-off-is-done",
        TIMES,
        "if not came or end in (WorkEnd.IN_USE, WorkEnd.CUT_OFF):",
        "if not came or end is WorkEnd.IN_USE:",
        "What was cut off with its process stays due once more.",
        _TIMES,
    ),
    Mutation(
        "schedule-by-hand-moves-the-time",
        TIMES,
        "if not came or end in (WorkEnd.IN_USE, WorkEnd.CUT_OFF):",
        "if end in (WorkEnd.IN_USE, WorkEnd.CUT_OFF):",
        "Doing an entry by hand leaves a time that is still to come.",
        _TIMES,
    ),
    Mutation(
        "schedule-now-is-to-come",
        TIMES,
        "return at if at > now else moment(today + timedelta(days=1), clock)",
        "return at if at >= now else moment(today + timedelta(days=1), clock)",
        "A first time that is exactly now has passed.",
        _TIMES,
    ),
    Mutation(
        "schedule-claimed-twice",
        STORE,
        "WHERE id = ? AND claim = '' AND (? = 0 OR at = ?)",
        "WHERE id = ? AND (? = 0 OR at = ?)",
        "Of two processes one does an entry.",
        _WORK,
    ),
    Mutation(
        "schedule-claimed-late",
        STORE,
        "AND claim = '' AND (? = 0 OR at = ?)",
        "AND claim = '' AND (? = 0 OR ? > 0)",
        "An entry that was done meanwhile is not done again.",
        _WORK,
    ),
    Mutation(
        "schedule-removed-under-work",
        STORE,
        "            if self.entry(schedule).claim:\n",
        "            if False:\n",
        "What is being done can't be removed.",
        _WORK,
    ),
    Mutation(
        "schedule-closing-is-a-result",
        SERVICE,
        "if task is None or task.cancelling():",
        "if task is None:",
        "Closing the program in the middle leaves the entry due, without a result.",
        _WORK,
    ),
    Mutation(
        "schedule-dead-for-ever",
        SERVICE,
        "end = WorkEnd.CUT_OFF_AGAIN if again else WorkEnd.CUT_OFF",
        "end = WorkEnd.CUT_OFF",
        "Work that is cut off twice in a row waits for its next time.",
        _WORK,
    ),
    Mutation(
        "schedule-in-a-used-site",
        SERVICE,
        "if use := await self._work.use_of(stored.schedule.site):",
        "if use := '':",
        "Nothing begins by hand on a site that is in use.",
        _WORK,
    ),
)
