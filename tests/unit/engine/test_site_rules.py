"""The written rules of the table of sites: hosts, names, bases, whose host it is, and two changes at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.core.site_rules import (
    base_name,
    checked_row,
    claimed_host,
    host_glob,
    lesson,
    merged,
    refuse_taken,
    site_name,
)
from app.engine.core.sites import Site, SiteTable, load_sites
from app.errors import Conflict, UsageError
from tests.support.runs import make_run, make_step

HOSTS = (
    ("shop.example", "shop.example"),
    (" Shop.Example ", "shop.example"),
    ("shop.example:8080", "shop.example:8080"),
    ("shop.example:80", "shop.example"),
    ("shop.example:443", "shop.example"),
    ("http://shop.example:7770/cart?x=1", "shop.example:7770"),
    ("https://ana:secret@shop.example/", "shop.example"),
    ("bücher.example", "xn--bcher-kva.example"),
    ("xn--bcher-kva.example:81", "xn--bcher-kva.example:81"),
    ("*.bücher.example", "*.xn--bcher-kva.example"),
    ("[::1]:8080", "[::1]:8080"),
    ("[0:0:0:0:0:0:0:1]", "[::1]"),
    ("http://[2001:DB8::1]/", "[2001:db8::1]"),
    ("[::1]:*", "[::1]:*"),
    ("*:7770", "*:7770"),
    ("*.shop.example", "*.shop.example"),
    ("localhost:*", "localhost:*"),
)


@pytest.mark.parametrize(("given", "host"), HOSTS)
def test_a_host_has_one_spelling(given: str, host: str) -> None:
    assert host_glob(given) == host


@pytest.mark.parametrize(
    "given",
    ["", "*", "*:*", "*.*", "*:80", "shop.example/cart", "a b", "[zz]:80", "::1", "shop:port", "http://",
     "http://*.shop.example/", "ana@shop.example", "*.shop.example/x", "shop.example:99999", "x" * 300,
     "javascript:alert(1)"],
)  # fmt: skip
def test_what_is_no_host_or_holds_for_all_is_refused_in_words(given: str) -> None:
    with pytest.raises(UsageError, match=r"is not a host \(give one such as"):
        host_glob(given)


@pytest.mark.parametrize(
    "given", ["", "a/b", "../x", "-a", "ü", "two words", "cross", "a" * 64, "a\nb", "shop:1"]
)
def test_a_name_that_tips_and_files_cannot_bear_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="can't be a site's name"):
        site_name(given)


def test_a_name_is_written_small() -> None:
    assert site_name(" My-Shop.2 ") == "my-shop.2"


@pytest.mark.parametrize("given", ["SHOPPING", "__shopping__", "__1__", "__A__ ", "____"])
def test_a_base_is_written_like_a_task_file_names_it(given: str) -> None:
    if given.strip() == "__A__":
        assert base_name(given) == "__A__"
    else:
        with pytest.raises(UsageError, match="like __SHOPPING__"):
            base_name(given)


def test_a_row_is_checked_as_a_whole() -> None:
    row = Site(name="Shop", hosts=("A.example", "a.example"), learned=("gone.example",), reset=" make reset ")
    assert checked_row(row) == Site(name="shop", hosts=("a.example",), reset="make reset")
    with pytest.raises(UsageError, match="one line"):
        checked_row(Site(name="shop", reset="a\nb"))
    with pytest.raises(UsageError, match="at most 200"):
        checked_row(Site(name="shop", hosts=tuple(f"h{n}.example" for n in range(201))))


def test_a_host_and_a_base_are_one_sites_only() -> None:
    other = Site(name="other", hosts=("a.example",), bases={"__A__": "http://a.example/"})
    with pytest.raises(Conflict, match=r"a\.example belongs to the site 'other'"):
        refuse_taken(Site(name="shop", hosts=("a.example",)), [other])
    with pytest.raises(Conflict, match="__A__ belongs to the site 'other'"):
        refuse_taken(Site(name="shop", bases={"__A__": "http://b.example/"}), [other])
    refuse_taken(replace(other, reset="x"), [other])


def test_a_host_in_full_wins_over_a_glob_the_longer_glob_over_the_shorter_and_brackets_are_no_pattern() -> (
    None
):
    table = SiteTable({"shopping": ["*:7770", "[::1]:*"], "mine": ["10.0.0.1:7770", "*.shop.example:7770"]})
    assert table.site_of("http://a.shop.example:7770/x") == "mine"
    assert table.site_of("http://a.shop.example:7771/x") == "a.shop.example:7771"
    assert table.site_of("http://10.0.0.1:7770/x") == "mine"
    assert table.site_of("http://10.0.0.2:7770/x") == "shopping"
    assert table.site_of("http://[::1]:9/x") == "shopping"
    assert table.site_of("http://1:9/x") == "1:9"
    assert table.site_of_host("1:9") == ""


LESSONS = (
    ("a new host of a new site", "shop", "a.example", True, "the site 'shop' now has the host a.example"),
    ("a host it has", "gitlab", "h:8023", False, ""),
    ("another site's", "shop", "h:8023", False, "h:8023 is a host of the site 'gitlab' and stays with it"),
    ("a site without a name", "a.example", "a.example", False, ""),
    ("a site of host and port", "a.example:81", "a.example:81", False, ""),
    ("tasks over several sites", "cross", "a.example", False, ""),
    ("the page that lists the sites", "homepage", "a.example", False, ""),
    ("no host", "shop", "", False, ""),
)


@pytest.mark.parametrize(
    ("site", "host", "learnt", "words"), [row[1:] for row in LESSONS], ids=[r[0] for r in LESSONS]
)
def test_what_a_site_learns(site: str, host: str, learnt: bool, words: str) -> None:
    good, told = lesson(load_sites(), site, host)
    assert good is learnt
    assert told.startswith(words)
    assert bool(told) is bool(words)


def _steps(*hosts: str):
    return [make_step(at, url=f"http://{host}/p") for at, host in enumerate(hosts)]


CLAIMS = (
    ("all pages on one host", {}, ("new.example",) * 2, "new.example"),
    ("pages on two hosts", {}, ("new.example", "search.example"), ""),
    ("a host of another site", {}, ("h:8023",), ""),
    ("a start elsewhere", {"start_url": "http://login.example/"}, ("new.example",), ""),
    ("a run over several sites", {"sites": ("shopping", "gitlab")}, ("new.example",), ""),
    ("no site", {"site": ""}, ("new.example",), ""),
    ("a site that was only a host", {"site": "old.example"}, ("new.example",), ""),
    ("an end elsewhere", {"final": make_step(2, url="http://end.example/")}, ("new.example",), ""),
    ("an empty tab in between", {}, ("new.example",), "new.example"),
)


@pytest.mark.parametrize(
    ("fields", "hosts", "host"), [row[1:] for row in CLAIMS], ids=[row[0] for row in CLAIMS]
)
def test_the_host_that_a_run_shows_to_be_its_sites(fields, hosts, host) -> None:
    run = make_run(**{"site": "shopping", "start_url": f"http://{hosts[0]}/", **fields})
    steps = [*_steps(*hosts), make_step(9, url="about:blank")]
    assert claimed_host(run, steps, load_sites()) == host


def test_two_changes_at_once_are_both_kept() -> None:
    before = Site(name="shop", hosts=("a", "b"), bases={"__A__": "1", "__B__": "2"}, reset="x")
    now = replace(before, hosts=("a", "b", "c"), learned=("c",), bases={"__A__": "1", "__B__": "3"})
    after = replace(before, hosts=("b", "d"), bases={"__A__": "9"}, reset="y")
    found = merged(now, before, after)
    assert found == Site(name="shop", hosts=("b", "c", "d"), learned=("c",), bases={"__A__": "9"}, reset="y")
    assert merged(now, before, before) == now


def test_learned_hosts_of_a_private_network_are_not_frozen_with_tips() -> None:
    hosts = ("127.0.0.1:7801", "shop.example", "10.1.2.3", "[::1]:8", "box:81", "nas.local")
    site = Site(name="shop", hosts=hosts, learned=hosts[1:])
    assert site.shared_hosts == ("127.0.0.1:7801", "shop.example")
