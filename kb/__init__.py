"""The Adaptive Knowledge Base: store, retrieve and freeze tips about web sites.  Importable alone.

    from kb import KnowledgeBase, Status, TipDraft
    from kb.freeze import freeze

    with KnowledgeBase.open("knowledge.akb", author="ada") as kb:
        tip = kb.add(TipDraft(site="shop", text="Hover the category; a click leaves the page."))
        kb.set_status([tip.id], Status.ACTIVE)
        freeze(kb, "frozen.akb")

An agent needs the other side only, a frozen file and its tips (``kb.knowledge``):

    from kb import open_frozen

    with open_frozen("frozen.akb") as kb:
        print(kb.retrieve(url="https://shop.example/cart", goal="apply the coupon").block)

The names below are loaded on first use, so ``import kb`` stays cheap.
``freeze`` and ``merge`` are modules, each with a function of its name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb.errors import BadFile, BadTip, Frozen, KbError, Locked, NoSuchTip
    from kb.exchange import import_file, read, write
    from kb.freeze import diff, verify
    from kb.frozen import FrozenKnowledgeBase, open_any
    from kb.journal import Journal, JournalEntry
    from kb.knowledge import FoundTip, FrozenKnowledge, KnownSite, TipAnswer, open_frozen
    from kb.page_text import PageWords
    from kb.store import KnowledgeBase
    from kb.tip import Kind, Provenance, Query, Retrieval, Scope, Status, Tip, TipDraft
    from kb.vectors import VectorCache

_HOME = {
    "kb.errors": ("BadFile", "BadTip", "Frozen", "KbError", "Locked", "NoSuchTip"),
    "kb.exchange": ("import_file", "read", "write"),
    "kb.freeze": ("diff", "verify"),
    "kb.frozen": ("FrozenKnowledgeBase", "open_any"),
    "kb.journal": ("Journal", "JournalEntry"),
    "kb.knowledge": ("FoundTip", "FrozenKnowledge", "KnownSite", "TipAnswer", "open_frozen"),
    "kb.page_text": ("PageWords",),
    "kb.store": ("KnowledgeBase",),
    "kb.tip": ("Kind", "Provenance", "Query", "Retrieval", "Scope", "Status", "Tip", "TipDraft"),
    "kb.vectors": ("VectorCache",),
}

__all__ = [
    "BadFile",
    "BadTip",
    "FoundTip",
    "Frozen",
    "FrozenKnowledge",
    "FrozenKnowledgeBase",
    "Journal",
    "JournalEntry",
    "KbError",
    "Kind",
    "KnowledgeBase",
    "KnownSite",
    "Locked",
    "NoSuchTip",
    "PageWords",
    "Provenance",
    "Query",
    "Retrieval",
    "Scope",
    "Status",
    "Tip",
    "TipAnswer",
    "TipDraft",
    "VectorCache",
    "diff",
    "import_file",
    "open_any",
    "open_frozen",
    "read",
    "verify",
    "write",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOME.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
