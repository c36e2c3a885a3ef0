"""Names the kind of a failure, so that a queue can go on to one of another kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.engine.detectors.risk import began, suspect_step
from app.engine.detectors.runner import points_at_a_step, telling_rank
from app.engine.judgement import Flag
from app.engine.trajectory import Run, Step

_NUMBER = re.compile(r"\d+")
_HASH = re.compile(r"(?=.*\d)[0-9a-fA-F-]{8,}|[A-Za-z0-9_%=+.~-]{32,}")
_MAX_SEGMENTS = 6


def signature(run: Run, flags: Sequence[Flag], steps: Sequence[Step]) -> str:
    """Site, first telling detector and page template; runs with the same one failed alike.

    It rests on the flags alone and not on fitted weights, so that a kind keeps its name when verdicts come in.
    """
    ranked = sorted(flags, key=lambda flag: (points_at_a_step(flag), telling_rank(flag)))
    detector = ranked[0].detector if ranked else "no flag"
    index = began(ranked[0]) if ranked else suspect_step((), run.step_count)
    page = next((step for step in steps if step.index == index), steps[-1] if steps else None)
    return " · ".join((run.site or "unknown site", detector, page_template(page.url) if page else "no page"))


def page_template(url: str) -> str:
    """The path of an address with its numbers, hashes and long names taken out; hosts differ between runs of a site."""
    rest = url.partition("://")[2]
    if not rest:
        return url.partition("?")[0][:60]
    path = rest.partition("/")[2].partition("#")[0].partition("?")[0]
    project, mark, tail = path.partition("/-/")
    segments = ["{project}", "-", *tail.split("/")] if mark and project else path.split("/")
    kept = [_template(segment) for segment in segments if segment]
    return "/" + "/".join(kept[:_MAX_SEGMENTS])


def _template(segment: str) -> str:
    if _NUMBER.fullmatch(segment):
        return "{n}"
    stem, dot, suffix = segment.rpartition(".")
    if dot and suffix.isalpha() and len(suffix) <= 5:
        return f"{_template(stem)}.{suffix}"
    if _HASH.fullmatch(segment) or segment.count("-") >= 3 or segment.count("_") >= 4:
        return "{id}"
    return segment[:40]
