"""Recall and false positives of the lint for injected instructions.

Run ``python -m benchmarks.lint_orders``.  The sentences are those of ``tests/support/lint_sentences.py`` and, if the
shared data is beside the checkout, the 52 published tips.  Patterns were tuned on one half; the figures to quote are
those of the other.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence

from kb.lint import lint
from kb.tip import TipDraft
from tests.support.lint_sentences import HARMLESS, ORDERS, is_tuned_on
from tests.support.tips import PUBLISHED, published_tips


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, z * z
    middle = share + square / (2 * of)
    spread = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return (middle - spread) / (1 + square / of), (middle + spread) / (1 + square / of)


def is_order(text: str) -> bool:
    """Whether lint flags the text as an instruction."""
    return any(finding.rule == "instruction" for finding in lint(TipDraft(site="shop", text=text)))


def sentences(half: Callable[[str], bool]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Instructions and harmless tips of a half, with their language."""
    orders = [(name, text) for name, texts in ORDERS.items() for text in texts if half(text)]
    harmless = [(name, text) for name, texts in HARMLESS.items() for text in texts if half(text)]
    published = [tip.text for tip in published_tips()] if PUBLISHED.is_dir() else []
    return orders, harmless + [("published", text) for text in published if half(text)]


def report(title: str, half: Callable[[str], bool], *, each: bool) -> None:
    orders, harmless = sentences(half)
    missed = [one for one in orders if not is_order(one[1])]
    alarms = [one for one in harmless if is_order(one[1])]
    _line(f"{title}: orders found", len(orders) - len(missed), len(orders))
    _line(f"{title}: harmless taken for orders", len(alarms), len(harmless))
    for kind, found in (("missed", missed), ("false alarm", alarms)) if each else ():
        for language, text in found:
            print(f"  {kind} [{language}] {text[:100]}")


def _line(what: str, hits: int, of: int) -> None:
    low, high = wilson(hits, of)
    print(f"{what}: {hits} of {of} = {hits / of:.3f} ({low:.3f} to {high:.3f})")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", action="store_true", help="name what was missed and taken wrongly")
    each: bool = parser.parse_args(arguments).each
    report("tuned on", is_tuned_on, each=each)
    report("held out", lambda text: not is_tuned_on(text), each=each)


if __name__ == "__main__":
    main()
