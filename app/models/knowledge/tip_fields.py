"""Converts a draft's fields to the text of an editor and back."""

from __future__ import annotations

from dataclasses import fields, replace

from app.engine.api.graph_api import ScopeCoverage
from app.models.common.translate import tr
from kb.procedure import ProcedureOrigin
from kb.tip import Kind, Scope, TipDraft

PARTS = ("when", "do", "before", "why")


def draft_of(tip: TipDraft) -> TipDraft:
    """Return a tip's content for editing; compiled steps are left out, as they follow from its text."""
    draft = TipDraft(**{field.name: getattr(tip, field.name) for field in fields(TipDraft)})
    made = draft.procedure
    return (
        replace(draft, procedure=None)
        if made is not None and made.origin is ProcedureOrigin.COMPILER
        else draft
    )


def coverage_text(coverage: ScopeCoverage | None) -> str:
    """Return on how many pages of the map a scope holds; "" for a site without a map."""
    if coverage is None or not coverage.pages:
        return ""
    if not coverage.holds:
        return tr("holds on none of the {0} pages of the map").format(coverage.pages)
    return tr("holds on {0} of the {1} pages of the map").format(coverage.holds, coverage.pages)


def field_of(draft: TipDraft, name: str) -> str:
    """Return a field as text: site, scope, kind, text, when, do, before, why, keywords or tags."""
    match name:
        case "keywords" | "tags":
            return ", ".join(getattr(draft, name))
        case _:
            return str(getattr(draft, name))


def with_field(draft: TipDraft, name: str, value: str) -> TipDraft:
    """Return the draft with a field parsed from its typed text."""
    match name:
        case "scope":
            return replace(draft, scope=Scope.parse(" ".join(value.split())))
        case "kind":
            return replace(draft, kind=Kind(value))
        case "keywords" | "tags":
            words = (word.strip() for word in value.replace("\n", ",").split(","))
            return replace(draft, **{name: tuple(dict.fromkeys(word for word in words if word))})
        case "site":
            return replace(draft, site=value.strip())
        case _:
            return replace(draft, **{name: value})
