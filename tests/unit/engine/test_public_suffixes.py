"""Registrable domains by the Public Suffix List, and the rules that rest on it."""

from __future__ import annotations

import pytest

from app.engine.api.run_api import RunRequest
from app.engine.browser.network.navigation_policy import NavigationPolicy
from app.engine.core.public_suffixes import is_open_suffix, registrable_domain
from app.engine.core.site_rules import host_glob
from app.engine.services.run_requests import allowed_hosts
from app.errors import UsageError


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("shop.com", "shop.com"),
        ("www.a.shop.com", "shop.com"),
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("www.bbc.co.uk:8443", "bbc.co.uk"),
        ("WWW.Shop.COM.", "shop.com"),
        ("ana.github.io", "ana.github.io"),
        ("docs.ana.github.io", "ana.github.io"),
        ("github.io", ""),
        ("co.uk", ""),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),  # an exception to a wildcard
        ("a.b.kobe.jp", "a.b.kobe.jp"),
        ("www.bücher.de", "xn--bcher-kva.de"),
        ("www.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("localhost", "localhost"),
        ("localhost:8080", "localhost"),
        ("wiki.internal", "wiki.internal"),
        ("a.shop.example", "shop.example"),
        ("127.0.0.1:7770", "127.0.0.1"),
        ("[::1]:8080", "[::1]"),
        ("", ""),
        ("no host", ""),
    ],
)
def test_the_registrable_domain_of_a_host(host: str, domain: str):
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    ("host", "is_open"),
    [
        ("com", True), ("co.uk", True), ("shop.co.uk", False), ("github.io", False),
        ("myshopify.com", False), ("localhost", False), ("internal", False), ("example", False),
        ("127.0.0.1", False), ("", False), ("公司.cn", True),
    ],
)  # fmt: skip
def test_suffixes_that_anybody_may_register_under(host: str, is_open: bool):
    assert is_open_suffix(host) is is_open


@pytest.mark.parametrize("glob", ["*.com", "*.co.uk", "*.com:8080", "*com"])
def test_a_site_is_not_everything_under_a_registry(glob: str):
    with pytest.raises(UsageError):
        host_glob(glob)


@pytest.mark.parametrize("glob", ["*.shop.co.uk", "*.myshopify.com", "*.internal", "dev", "*.shop.example"])
def test_globs_of_one_owner_are_hosts_of_a_site(glob: str):
    assert host_glob(glob) == glob


@pytest.mark.parametrize("domain", ["co.uk", "*.com", "*.co.uk"])
def test_a_run_is_not_allowed_everything_under_a_registry(domain: str):
    request = RunRequest(start_url="http://shop.example/", intent="look", domains=(domain,))
    with pytest.raises(UsageError, match="anybody"):
        allowed_hosts(request)


def test_a_host_of_one_word_may_be_called_like_a_suffix():
    request = RunRequest(start_url="http://shop.example/", intent="look", domains=("dev", "app:8080"))
    assert {"dev", "app:8080"} <= allowed_hosts(request)


@pytest.mark.parametrize(
    ("url", "is_engine"),
    [
        ("https://www.google.com/search?q=a", True),
        ("https://google.co.uk/", True),
        ("https://google.com.au/", True),
        ("https://search.yahoo.co.jp/", True),
        ("https://m.baidu.com/", True),
        ("https://docs.google.com/", False),
        ("https://google.shop.example/", False),
        ("https://you.github.io/", False),
        ("https://ask.com.example/", False),
        ("http://google/", False),
    ],
)
def test_search_engines_are_known_in_every_country(url: str, is_engine: bool):
    assert (NavigationPolicy().outside(url) is not None) is is_engine
