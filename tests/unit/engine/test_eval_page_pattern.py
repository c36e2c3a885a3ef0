"""Regular expressions of a suite's file are bounded before they are tried."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from app.engine.evaluation.dialects.page_pattern import full_match
from app.errors import InputError

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+b", "a" * 40),
        (r"(a|a)*b", "a" * 40),
        (r"(?:a?)*b", "a" * 40),
        (r"(a*)*b", "a" * 40),
        (r"((a{1,20}){1,20}){1,20}b", "a" * 40),
        (r"(a)\1", "aa"),
        (r"(?P<x>a)(?P=x)", "aa"),
        (r"(?(1)a|b)", "a"),
        (r".*.*.*.*.*.*b", "a" * 200),
        (r".*.*.*b", "a" * 3_000),
        (r"(", "a"),
        (r"a" * 2_000, "a"),
        (r".*", "a" * 5_000),
    ],
)
def test_what_could_take_for_ever_is_refused_in_one_sentence(pattern: str, text: str) -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match="regular expression"):
        full_match(pattern, text)
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        (r"/a(\?.*)?", "/a?x", True),
        (r"/a[+*]?", "/a+", True),
        (r"/[]+*(]x", "/*x", True),
        (r"/\(a\+\)x", "/(a+)x", True),
        (r"/orders/\?(?=(.*&)?status=e(&|$))(?!(.*&)?page=([2-9]|\d\d)).*", "/orders/?a=1&status=e", True),
        (
            r"/orders/\?(?=(.*&)?status=e(&|$))(?!(.*&)?page=([2-9]|\d\d)).*",
            "/orders/?status=e&page=2",
            False,
        ),
        (r"/a|/b", "/b", True),
        (r"(abc)+", "abcabc", True),
        (r"a{2}", "aa", True),
    ],
)
def test_usual_expressions_are_matched(pattern: str, text: str, matched: bool) -> None:
    assert full_match(pattern, text) is matched


def test_every_expression_of_our_own_sites_is_taken() -> None:
    files = sorted(ROOT.glob("benchmarks/sites/*/*.json"))
    given = [task["url"] for path in files for task in _tasks(path) if task.get("url")]
    for pattern in given:
        full_match(pattern.replace("{0}", "12"), "/control/event/a?" + "x=1&" * 60)


def _tasks(path: Path) -> list[dict[str, str]]:
    read = json.loads(path.read_text("utf-8"))
    return [one for one in read if isinstance(one, dict)] if isinstance(read, list) else []


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"(a|b)*c", r"(?:a?)*b"])
def test_a_repeated_group_is_refused_before_it_is_tried(pattern: str) -> None:
    with pytest.raises(InputError, match="repeats a group"):
        full_match(pattern, "x")
