"""Retrieval of the tips that apply to a page and a goal: three routes, one written rule
(``kb.retrieval.cascade``).
"""

from kb.retrieval.cascade import RetrievalSettings, estimate_tokens
from kb.retrieval.embedding import content_key, encode_cached
from kb.retrieval.retriever import Retriever
from kb.retrieval.url import is_site_wide, matches_everything, scope_holds

__all__ = [
    "RetrievalSettings",
    "Retriever",
    "content_key",
    "encode_cached",
    "estimate_tokens",
    "is_site_wide",
    "matches_everything",
    "scope_holds",
]
