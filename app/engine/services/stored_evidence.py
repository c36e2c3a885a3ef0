"""Evidence of runs that captured none: what their records and their stored last page can say."""

from __future__ import annotations

import html as html_entities
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from app.engine.core.evaluation.helper_calls import evidence_targets, is_helper, parse_helper
from app.engine.core.evaluation.run_evidence import EvidenceSource, RunEvidence, TargetEvidence
from app.engine.core.evaluation.suite import HtmlTarget, SuiteTask
from app.engine.core.sites import Site, SiteTable, load_sites
from app.engine.core.trajectory import Outcome, Run
from app.errors import InputError

if TYPE_CHECKING:
    from app.engine.browser.stored_page import StoredPages

LAST = "last"
NO_PAGE = "the page after the last step was not recorded"
NO_HTML = "the HTML of the last page was not recorded"
OTHER_PAGE = "another page would have to be read, and the run stored only its last one"
NO_SITE = "a helper would have to ask the site, and the run stored only its last page"
ANY_HOST = "*:"
_SCRIPT = ("document.", "[...document.")
_BASE_PATHS: Mapping[str, str] = {"shopping_admin": "/admin"}
"""Paths that WebArena's names of sites include."""


def stored_evidence(run: Run, html: str | None) -> RunEvidence:
    """Return the evidence that a run's records hold; ``html`` is its last page."""
    final = run.final
    notes = () if final is not None else (NO_PAGE,)
    return RunEvidence(
        source=EvidenceSource.STORED_PAGE,
        answer=run.answer,
        infeasible=run.outcome is Outcome.INFEASIBLE,
        tabs=final.tabs if final is not None else (),
        active=final.active_tab if final is not None and final.tabs else -1,
        left_sites=run.outcome is Outcome.LEFT_ALLOWED_SITES,
        html=html,
        has_field_values=False,
        notes=notes,
    )


def bases_of(
    evidence: RunEvidence, rows: Mapping[str, Site], *, foreign: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return the addresses that names of sites (``__SHOPPING__``) stand for in a run.

    The table of sites says them. A ``foreign`` run was made on hosts of its own, of which the table of whoever reads
    it knows nothing: its records alone say them, so that they are the same on every machine. One of our own without
    captured evidence goes by the table, then by its records.
    """
    bound = {name: address for row in rows.values() for name, address in row.bases.items()}
    if evidence.source is not EvidenceSource.STORED_PAGE:
        return tuple(bound.items())
    recorded = _recorded_bases(evidence, _benchmark_sites())
    return tuple((recorded if foreign else recorded | bound).items())


def _recorded_bases(evidence: RunEvidence, sites: SiteTable) -> dict[str, str]:
    """Return the addresses that the tabs of a run give to the names of the benchmark's sites.

    The name of a site stands for the host of a tab that belongs to it; of a site that is told by its port for that
    port on the run's host. Where that is not known either it stands for the site's host glob, which is no address and
    no part of one.
    """
    seen: dict[str, SplitResult] = {}
    for url in (evidence.url or "", *(tab.url for tab in evidence.tabs)):
        if (site := sites.site_of(url)) in sites.globs:
            seen.setdefault(site, urlsplit(url))
    host = next((parts.hostname for parts in seen.values() if parts.hostname), "")
    bases: dict[str, str] = {}
    for site, globs in sites.globs.items():
        name = f"__{site.upper().replace('-', '_')}__"
        path = _BASE_PATHS.get(site, "")
        if site in seen:
            bases[name] = f"{seen[site].scheme}://{seen[site].netloc}{path}"
        elif globs and globs[0].startswith(ANY_HOST):  # sites told apart by their ports are on one host
            bases[name] = f"http://{globs[0].replace('*', host or '*')}{path}"
        elif globs:
            bases[name] = f"http://{globs[0]}{path}"
    return bases


@cache
def _benchmark_sites() -> SiteTable:
    """Return the built-in table, which is the same for everybody."""
    return load_sites()


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredScript:
    number: str
    target: HtmlTarget


async def with_stored_targets(
    evidence: RunEvidence, task: SuiteTask, pages: StoredPages | None, no_pages: str = ""
) -> RunEvidence:
    """Return the evidence with what its stored page holds at the suite's targets.

    Args:
        pages: evaluates locators; without it they stay unread, and ``no_pages`` says why there is none.

    Raises:
        NoBrowser: none can be started.  SiteloreError: it died.
    """
    found: dict[str, TargetEvidence] = {}
    scripts: list[_StoredScript] = []
    wanted = evidence_targets(task.oracle)
    for number, target in wanted:
        why = _out_of_reach(evidence, target)
        if why:
            found[number] = _unread(number, why)
        elif not target.locator.strip():
            found[number] = _read(number, evidence, html_entities.unescape(evidence.html or ""))
        else:
            scripts.append(_StoredScript(number=number, target=target))
    if scripts and pages is None:
        found |= {one.number: _unread(one.number, no_pages or "no browser was asked") for one in scripts}
    elif scripts and pages is not None:
        found |= await _evaluated(evidence, scripts, pages)
    return replace(evidence, targets=tuple(found[number] for number, _ in wanted))


def may_be_on_page(target: HtmlTarget) -> bool:
    """Whether a stored last page could hold a target."""
    return target.url == LAST and not is_helper(target.locator)


def needs_browser(evidence: RunEvidence, task: SuiteTask) -> bool:
    """Whether a locator has to be evaluated in the stored page."""
    return any(
        target.locator.strip() and not _out_of_reach(evidence, target)
        for _, target in evidence_targets(task.oracle)
    )


async def _evaluated(
    evidence: RunEvidence, scripts: Sequence[_StoredScript], pages: StoredPages
) -> dict[str, TargetEvidence]:
    from app.engine.browser.stored_page import StoredLocator

    located = await pages.read(
        evidence.html or "",
        evidence.url or "",
        [
            StoredLocator(id=one.number, script=one.target.locator, prepare=one.target.prep_actions)
            for one in scripts
        ],
    )
    return {
        number: _unread(number, text.why) if text.value is None else _read(number, evidence, text.value)
        for number, text in located.items()
    }


def _out_of_reach(evidence: RunEvidence, target: HtmlTarget) -> str:
    """Return why a stored page can't hold a target; "" where it can."""
    for text in (target.url, target.locator):
        if is_helper(text):
            try:
                parse_helper(text)
            except InputError as error:
                return error.what
            return NO_SITE
    if target.url != LAST:
        return OTHER_PAGE
    if not evidence.html:
        return next(iter(evidence.notes), NO_HTML)
    if target.locator.strip() and not target.locator.startswith(_SCRIPT):
        return f"its locator is of no known kind: {target.locator[:60]!r}"
    return ""


def _read(number: str, evidence: RunEvidence, value: str) -> TargetEvidence:
    return TargetEvidence(target=number, url=evidence.url or "", value=value, has_field_values=False)


def _unread(number: str, why: str) -> TargetEvidence:
    return TargetEvidence(target=number, why=why, has_field_values=False)
