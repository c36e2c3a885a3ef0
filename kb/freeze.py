"""Freezing: write tips into one read-only file for an evaluation, and verify later that nothing in it has changed."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb import atomic, image
from kb.confidential import NOTHING, LeaveOut
from kb.errors import BadFile, KbError
from kb.frozen import FrozenKnowledgeBase, frozen_version, newer, open_any, read_content, version_in
from kb.manifest import manifest_path, read_manifest, to_bytes, waiting_path
from kb.migrations import shown
from kb.reading import read_bytes, refuse_odd
from kb.select import tally, to_freeze
from kb.tip import FreezeReport, KbDiff, Kind, Status, Tip, VerifyReport

if TYPE_CHECKING:
    from kb.store import KnowledgeBase

__all__ = [
    "FrozenKnowledgeBase",
    "diff",
    "freeze",
    "open_any",
    "refuse_changed",
    "verify",
    "without_manifest",
]

_LIMIT = 2**30
_FileState = tuple[int, ...]


def freeze(
    kb: KnowledgeBase | FrozenKnowledgeBase,
    out: Path | str,
    include: Sequence[Status] = (),
    waive: Mapping[str, str] | None = None,
    lint_errors: Mapping[str, Sequence[str]] | None = None,
    encoder: tuple[str, str] | None = None,
    with_learnings: bool = False,
    only: Collection[str] | None = None,
    leave_out: LeaveOut = NOTHING,
) -> FreezeReport:
    """Write the active tips (and those of the statuses in ``include``) to ``out``, with a manifest beside it.

    ``only`` gives the ids of the tips instead, whatever their statuses are.

    Learnings, which the program wrote, are left out whatever their status; ``with_learnings`` freezes those that runs
    follow, drafts too.

    The same tips give the same bytes on every machine.  A tip with ``lint_errors`` (messages by tip id) is left out
    unless ``waive`` gives a reason for it, which the manifest keeps.  ``encoder`` is its id and hash. The file is
    written atomically; an existing frozen file is replaced, any other file is not.

    Confidential tips are left out by ``leave_out``; the file and its manifest say only how many.
    """
    out, waive, lint_errors = Path(out), waive or {}, lint_errors or {}
    _refuse_to_overwrite(out)
    _check_waivers(kb, waive)
    wanted = [
        tip
        for tip in kb.tips()
        if (to_freeze(tip, include, with_learnings) if only is None else tip.id in only)
    ]
    confidential, unused = _confidential(kb, leave_out)
    wanted = [tip for tip in wanted if tip.id not in confidential]
    chosen, left_out = _choose(kb.tips(), wanted, set(lint_errors) - set(waive), confidential)
    content = image.Content.of(chosen, kb.hosts(), as_stored=kb.frozen)
    data = image.build(content)
    sha256 = hashlib.sha256(data).hexdigest()
    tasks = sorted({task for tip in chosen for task in tip.taint})
    refused = {tip.id for tip in wanted} - {tip.id for tip in chosen}
    manifest: dict[str, Any] = {
        "format": "sitelore frozen knowledge base",
        "schema": shown(image.VERSION),
        "file": {"name": out.name, "bytes": len(data), "sha256": sha256},
        "content_sha256": content.sha256,
        "counts": _counts(chosen, left_out),
        "encoder": {"id": encoder[0], "sha256": encoder[1]} if encoder else None,
        "lint": {
            "left_out": {id: list(lint_errors[id]) for id in sorted(refused)},
            "waived": {
                tip.id: {"reason": waive[tip.id].strip(), "errors": list(lint_errors.get(tip.id, ()))}
                for tip in chosen
                if tip.id in waive
            },
        },
        "taint": {"tasks": tasks, "tips": sum(bool(tip.taint) for tip in chosen)},
        "tips": {tip.id: _of_the_moment(tip, leave_out) for tip in chosen},
        "frozen_at": time.time(),
        "frozen_by": leave_out.names_in("" if isinstance(kb, FrozenKnowledgeBase) else kb.author),
    }
    _place_both(out, data, to_bytes(manifest))
    return FreezeReport(
        path=str(out),
        manifest=str(manifest_path(out)),
        sha256=sha256,
        tips=len(chosen),
        left_out=left_out,
        lint_errors=tuple(f"{id}: {message}" for id in sorted(refused) for message in lint_errors[id]),
        tainted_tasks=len(tasks),
        warnings=(*unused, *leave_out.warnings(chosen, kb.hosts())),
    )


def verify(path: Path | str) -> VerifyReport:
    """Check that a frozen file and its manifest are, bit by bit, what the freeze wrote.

    Raises ``BadFile`` only if there is no file that could be read.
    """
    path = Path(path)
    data = read_bytes(path, _LIMIT)
    sha256 = hashlib.sha256(data).hexdigest()
    manifest = read_manifest(path)
    problems = [manifest.problem] if manifest.problem else []
    tips = 0
    version = version_in(data)
    if manifest.ok and manifest.file_sha256 != sha256:
        problems.append("the file is not the one the manifest was written for, or was changed since")
        if version is None:
            problems.append("this is not a frozen knowledge base (any more)")
        else:
            with suppress(KbError):  # why it can't be read is no news
                tips = len(read_content(path).tips)
    elif version is None:
        problems.append("this is not a frozen knowledge base")
    elif version // 1000 > image.VERSION // 1000:
        problems.append(newer(path, version))
    else:
        try:
            content = read_content(path)
            tips = len(content.tips)
            if manifest.ok and manifest.data.get("content_sha256") != content.sha256:
                problems.append("the tips are not those the manifest was written for")
        except BadFile as error:
            problems.append(str(error))
    return VerifyReport(path=str(path), ok=not problems, sha256=sha256, tips=tips, problems=tuple(problems))


def refuse_changed(path: Path | str) -> str:
    """Refuse a file that its manifest was not written for; return ``without_manifest``.

    Less than ``verify``, but cheap: a file is hashed again only when it or its manifest has changed.

    Raises ``BadFile``.
    """
    path = Path(path)
    if not _has_manifest(path):
        return without_manifest(path)
    states = tuple(map(_state, (path, manifest_path(path), waiting_path(path))))
    if problem := _misfit(path, states):
        raise BadFile(f"{path}: {problem}; take another copy of both, or see 'sitelore kb verify'")
    return ""


def without_manifest(path: Path) -> str:
    """Return a note about a frozen file without a manifest, "" for any other file and for none."""
    if _has_manifest(path) or not path.is_file() or frozen_version(path) is None:
        return ""
    return f"{path.name} has no manifest beside it, so a change since it was frozen may go unseen"


def _has_manifest(path: Path) -> bool:
    return path.is_file() and (manifest_path(path).exists() or waiting_path(path).exists())


@lru_cache(maxsize=64)
def _misfit(path: Path, states: tuple[_FileState, ...]) -> str:
    """Return why a file and its manifest do not fit, "" where they do."""
    manifest = read_manifest(path)
    if not manifest.ok:
        return manifest.problem
    if manifest.file_sha256 != hashlib.sha256(read_bytes(path, _LIMIT)).hexdigest():
        return "the file is not the one its manifest was written for, or was changed since"
    return ""


def _state(path: Path) -> _FileState:
    """Return what changes with a file's content; nothing for one that is not there."""
    try:
        about = path.stat()
    except OSError:
        return ()
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def diff(a: KnowledgeBase | FrozenKnowledgeBase, b: KnowledgeBase | FrozenKnowledgeBase) -> KbDiff:
    """Return the tips only in ``b``, those only in ``a``, and those that differ in content or status."""
    old = {tip.id: tip for tip in a.tips()}
    new = {tip.id: tip for tip in b.tips()}
    tags = not (a.frozen or b.frozen)
    return KbDiff(
        added=tuple(tip for id, tip in new.items() if id not in old),
        removed=tuple(tip for id, tip in old.items() if id not in new),
        changed=tuple(
            (old[id], tip)
            for id, tip in new.items()
            if id in old and _said(old[id], tags) != _said(tip, tags)
        ),
    )


def _choose(
    tips: Sequence[Tip], wanted: Sequence[Tip], refused: set[str], confidential: Mapping[str, str]
) -> tuple[list[Tip], dict[str, int]]:
    """The tips to freeze, and how many are left out as confidential, by status, as learnings, or for lint errors."""
    known = {tip.id for tip in wanted}
    left_out = Counter(
        confidential.get(tip.id) or (tip.kind.value if tip.kind is Kind.LEARNING else tip.status.value)
        for tip in tips
        if tip.id not in known
    )
    chosen = [tip for tip in wanted if tip.id not in refused]
    if len(chosen) < len(wanted):
        left_out["lint errors"] = len(wanted) - len(chosen)
    return chosen, dict(sorted(left_out.items()))


def _counts(tips: Sequence[Tip], left_out: dict[str, int]) -> dict[str, Any]:
    counts = tally(tips, revisions=0, vectors=0, encoder="", frozen=True)
    return {
        "tips": counts.tips,
        "by_site": counts.by_site,
        "by_kind": counts.by_kind,
        "by_status": counts.by_status,
        "left_out": left_out,
    }


def _confidential(
    kb: KnowledgeBase | FrozenKnowledgeBase, leave_out: LeaveOut
) -> tuple[dict[str, str], list[str]]:
    """Why each confidential tip stays out, by id; and sentences about names that no tip has."""
    if not leave_out:
        return {}, []

    def authors(tip: Tip) -> list[str]:
        by = [] if isinstance(kb, FrozenKnowledgeBase) else [one.author for one in kb.history(tip.id)]
        return [tip.provenance.author, *by]

    tips = kb.tips()
    reasons = {tip.id: leave_out.reason(tip, authors) for tip in tips}
    return {id: reason for id, reason in reasons.items() if reason}, leave_out.unused(tips, authors)


def _of_the_moment(tip: Tip, leave_out: LeaveOut) -> dict[str, Any]:
    """The parts of a tip that the frozen file must not hold."""
    return {
        "revision": tip.revision,
        "created_at": tip.created_at,
        "changed_at": tip.changed_at,
        "author": tip.provenance.author,
        "source": leave_out.names_in(tip.provenance.source),
    }


def _said(tip: Tip, tags: bool) -> Tip:
    """A tip without the fields that differ between two files with the same content."""
    provenance = replace(tip.provenance, author="", source="")
    return replace(
        tip,
        provenance=provenance,
        tags=tip.tags if tags else (),
        revision=1,
        created_at=0.0,
        changed_at=0.0,
        waiver=None,
        last_test=None,
    )


def _check_waivers(kb: KnowledgeBase | FrozenKnowledgeBase, waive: Mapping[str, str]) -> None:
    for id, reason in waive.items():
        kb.get(id)
        if not reason.strip():
            raise KbError(f"lint errors of tip {id!r} can only be waived with a reason")


def _refuse_to_overwrite(out: Path) -> None:
    for path in (out, manifest_path(out)):
        if path.exists() and not out.is_dir():
            refuse_odd(path)
    if out.exists() and frozen_version(out) is None:
        raise BadFile(
            f"{out}: this is another kind of file, not a frozen knowledge base; choose another name"
        )


def _place_both(out: Path, data: bytes, manifest: bytes) -> None:
    """Write the file, then rename the waiting manifest: a kill in between loses neither."""
    waiting = waiting_path(out)
    atomic.place(waiting, manifest)
    try:
        atomic.place(out, data, mode=0o444)
        atomic.rename(waiting, manifest_path(out))
    except KbError:
        with suppress(OSError):
            waiting.unlink()
        raise
