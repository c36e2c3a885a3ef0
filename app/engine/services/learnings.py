"""Learnings of runs as tips of their own kind: written at a run's end, read at the next one's beginning.

A learning is a draft, so that agents are not given its text, and the executor follows it all the same until a person
retires it or marks it as suspect; an imported one is followed once it is reviewed.  One that failed more often than it
worked is retired, one that a person had reviewed becomes suspect.  The same learning again is evidence of the tip that
is there, also of a retired one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from app import settings
from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE
from app.engine.core.addresses import host_of
from app.engine.core.events import KnowledgeChanged
from app.engine.core.learnings import LearnedWay, LearnedWays, Learning, SeenLearning, learnings_of
from app.engine.core.trajectory import Run, Step
from app.engine.services.core import Core
from app.engine.services.tip_drafting import site_slug
from app.errors import SiteloreError
from kb import invisible
from kb.evidence import Evidence, EvidenceKind, UseOutcome
from kb.frozen import open_any
from kb.select import is_followed
from kb.tip import FOLLOWED_LEARNINGS, Anchor, Kind, Provenance, Scope, Status, Tip, TipDraft

log = logging.getLogger(__name__)

MAX_PER_SITE = 50
"""Learnings of one site; what goes beyond is not written."""
AUTHOR = "sitelore"
_DATA = re.compile(r"\{\w+\}")
_TEXTS = {
    LearnedWay.OWN_CLICK: "{control} is not reached by the pointer here; the browser's own click on it works.",
    LearnedWay.ENTER: "{control} does not react to a click here; the Enter key on it works.",
    LearnedWay.LARGER_VISION: "This page is too much for the small vision model; the larger one reads it whole.",
}


def site_of(core: Core, url: str) -> str:
    """Return the site of an address as tips name it."""
    return site_slug(core.workspace.site_of(url).lower())


def tip_of(
    learning: Learning, run: str = "", step: int | None = None, tasks: Sequence[str] = (), host: str = ""
) -> TipDraft:
    """Return a learning as a tip; ``host`` is given for a site that is known by its host alone."""
    name = invisible.visible(learning.name).replace('"', "'")
    path, _, query = learning.page.partition("#")[0].partition("?")
    keys = tuple(sorted(key for key in query.split("&") if key and "{" not in key))
    return TipDraft(
        site=learning.site,
        text=_TEXTS[learning.way].format(control=f'"{name}" ({learning.role or "control"})'),
        scope=Scope(host=host, path=_DATA.sub("*", path) or "/", query=keys),
        kind=Kind.LEARNING,
        when=f"on pages like {learning.page}",
        keywords=(learning.way.value,),
        provenance=Provenance(run=run, step=step, author=AUTHOR),
        taint=tuple(tasks),
        anchor=Anchor(words=name, role=learning.role, page=learning.page),
    )


def learning_of(tip: Tip) -> Learning | None:
    """Return the learning that a tip holds; ``None`` for another kind, or one whose way or page was edited away."""
    way = next((one for one in LearnedWay if one.value in tip.keywords), None)
    if tip.kind is not Kind.LEARNING or way is None or tip.anchor is None:
        return None
    anchor = tip.anchor
    return Learning(way=way, site=tip.site, page=anchor.page, role=anchor.role, name=anchor.words)


def ways_of(tips: Iterable[Tip], core: Core) -> LearnedWays:
    """Return the ways of the learnings among some tips that runs follow."""
    held = (learning_of(tip) for tip in tips if is_followed(tip))
    return LearnedWays.of([one for one in held if one is not None], partial(site_of, core))


async def load_ways(core: Core, kb: str) -> LearnedWays:
    """Return the learned ways for a run with this knowledge base; none where learnings are off."""
    if kb == WITHOUT_KNOWLEDGE or settings.load().learnings == "off":
        return LearnedWays()
    if kb == LIVE_KNOWLEDGE:
        return await core.on_store(lambda: ways_of(core.kb.tips(), core))

    def reading() -> LearnedWays:
        with open_any(Path(kb).expanduser()) as frozen:
            return ways_of(frozen.tips(), core)

    return await core.on_worker(reading)


async def keep_learnings(
    core: Core, run: Run, steps: Sequence[Step], kb: str, complex_pages: Iterable[SeenLearning] = ()
) -> list[str]:
    """Write what a run taught and how its learned ways fared; return the ids of the tips.

    Nothing is written for runs without the live knowledge base, or where learnings are off.  Counting a run again
    changes nothing.
    """
    if kb != LIVE_KNOWLEDGE or settings.load().learnings == "off":
        return []
    seen = [*learnings_of(steps, partial(site_of, core)), *complex_pages]
    if not seen:
        return []
    try:
        tips = await core.do_in_kb(_kept, core, run, seen)
    except SiteloreError as error:  # the run is over and stored, whatever becomes of what it taught
        log.warning("what run %s taught can't be written: %s", run.id, error)
        return []
    if tips:
        core.bus.publish(KnowledgeChanged(tips=tuple(tips)))
    return tips


def _kept(core: Core, run: Run, seen: Sequence[SeenLearning]) -> list[str]:
    kb = core.kb
    known = {held.key: tip for tip in kb.tips() if (held := learning_of(tip)) is not None}
    counts: dict[str, int] = {}
    for tip in known.values():
        counts[tip.site] = counts.get(tip.site, 0) + 1
    drafts: dict[tuple[str, ...], TipDraft] = {}
    tasks = (f"{run.suite}:{run.task_id}",) if run.task_id else ()
    for one in seen:
        learning = one.learning
        if not one.is_new or learning.key in known or learning.key in drafts or not learning.site:
            continue
        if counts.get(learning.site, 0) >= MAX_PER_SITE:
            log.info("%s has %d learnings; another one is not written", learning.site, MAX_PER_SITE)
            continue
        counts[learning.site] = counts.get(learning.site, 0) + 1
        host = host_of(one.url)
        unnamed = core.workspace.site_of(one.url) == host
        drafts[learning.key] = tip_of(learning, run.id, one.step, tasks, host if unnamed else "")
    added = (
        kb.add_many(drafts.values(), deed="learn", label=f"learn {len(drafts)} ways of {run.id}")
        if drafts
        else []
    )
    known |= {held.key: tip for tip in added if (held := learning_of(tip)) is not None}
    kb.add_evidence(
        Evidence(
            tip=tip.id,
            revision=tip.revision,
            kind=EvidenceKind.USE,
            outcome=UseOutcome.EFFECT if one.worked else UseOutcome.FAILED,
            step=one.step,
            run=run.id,
            message=one.learning.way.value,
        )
        for one in seen
        if (tip := known.get(one.learning.key)) is not None
    )
    tips = sorted({known[one.learning.key].id for one in seen if one.learning.key in known})
    _stop_failing(core, tips)
    return tips


def _stop_failing(core: Core, tips: Sequence[str]) -> None:
    why = "it failed more often than it worked"
    for tip in map(core.kb.get, tips):
        if tip.status in FOLLOWED_LEARNINGS and tip.record.failed > tip.record.effect:
            core.kb.set_status(
                [tip.id], Status.RETIRED if tip.status is Status.DRAFT else Status.SUSPECT, why=why
            )
