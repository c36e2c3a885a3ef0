"""Addresses are compared as WebArena publishes it, quirks included."""

from __future__ import annotations

import pytest

from app.engine.evaluation.dialects.address_rules import matches
from app.errors import InputError


@pytest.mark.parametrize(
    ("references", "address", "score"),
    [
        ("http://h/a", "http://h/abc", 1),
        ("http://h/a", "http://zh/a", 1),
        ("http://h/a", "https://h/a?x=1#f", 1),
        ("http://h/a", "http://evil/?u=http://h/a", 0),
        ("http://h", "http://h/any/path", 1),
        ("", "http://h/a", 1),
        ("http://h/a?x=1 |OR| http://h/b?x=2", "http://h/a?x=2", 1),
        ("http://h/a?x=1 |OR| http://h/a?x=2", "http://h/a?x=1", 1),
        ("http://h/a |OR| http://h/b?x=2", "http://h/a", 0),
        ("http://h/a |OR| http://h/b", "http://h/b/", 1),
        ("http://h/a|OR|http://h/b", "http://h/a", 0),
        ("http://h/a?q=1", "http://h/a/?q=1", 1),
        ("http://h/a/?q=1", "http://h/a?q=1", 0),
        ("http://h/a?x=", "http://h/a", 1),
        ("http://h:80/a", "http://h/a", 0),
        ("http://h/a?x=1", "http://h/a?x=1&y=2", 1),
        ("http://h/a?x=1&y=2", "http://h/a?x=1", 0),
        ("http://h/a?x=1", "http://h/a?x=2&x=1", 1),
        ("http://h/a%20b", "http://h/a b", 0),
        ("http://h/a?q=a%20b", "http://h/a?q=a+b", 1),
        ("http://h/a/", "http://h/a", 1),
        ("http://h/A", "http://h/a", 0),
    ],
)
def test_a_reference_is_a_piece_of_the_address(references: str, address: str, score: float) -> None:
    assert matches(references, address) == score


@pytest.mark.parametrize(
    ("references", "address", "score"),
    [("http://h/A?X=Y", "http://H/a?x=y", 1), ("http://h/A", "http://h/b", 0)],
)
def test_webchorearena_compares_in_lower_case(references: str, address: str, score: float) -> None:
    assert matches(references, address, lower=True) == score


def test_a_broken_address_is_one_sentence() -> None:
    with pytest.raises(InputError, match="no address"):
        matches("http://[", "http://h/a")
