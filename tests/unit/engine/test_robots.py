"""robots.txt is read as RFC 9309 says."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.graph.explore.robots import RobotsFile
from app.engine.services import exploration

SITE = "http://shop.example"


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        ("Disallow: /private", "/private/a", False),
        ("Disallow: /private", "/privates", False),
        ("Disallow: /private/", "/private", True),
        ("Disallow:", "/anything", True),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /\nAllow: /open", "/open/x", True),
        ("Allow: /open\nDisallow: /", "/open/x", True),
        ("Disallow: /open/shut\nAllow: /open", "/open/shut/1", False),
        ("Disallow: /same\nAllow: /same", "/same", True),
        ("Disallow: /*.php$", "/a/b.php", False),
        ("Disallow: /*.php$", "/a/b.php?x=1", True),
        ("Disallow: /*?sid=", "/a?sid=3", False),
        ("Disallow: /*/edit", "/item/3/edit/now", False),
        ("Disallow: /a*b*c$", "/a12b34c", False),
        ("Disallow: /a*b*c$", "/a12b34cd", True),
        ("Disallow: /%7Ejoe", "/~joe/x", False),
        ("Disallow: /caf%C3%A9", "/café", False),
        ("disallow : /case # why", "/case", False),
    ],
)
def test_the_longest_matching_rule_decides(lines: str, path: str, allowed: bool):
    assert RobotsFile.parse(f"User-agent: *\n{lines}\n").allows(SITE + path) is allowed


def test_our_own_group_replaces_the_wildcard_group():
    robots = RobotsFile.parse(
        "User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-agent: Sitelore/1.0\nDisallow: /x\nCrawl-delay: 2\n"
    )
    assert robots.allows(f"{SITE}/y")
    assert not robots.allows(f"{SITE}/x")
    assert robots.delay == 2.0


def test_a_group_for_others_is_not_ours():
    assert RobotsFile.parse("User-agent: other\nDisallow: /\n").allows(f"{SITE}/y")


def test_groups_of_one_agent_are_merged():
    robots = RobotsFile.parse("User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n")
    assert not robots.allows(f"{SITE}/a")
    assert not robots.allows(f"{SITE}/b")


def test_robots_txt_responses():
    assert RobotsFile.from_response(404).allows(f"{SITE}/x")
    assert RobotsFile.from_response(0).allows(f"{SITE}/x")
    assert not RobotsFile.from_response(503).allows(f"{SITE}/x")
    assert not RobotsFile.from_response(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /x").allows(f"{SITE}/x")


def test_the_rules_are_summarised_in_one_line():
    robots = RobotsFile.parse(
        "User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /c\nDisallow: /d\nCrawl-delay: 1\n"
    )
    assert robots.words == "forbids /a, /b, /c and 1 more; asks for 1 s between pages"
    assert RobotsFile.parse("").words == "forbids nothing"
    assert "503" in RobotsFile.from_response(503).words


def test_a_delay_is_bounded_and_nonsense_is_none():
    assert RobotsFile.parse("User-agent: *\nCrawl-delay: 86400\n").delay == 30.0
    assert RobotsFile.parse("User-agent: *\nCrawl-delay: soon\n").delay == 0.0
    assert RobotsFile.parse("User-agent: *\nCrawl-delay: nan\n").delay == 0.0


def test_a_hostile_pattern_takes_no_time():
    robots = RobotsFile.parse(f"User-agent: *\nDisallow: /{'*a' * 2000}$\n")
    began = time.perf_counter()
    assert robots.allows(f"{SITE}/{'a' * 1900}b")
    assert time.perf_counter() - began < 5


def test_thousands_of_agents_with_thousands_of_rules_take_no_time_and_no_memory():
    agents = "".join(f"User-agent: a{number}\n" for number in range(15_000))
    rules = "".join(f"Disallow: /{number}*x\n" for number in range(12_000))
    began = time.perf_counter()
    robots = RobotsFile.from_response(200, f"{agents}User-agent: *\n{rules}".encode())
    assert not robots.allows(f"{SITE}/7/x")
    assert robots.words == "forbids /0*x, /1*x, /2*x and many more"
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("name", ["site", "lore", "sitelore-images", "s"])
def test_a_group_for_a_part_of_our_name_is_not_ours(name: str):
    assert RobotsFile.parse(f"User-agent: {name}\nDisallow: /\n").allows(f"{SITE}/y")


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: sitelore\nDisallow: /x\n", False),
        ("USER-AGENT: SiteLore\nDisallow: /x\n", False),
        ("User-agent: sitelore # us\nDisallow: /x\n", False),
        ("User-agent : sitelore\r\nDisallow: /x\r\n", False),
        ("User agent: sitelore\nDisalow: /x\n", False),  # a common slip; the site's owner meant it
        ("User-agent: *\n\n\nDisallow: /x\n", False),  # an empty line ends no group
        ("User-agent: *\nSitemap: http://h/s.xml\nDisallow: /x\n", False),
        ("Disallow: /x\nUser-agent: *\n", True),  # a rule before any group
        ("User-agent: *\nNoindex: /x\n", True),
    ],
)
def test_groups_are_found_as_they_are_written(text: str, allowed: bool):
    assert RobotsFile.parse(text).allows(f"{SITE}/x") is allowed


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_file_and_any_address_get_an_answer(text: str, path: str):
    assert RobotsFile.parse(text).allows(f"{SITE}/{path}") in (True, False)


@pytest.mark.parametrize(
    "start", [b"<!doctype html>", b"\n  <html>", b"\xef\xbb\xbf<HTML>", b"<?xml version='1.0'?>"]
)
def test_a_page_instead_of_robots_txt_allows_everything(start: bytes):
    robots = RobotsFile.from_response(200, start + b"<body>User-agent: *\nDisallow: /\n</body>" * 50)
    assert robots.words == "the site has no robots.txt: it returns a page instead"
    assert robots.allows("http://h/anything")


def test_the_summary_of_any_file_is_one_short_line():
    rules = "\n".join(f"Disallow: /{letter * 5000}\x1b[31m" for letter in "abcdef")
    words = RobotsFile.from_response(200, f"User-agent: *\n{rules}".encode()).words
    assert len(words) < 250
    assert words.isprintable()
    assert words.endswith("and 3 more")


def test_a_dripping_robots_txt_times_out(monkeypatch: pytest.MonkeyPatch):
    class Drips:
        seconds = 1000.0

        def read1(self, most: int) -> bytes:
            self.seconds += 1.0
            return b"#"

    answer = Drips()
    monkeypatch.setattr(exploration.time, "monotonic", lambda: answer.seconds)
    with pytest.raises(OSError, match="did not arrive within"):
        exploration._read_with_deadline(answer)  # type: ignore[arg-type]
    assert answer.seconds < 1000.0 + exploration.ROBOTS_TIMEOUT + 2
