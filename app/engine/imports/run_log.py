"""The summaries an agent wrote between steps; they stand in its log file only."""

from __future__ import annotations

import re

_STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - "
_EVENT = re.compile(
    rf"^{_STAMP}[^\n]*?(?:Starting step (?P<step>\d+)\.|Progress summary generated:\s*(?P<summary>.*?))"
    rf"\s*(?=^{_STAMP}|\Z)",
    re.MULTILINE | re.DOTALL,
)


def step_summaries(log: str) -> dict[int, str]:
    """Summary by step index; where a log holds several attempts, the last one's stand."""
    summaries: dict[int, str] = {}
    step = 0
    for event in _EVENT.finditer(log):
        if event["step"] is not None:
            step = int(event["step"])
            if step == 0:
                summaries.clear()
        elif event["summary"]:
            summaries[step] = event["summary"].strip()
    return summaries
