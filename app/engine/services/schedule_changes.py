"""Sentences on what scheduled work found changed since the time before.  Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.engine.api.graph_api import UpdateReport, VerifyGraphReport
from app.engine.api.tip_api import TipTest, TipTests
from app.engine.core.transition import ReplayVerdictKind

NAMED = 3
"""Things of a kind that a sentence names one by one."""
LONGEST_NAME = 60

_NO_EVIDENCE = (ReplayVerdictKind.ERROR, ReplayVerdictKind.BLOCKED)
_REACHED = ("holds", "broke", "stopped before a write")


def update_changes(report: UpdateReport, tips: Mapping[str, str]) -> tuple[str, ...]:
    """Return what an update of the map found; ``tips`` are texts by id."""
    diff = report.diff
    return _sentences(
        _listed(_states(diff.removed), "state vanished", "states vanished"),
        _listed(_states(diff.added), "new state", "new states"),
        _listed([one.title or one.url for one in diff.changed], "state changed", "states changed"),
        _listed(diff.removed_transitions, "transition is gone", "transitions are gone"),
        _listed(diff.added_transitions, "new transition", "new transitions"),
        _suspects(report.verify.suspect_tips, tips),
    )


def verification_changes(
    report: VerifyGraphReport, titles: Mapping[str, str], tips: Mapping[str, str]
) -> tuple[str, ...]:
    """Return what a verification of the map found; ``titles`` of its states and ``tips``' texts are by id."""
    return _sentences(
        _listed(
            [titles.get(one, one[:8]) for one in report.gone_states], "state vanished", "states vanished"
        ),
        _listed(
            [titles.get(one, one[:8]) for one in report.changed_states], "state changed", "states changed"
        ),
        _counted(len(report.gone_transitions), "transition is gone", "transitions are gone"),
        _suspects(report.suspect_tips, tips),
    )


def verification_failure(report: VerifyGraphReport) -> str:
    """Return why a verification says little: half of the pages or more were not reached; "" where it says enough."""
    lost = sum(report.arrivals.get(kind.value, 0) for kind in _NO_EVIDENCE)
    checked = sum(report.arrivals.values())
    if not lost or lost * 2 < checked:
        return ""
    return f"{lost} of {checked} pages of {report.site} could not be opened"


def tip_test_changes(report: TipTests, before: Mapping[str, str], tips: Mapping[str, str]) -> tuple[str, ...]:
    """Return which tips fare otherwise than at their last test; ``before`` are its outcomes by tip, "" for none."""
    broke = [one for one in report.tests if one.outcome == "broke" and before.get(one.tip) != "broke"]
    again = [one for one in report.tests if one.offer and before.get(one.tip) not in ("holds", one.outcome)]
    lost = [
        one
        for one in report.tests
        if one.outcome == "not reached" and before.get(one.tip, "") not in ("", "not reached")
    ]
    return _sentences(
        _listed([_broken(one, tips) for one in broke], "tip broke", "tips broke"),
        _listed([_name(one.tip, tips) for one in again], "tip holds again", "tips hold again"),
        _listed(
            [_name(one.tip, tips) for one in lost],
            "tip's page was not reached",
            "tips' pages were not reached",
        ),
        _suspects([one.tip for one in report.tests if one.became_suspect], tips),
    )


def tip_test_failure(report: TipTests) -> str:
    """Return why the tests say nothing: none reached its page; "" where one did, or where no tip has steps."""
    made = report.tests
    if not made or any(one.outcome in _REACHED for one in made):
        return ""
    return f"no tip of {report.site} could be tested: {made[0].message}"


def _states(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return titles, with the address where two are the same."""
    titles = [title or url for _, title, url in rows]
    return [
        f"{title} ({url})" if titles.count(title) > 1 else title
        for title, (_, _, url) in zip(titles, rows, strict=True)
    ]


def _suspects(suspects: Sequence[str], tips: Mapping[str, str]) -> str:
    return _listed([_name(one, tips) for one in suspects], "tip is suspect", "tips are suspect")


def _broken(test: TipTest, tips: Mapping[str, str]) -> str:
    return f"{_name(test.tip, tips)} at step {test.step}" if test.step else _name(test.tip, tips)


def _name(tip: str, tips: Mapping[str, str]) -> str:
    return tips.get(tip, tip)


def _sentences(*found: str) -> tuple[str, ...]:
    return tuple(one for one in found if one)


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}" if count else ""


def _listed(names: Sequence[str], one: str, several: str) -> str:
    """Return ``2 states vanished: “Stock”, “Offers”``, "" for none."""
    if not names:
        return ""
    shown = ", ".join(f"“{_short(name)}”" for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{_counted(len(names), one, several)}: {shown}{more}"


def _short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
