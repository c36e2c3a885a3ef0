"""Removes secrets from the evidence of a run before it is stored.  Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.engine.core.evaluation.har_redaction import redact_har
from app.engine.core.evaluation.run_evidence import RunEvidence, TargetEvidence
from app.engine.core.redaction import redact_html, redact_text, redact_url
from app.engine.core.trajectory import Tab


def redact_evidence(evidence: RunEvidence, mask: Callable[[str], str]) -> RunEvidence:
    """Return evidence without secrets.

    Args:
        evidence: as captured; its requests as the browser recorded them.
        mask: masks the run's own secrets in a text.
    """
    har, why = redact_har(evidence.har, mask) if evidence.har is not None else (None, "")
    return replace(
        evidence,
        answer=redact_text(mask(evidence.answer)) if evidence.answer is not None else None,
        tabs=tuple(
            Tab(url=redact_url(mask(tab.url)), title=redact_text(mask(tab.title))) for tab in evidence.tabs
        ),
        html=_page(evidence.html, mask) if evidence.html is not None else None,
        targets=tuple(_target(target, mask) for target in evidence.targets),
        har=har,
        notes=tuple(redact_text(mask(note)) for note in (*evidence.notes, *([why] if why else ()))),
    )


def _target(target: TargetEvidence, mask: Callable[[str], str]) -> TargetEvidence:
    value = target.value
    if value is not None:
        value = _page(value, mask) if "<" in value else redact_text(mask(value))
    return replace(target, url=redact_url(mask(target.url)), value=value, why=redact_text(mask(target.why)))


def _page(text: str, mask: Callable[[str], str]) -> str:
    return redact_html(mask(text)).decode("utf-8", "replace")
