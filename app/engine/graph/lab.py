"""The block list's laboratory: what rules would stop on a page, and on everything that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.engine.errors import InputError
from app.engine.graph.blocklist import BlockList
from app.engine.graph_api import LabHit, LabReport
from app.engine.page_state import Element


def rule_on(
    rules: BlockList,
    page_url: str,
    elements: Sequence[Element],
    stored: Iterable[tuple[str, Sequence[Element]]] = (),
    language: str = "",
) -> LabReport:
    """Ask the rules about a page's elements, and count what they stop on stored pages.

    Args:
        elements: of the page looked at; the hits name them by ``Element.index``.
        stored: address and elements of every stored page, this one among them.
        language: the pages' ``lang``, where it is known.
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
    """``rule_on`` for rules that are being written: a mistake in them is the report's ``error``."""
    try:
        rules = BlockList.load(text, language=language)
    except InputError as error:
        return LabReport(hits=(), error=str(error))
    return rule_on(rules, page_url, elements, stored, language)


def _hit(rules: BlockList, element: Element, page_url: str, language: str) -> LabHit:
    ruling = rules.verdict(element, page_url, language)
    return LabHit(element=element.index, verdict=ruling.verdict, rule=ruling.rule, why=ruling.why)
