"""Remove secrets from an imported native run: it may have been made by hand or by another program.

Sitelore's own exports are clean already and pass unchanged, page contents and their hashes too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.engine.core.ax_tree import content_key
from app.engine.core.redaction import (
    MARK,
    redact_html,
    redact_text,
    redact_tree,
    redact_url,
    typed_secret,
    without_typed,
)
from app.engine.core.trajectory import Run, Step, Tab


def redact_run(
    run: Run, steps: Sequence[Step], blobs: Mapping[str, bytes]
) -> tuple[Run, tuple[Step, ...], dict[str, bytes]]:
    """Return the run, its steps and its page contents without secrets; a changed content gets a new hash."""
    pages = [*steps, *([run.final] if run.final is not None else [])]
    kept = dict(blobs)
    moved: dict[str, str] = {}
    for digest in {step.tree for step in pages} & kept.keys():
        _keep(kept, moved, digest, redact_tree(kept[digest].decode("utf-8", "replace")))
    for digest in {step.html for step in pages} & kept.keys():
        _keep(kept, moved, digest, redact_html(kept[digest].decode("utf-8", "replace")))
    for digest in {call for step in pages for call in step.calls} & kept.keys():
        _keep(kept, moved, digest, redact_text(kept[digest].decode("utf-8", "replace")).encode())
    clean = tuple(_step(step, moved, kept) for step in steps)
    return (
        replace(
            run,
            intent=redact_text(run.intent),
            start_url=redact_url(run.start_url),
            error=redact_text(run.error),
            answer=redact_text(run.answer) if run.answer is not None else None,
            final=_step(run.final, moved, kept) if run.final is not None else None,
        ),
        clean,
        kept,
    )


def _keep(kept: dict[str, bytes], moved: dict[str, str], digest: str, data: bytes) -> None:
    if data != kept[digest]:
        moved[digest] = hashlib.sha256(data).hexdigest()
        kept[moved[digest]] = data
        del kept[digest]


def _step(step: Step, moved: Mapping[str, str], kept: Mapping[str, bytes]) -> Step:
    tree = moved.get(step.tree, step.tree)
    secret = typed_secret(step.action, step.target)
    action = without_typed(step.action, secret) if step.action is not None and secret else step.action

    def said(text: str) -> str:
        clean = redact_text(text)
        return clean.replace(secret, MARK) if secret else clean

    return replace(
        step,
        url=redact_url(step.url),
        title=redact_text(step.title),
        tabs=tuple(Tab(url=redact_url(tab.url), title=redact_text(tab.title)) for tab in step.tabs),
        reason=said(step.reason),
        raw_output=said(step.raw_output),
        action=action,
        error=said(step.error),
        notices=tuple(redact_text(notice) for notice in step.notices),
        summary=redact_text(step.summary),
        tree=tree,
        html=moved.get(step.html, step.html),
        output=said(step.output),
        calls=tuple(moved.get(call, call) for call in step.calls),
        state=content_key(kept[tree].decode()) if tree != step.tree else step.state,
    )
