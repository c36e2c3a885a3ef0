"""Draft a tip for the step that went wrong from what the program knows.

The draft is a start for a person: it names controls and addresses (site logic), never what the page said, and its last
clause is left open for an expert to finish.  Where the scout gave up, its own sentence of what it found and missed is
the condition, without the names that it quotes: they are of one task or from the page.  The words of a model are no
condition: it may say anything, also what a page told it to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from app.engine.core.text import one_line
from app.engine.core.trajectory import ErrorClass, Run, Step
from app.engine.core.verdicts import Flag
from app.engine.detectors.base import action_text, evidence_start
from app.engine.detectors.rules.endings import ASKED
from kb.tip import Kind, Provenance, Scope, TipDraft

_INSTANCE = re.compile(
    r"^(?:\d[\w.-]*|[0-9a-fA-F]{8,}|[\w.-]*\d{3,}[\w.-]*|@.+|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[\w+=%-]{16,})$"
)
_KEPT_QUERY_KEYS = 2
OWN, SCOUT = "sitelore", "scout"
"""Source and policy of a run whose reason is a sentence of this program."""
_SLUG = re.compile(r"[^a-z0-9_.-]+")
_QUOTED = re.compile(r"""“[^”\n]{0,300}”|"[^"\n]{0,300}"|(?<!\w)'[^'\n]{0,300}'(?!\w)""")
_LONGEST_CONDITION = 160

_REPEATED = (Kind.OPERATION, "Repeating {control} leads nowhere new; instead, ")
_UNCHANGED = (Kind.OPERATION, "Repeating {control} changes nothing; instead, ")
_OPENINGS: dict[str, tuple[Kind, str]] = {
    "no-effect": (Kind.OPERATION, "{control} does nothing by itself; before it, "),
    "covered-element": (Kind.UI_QUIRK, "{control} can be covered by a dialog; first "),
    "hard-errors": (Kind.UI_QUIRK, "{control} can't be used directly; instead, "),
    "left-sites": (Kind.NAVIGATION, "{control} leaves the site; to stay on it, "),
    "state-action-loop": _REPEATED,
    "repeated-action": _REPEATED,
    "action-cycle": (Kind.NAVIGATION, "Going back and forth here leads nowhere; instead, "),
    "back-and-forth": (Kind.NAVIGATION, "Going back and forth here leads nowhere; instead, "),
    "login-wall": (Kind.POLICY, "This part needs a log-in; "),
    "error-page": (Kind.NAVIGATION, "{control} leads to an error page; instead, "),
    "gave-up": (Kind.NAVIGATION, "This can be done: "),
}
"""Kind and opening words by detector; the others (a crash, an answer, a return) say nothing about the site."""


def scope_of(url: str) -> Scope:
    """Return the scope of pages that share this address's shape: ids become ``*``, the host stays the site's.

    Query keys are kept only if the path says nothing (``/search?q=``), and without their values.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return Scope()
    segments = [segment for segment in parts.path.split("/") if segment]
    shape = ["*" if _INSTANCE.match(segment) else segment for segment in segments]
    keys = tuple(sorted({key for key, _ in parse_qsl(parts.query)}))
    few = keys if len(segments) <= 1 and len(keys) <= _KEPT_QUERY_KEYS else ()
    return Scope(path="/" + "/".join(shape) + ("/" if parts.path.endswith("/") and shape else ""), query=few)


def site_slug(site: str) -> str:
    """Return a name that a tip's site can have, for a site that is known by its host alone."""
    return _SLUG.sub("-", site).strip("-")


def draft_tip(run: Run, step: Step, flags: Sequence[Flag], site: str, author: str, verdict: str) -> TipDraft:
    """Return a draft with site, scope, evidence and an opening that fits the flag at this step."""
    here = [flag for flag in flags if step.index in (flag.step, evidence_start(flag))]
    flag, (kind, opening) = _opening(here, step)
    host = urlsplit(step.url).netloc.rpartition("@")[2].lower()
    unnamed = site == host  # the site has no known name: the tip needs one, and its host in its scope
    return TipDraft(
        site=site_slug(site) if unnamed else site,
        scope=replace(scope_of(step.url), host=host) if unnamed else scope_of(step.url),
        kind=kind,
        text=_opened(opening, step, run.intent),
        when=_condition(run),
        provenance=Provenance(
            run=run.id,
            step=step.index,
            screenshot=step.screenshot,
            author=author,
            detector=flag.detector if flag else "",
            verdict=verdict,
        ),
        taint=(f"{run.suite}:{run.task_id}",) if run.task_id else (),
    )


def _condition(run: Run) -> str:
    """Return what the scout would have needed; "" for the runs of a model, of another program and of an operator."""
    is_scouts = run.source == OWN and run.policy == SCOUT and not run.ended_by
    return condition_of(run.needs) if is_scouts else ""


def condition_of(needs: str) -> str:
    """Return the first clause of what a run would have needed, with "…" for each quoted name; "" for nothing."""
    return one_line(_QUOTED.sub("…", needs).split("; ", 1)[0], _LONGEST_CONDITION)


def _opening(here: Sequence[Flag], step: Step) -> tuple[Flag | None, tuple[Kind, str]]:
    """Return the flag a draft is about, with its opening; "" where the evidence of this very step does not bear it."""
    ranked = sorted(here, key=lambda flag: -flag.confidence)
    for flag in ranked:
        kind, words = _OPENINGS.get(flag.detector, (Kind.OPERATION, ""))
        if words and _holds(flag, step) and ("{control}" not in words or _can_be_found(step)):
            unchanged = any(one.detector == "no-effect" and one.step == step.index for one in here)
            return flag, _UNCHANGED if unchanged and words == _REPEATED[1] else (kind, words)
    return (ranked[0] if ranked else None), (Kind.OPERATION, "")


def _holds(flag: Flag, step: Step) -> bool:
    match flag.detector:
        case "state-action-loop" | "repeated-action":
            return flag.evidence.get("action") == action_text(step)
        case "no-effect":
            return flag.step == step.index
        case "hard-errors" | "covered-element":
            return step.error_class is ErrorClass.HARD or flag.step == step.index
        case "gave-up":
            return ASKED not in flag.evidence
        case _:
            return True


def _can_be_found(step: Step) -> bool:
    """Whether a reader of the tip can find the control: by its name."""
    return step.target is not None and bool(step.target.name.split())


def _opened(opening: str, step: Step, intent: str) -> str:
    words = opening.format(control=_control(step, intent))
    return words[:1].upper() + words[1:]


def _control(step: Step, intent: str) -> str:
    """Return the control by its role, and by its name if that belongs to the site and not to one task."""
    if step.target is None or not step.target.name.split():
        return ""
    name = " ".join(step.target.name.split())
    role = step.target.role or "element"
    belongs_to_task = any(char.isdigit() for char in name) or name.casefold() in intent.casefold()
    return f"such a {role}" if belongs_to_task else f"the {role} “{name[:60]}”"
