from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.retrieval.url import (
    WEAK_SCORE,
    compile_page_pattern,
    is_site_wide,
    matches_everything,
    parse_address,
    scope_holds,
    wildcard_match,
)
from kb.tip import Scope
from tests.support.tips import laws


@pytest.mark.parametrize(
    ("scope", "url", "holds"),
    [
        ("*:8023/dashboard/**", "http://10.0.0.1:8023/dashboard/merge_requests?state=opened", True),
        ("*:8023/dashboard/**", "http://10.0.0.1:8023/dashboard", True),
        ("*:8023/dashboard/**", "http://10.0.0.1:8023/admin/dashboard", False),
        ("*:8023/dashboard/**", "http://10.0.0.1:9999/dashboard/x", False),
        ("*:8023/f/*", "http://h:8023/f/books/", True),
        ("*:8023/f/*", "http://h:8023/f/books/12", True),
        ("*:8023/f/*", "http://h:8023/f", True),
        ("*:8023/f/*", "http://h:8023/g/f", False),
        ("*:8023/f*", "http://h:8023/forum/12", True),
        ("*:8023/f*", "http://h:8023/g/forum", False),
        ("*:8023/f/*/*", "http://h:8023/f", False),
        ("*:8023/f/*/*", "http://h:8023/f/books", True),
        ("*:8023/f/*/comments", "http://h:8023/f/books/comments", True),
        ("*:8023/**/issues", "http://h:8023/group/project/-/issues", True),
        ("*:8023/**/issues", "http://h:8023/issues", True),
        ("*:8023/", "http://h:8023", True),
        ("*:8023/", "http://h:8023/x", False),
        ("*.example.com", "https://shop.example.com/cart", True),
        ("*.example.com", "https://example.com.evil.net/", False),
        ("shop.test", "https://user:secret@SHOP.test:443/x", True),
        ("shop.test", "http://shop.test:8080/x", False),
        ("*/search?q", "http://h/search?q=&p=2", True),
        ("*/search?q=a b", "http://h/search?q=a%20b", True),
        ("*/search?q=a", "http://h/search?q=b", False),
        ("*/search?q=*", "http://h/search?q=b", True),
        ("*/search?q=*", "http://h/search?q=", False),
        ("*/search?q=*", "http://h/search?p=b", False),
        ("*/search?q=a*z&p", "http://h/search?q=a%20to%20z&p=", True),
        ("*/search?q=a*z&p", "http://h/search?q=a%20to%20z", False),
        ("*/search?q=a*", "http://h/search?q=b&q=ab", True),
        ("*/a b/*", "http://h/a%20b/c", True),
        ("*/Case", "http://h/case", False),
    ],
)
def test_a_scope_holds_where_host_path_and_query_keys_do(scope: str, url: str, holds: bool):
    assert scope_holds(Scope.parse(scope), url) is holds


def test_a_scope_without_a_host_holds_on_the_hosts_of_its_site():
    scope = Scope(path="/f/**")

    assert scope_holds(scope, "http://h:9999/f/x", ("*:9999",))
    assert not scope_holds(scope, "http://h:8023/f/x", ("*:9999",))


@pytest.mark.parametrize(
    "url", ["", "about:blank", "chrome-error://chromewebdata/", "http://[broken", "data:text/html,x"]
)
def test_an_address_without_a_host_matches_no_scope(url: str):
    assert parse_address(url) is None
    assert not scope_holds(Scope(host="*"), url)


def test_the_more_specific_scope_scores_higher():
    ladder = ["/*", "/a/*", "/a", "/a/b", "/a/b?key", "/a/b?key=v*", "/a/b?key=value", "/a/b/c?key=value"]
    scores = [compile_page_pattern(*_parts(text)).score for text in ladder]

    assert scores[0] == compile_page_pattern("", ()).score == WEAK_SCORE
    assert scores == sorted(set(scores))
    for same in (("/a/*", "/a/**"), ("/*", "/**"), ("/a?key", "/a?key=*")):
        one, other = (compile_page_pattern(*_parts(text)).score for text in same)
        assert one == other


def _parts(text: str) -> tuple[str, tuple[str, ...]]:
    scope = Scope.parse("h" + text)
    return scope.path, scope.query


def test_scopes_that_leave_nothing_out_are_told_from_those_of_a_whole_site():
    assert matches_everything(Scope(host="*"))
    assert matches_everything(Scope(host="*:*", path="/**"))
    assert not matches_everything(Scope(host="*:8023"))
    assert not matches_everything(Scope(host="*", path="/cart"))
    assert not matches_everything(Scope())
    assert is_site_wide(Scope())
    assert is_site_wide(Scope(host="*:8023", path="/**"))
    assert not is_site_wide(Scope(path="/"))


def test_no_pattern_stalls_the_matcher():
    started = time.process_time()

    wildcard_match("*a" * 500 + "b", "a" * 2_000)
    scope_holds(Scope(host="*", path="/**/a" * 300 + "/b"), "http://h/" + "a/" * 900)

    assert time.process_time() - started < 2


@laws
@given(st.text("ab*/", max_size=12), st.text("ab", max_size=8))
def test_wildcards_agree_with_their_definition(pattern: str, text: str):
    def slow(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return any(slow(pattern[1:], text[at:]) for at in range(len(text) + 1))
        return bool(text) and text[0] == pattern[0] and slow(pattern[1:], text[1:])

    assert wildcard_match(pattern, text) == slow(pattern.replace("**", "*"), text)


@laws
@given(
    st.lists(st.sampled_from(["a", "b", "*", "**", "a*"]), max_size=6),
    st.lists(st.sampled_from("abc"), max_size=6),
)
def test_path_globs_agree_with_their_definition(pattern: list[str], segments: list[str]):
    def slow(pattern: list[str], segments: list[str]) -> bool:
        if not pattern:
            return not segments
        if len(pattern) == 1 and pattern[0] != "**" and pattern[0].endswith("*"):
            pattern = ["**"] if pattern[0] == "*" else [pattern[0], "**"]
        if pattern[0] == "**":
            return any(slow(pattern[1:], segments[at:]) for at in range(len(segments) + 1))
        return bool(segments) and wildcard_match(pattern[0], segments[0]) and slow(pattern[1:], segments[1:])

    path = "/" + "/".join(pattern)
    assert scope_holds(Scope(host="*", path=path), "http://h/" + "/".join(segments)) == slow(
        pattern, segments
    )
