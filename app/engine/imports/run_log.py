"""Summaries that an agent wrote between steps; only its log file has them."""

from __future__ import annotations

import re

_LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - ", re.MULTILINE)
_STEP, _SUMMARY = "Starting step ", "Progress summary generated:"
_NUMBER = re.compile(r"(\d{1,9})\.")


def step_summaries(log: str) -> dict[int, str]:
    """Return summaries by step index; of several attempts in a log the last one counts."""
    steps: dict[int, int] = {}
    for at in _places(log, _STEP):
        number = _NUMBER.match(log, at + len(_STEP))
        if number is not None:
            steps[at] = int(number[1])
    summaries: dict[int, str] = {}
    step = 0
    for at in sorted([*steps, *_places(log, _SUMMARY)]):
        if at in steps:
            step = steps[at]
            if step == 0:
                summaries.clear()
            continue
        start = at + len(_SUMMARY)
        following = _LINE.search(log, start)
        text = log[start : following.start() if following else len(log)].strip()
        if text:
            summaries[step] = text
    return summaries


def _places(log: str, words: str) -> list[int]:
    """Return where a message begins with these words: after ``LEVEL - `` on its line."""
    found: list[int] = []
    at = log.find(f" - {words}")
    while at != -1:
        line = log.rfind("\n", 0, at) + 1
        if _LINE.match(log, line):
            found.append(at + 3)
        at = log.find(f" - {words}", at + 1)
    return found
