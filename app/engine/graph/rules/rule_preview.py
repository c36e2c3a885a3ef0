"""Preview of block rules: what they would block on one page, and on everything stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.engine.api.graph_api import LabHit, LabReport
from app.engine.core.page_state import Element
from app.engine.graph.rules.block_list import BlockList
from app.errors import InputError


def preview_rules(
    rules: BlockList,
    page_url: str,
    elements: Sequence[Element],
    stored: Iterable[tuple[str, Sequence[Element]]] = (),
    language: str = "",
) -> LabReport:
    """Apply the rules to a page's elements, and count what they block on stored pages.

    Args:
        elements: of the page shown; the hits name them by ``Element.index``.
        stored: address and elements of every stored page, including this one.
        language: the pages' ``lang``, if known.
    """
    hits = tuple(_hit(rules, element, page_url, language) for element in elements)
    stopped, total = 0, 0
    for url, others in stored:
        total += len(others)
        stopped += sum(not rules.verdict(element, url, language).allows for element in others)
    return LabReport(
        hits=hits,
        stopped_here=sum(hit.verdict != "allow" for hit in hits),
        stopped_everywhere=stopped,
        elements_everywhere=total,
        notes=rules.notes,
    )


def try_rules(
    text: str,
    page_url: str,
    elements: Sequence[Element],
    stored: Iterable[tuple[str, Sequence[Element]]] = (),
    language: str = "",
) -> LabReport:
    """Apply rules that are being edited: a mistake in them becomes the report's ``error``."""
    try:
        rules = BlockList.load(text, language=language)
    except InputError as error:
        return LabReport(hits=(), error=str(error))
    return preview_rules(rules, page_url, elements, stored, language)


def _hit(rules: BlockList, element: Element, page_url: str, language: str) -> LabHit:
    ruling = rules.verdict(element, page_url, language)
    return LabHit(element=element.index, verdict=ruling.verdict, rule=ruling.rule, why=ruling.why)
