"""Merges another knowledge base's tips."""

from __future__ import annotations

from dataclasses import fields, replace

from kb.frozen import FrozenKnowledgeBase
from kb.store import KnowledgeBase
from kb.tip import ImportReport, Status, Tip, TipDraft


def merge(into: KnowledgeBase, other: KnowledgeBase | FrozenKnowledgeBase) -> ImportReport:
    """Add the missing tips as drafts, whatever their status there, as one undoable change.

    Tips that were here before, in whatever revision, are skipped.  If a tip of the same id now has other content, the
    other's version is added as a draft of its own; hosts are taken over for sites that have none here.
    """
    name = other.path.name
    tips = other.tips()
    added = into.add_many([_draft(tip, name) for tip in tips], "merge", f"merge {name}")
    ours = into.hosts()
    for site, hosts in other.hosts().items():
        if site not in ours:
            into.set_hosts(site, hosts)
    return ImportReport(added=tuple(tip.id for tip in added), skipped=len(tips) - len(added))


def _draft(tip: Tip, source: str) -> TipDraft:
    draft = TipDraft(**{one.name: getattr(tip, one.name) for one in fields(TipDraft)})
    origin = replace(tip.provenance, source=tip.provenance.source or source)
    return replace(draft, status=Status.DRAFT, provenance=origin)
