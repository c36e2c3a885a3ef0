"""The part of a browser's state that is a site's log-in (``login_state``), one row a clause."""

from __future__ import annotations

import pytest

from app.engine.core.login_state import (
    guarded_pages,
    is_changed,
    is_of_hosts,
    lacks_session,
    login_of_hosts,
    page_asked_for,
)

SHOP = ("shop.example", "*.shop.example", "*:7770")

COOKIES: tuple[tuple[str, str, tuple[str, ...], bool], ...] = (
    ("of the host", "shop.example", SHOP, True),
    ("of the host in capitals", "Shop.Example", SHOP, True),
    ("of the whole domain", ".shop.example", SHOP, True),
    ("of a domain above the host", ".example", ("shop.example",), True),
    ("of a host that a glob names", "my.shop.example", SHOP, True),
    ("of a host below, where no glob names it", "my.shop.example", ("shop.example",), False),
    ("of another host", "forge.example", SHOP, False),
    ("of another whole domain", ".forge.example", SHOP, False),
    ("of a host that ends alike", "myshop.example", ("shop.example",), False),
    ("of a domain that ends alike", ".op.example", ("shop.example",), False),
    ("of the host at any port", "127.0.0.1", ("127.0.0.1:8000",), True),
    ("of any host at a port", "forge.example", ("*:7770",), False),
    ("of a host without a dot", "localhost", ("localhost:80",), True),
    ("of an address in brackets", "[::1]", ("[::1]:8000",), True),
    ("of any host", "forge.example", ("*",), False),
)

ORIGINS: tuple[tuple[str, str, tuple[str, ...], bool], ...] = (
    ("of the host", "https://shop.example", SHOP, True),
    ("of the host at another port", "https://shop.example:8443", ("shop.example",), False),
    ("of the host at its port", "http://127.0.0.1:8000", ("127.0.0.1:8000",), True),
    ("of the same address at another port", "http://127.0.0.1:9000", ("127.0.0.1:8000",), False),
    ("of a host that a glob names", "https://my.shop.example", SHOP, True),
    ("of another host", "https://forge.example", SHOP, False),
    ("of any host at a port", "http://forge.example:7770", ("*:7770",), False),
)  # fmt: skip


@pytest.mark.parametrize(
    ("domain", "hosts", "is_in"), [row[1:] for row in COOKIES], ids=[row[0] for row in COOKIES]
)
def test_a_cookie_is_handed_over_where_it_belongs_to_the_site(
    domain: str, hosts: tuple[str, ...], is_in: bool
) -> None:
    cookie = {"name": "sid", "value": "v", "domain": domain, "path": "/", "expires": -1, "httpOnly": True}
    found = login_of_hosts({"cookies": [cookie], "origins": []}, hosts)
    assert found["cookies"] == ([cookie] if is_in else []), "whole, session cookies too"


@pytest.mark.parametrize(
    ("origin", "hosts", "is_in"), [row[1:] for row in ORIGINS], ids=[row[0] for row in ORIGINS]
)
def test_local_storage_is_handed_over_where_it_belongs_to_the_site(
    origin: str, hosts: tuple[str, ...], is_in: bool
) -> None:
    stored = {"origin": origin, "localStorage": [{"name": "token", "value": "v"}]}
    assert login_of_hosts({"origins": [stored]}, hosts)["origins"] == ([stored] if is_in else [])


PAGES: tuple[tuple[str, str, str], ...] = (
    ("a path", "http://shop.test/login?next=/orders%3Fpage%3D2", "http://shop.test/orders?page=2"),
    ("an address", "http://shop.test/login?returnUrl=http%3A%2F%2Fshop.test%2Fa", "http://shop.test/a"),
    (
        "an address of another host",
        "http://sso.test/in?redirect_uri=http://shop.test/a",
        "http://shop.test/a",
    ),
    ("in other words", "http://shop.test/login?return_to=/a&x=1", "http://shop.test/a"),
    ("no page", "http://shop.test/login?next=orders", ""),
    ("another parameter", "http://shop.test/login?page=/orders", ""),
    ("a script", "http://shop.test/login?next=javascript:alert(1)", ""),
    ("nothing", "http://shop.test/login", ""),
)


@pytest.mark.parametrize(("wall", "page"), [row[1:] for row in PAGES], ids=[row[0] for row in PAGES])
def test_the_page_that_was_asked_for_stands_in_the_log_ins_address(wall: str, page: str) -> None:
    assert page_asked_for(wall) == page


def test_the_log_ins_own_page_is_the_last_evidence() -> None:
    wall = "http://shop.test/login?next=/orders#form"
    asked = "http://shop.test/orders"
    own = "http://shop.test/login?next=/orders"
    assert guarded_pages(wall, "http://shop.test/a") == (asked, "http://shop.test/a", own)
    assert guarded_pages(wall, "") == (asked, own)
    assert guarded_pages("http://shop.test/a", "http://shop.test/a") == ("http://shop.test/a",)


def test_an_address_is_of_a_site_by_its_host_and_port() -> None:
    assert is_of_hosts("http://127.0.0.1:8000/a", ["127.0.0.1:8000"])
    assert is_of_hosts("http://any.test:7770/a", SHOP)
    assert not is_of_hosts("http://127.0.0.1:9000/a", ["127.0.0.1:8000"])
    assert not is_of_hosts("about:blank", ["*"])


def state(*cookies: dict[str, object], token: str = "") -> dict[str, list[object]]:
    stored = [{"origin": "https://shop.test", "localStorage": [{"name": "token", "value": token}]}]
    return {"cookies": list(cookies), "origins": stored if token else []}


def cookie(
    name: str = "sid", value: str = "v", domain: str = "shop.test", **more: object
) -> dict[str, object]:
    return {"name": name, "value": value, "domain": domain, "path": "/", **more}


CHANGES = (
    ("nothing", state(cookie()), state(cookie()), False),
    ("an attribute", state(cookie()), state(cookie(expires=9)), False),
    ("a cookie more", state(cookie()), state(cookie(), cookie("csrf")), True),
    ("another value", state(cookie()), state(cookie(value="w")), True),
    ("a cookie less", state(cookie(), cookie("csrf")), state(cookie()), False),
    ("a stored value", state(), state(token="t"), True),
    ("another stored value", state(token="t"), state(token="u"), True),
    ("a stored value less", state(token="t"), state(), False),
)


@pytest.mark.parametrize(
    ("before", "after", "changed"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_a_log_in_brings_a_new_value(
    before: dict[str, list[object]], after: dict[str, list[object]], changed: bool
) -> None:
    assert is_changed(before, after) is changed


LOST = (
    ("nothing", cookie(), cookie(), False),
    ("its value only", cookie(), cookie(value="w"), False),
    ("a session cookie", cookie(), cookie("csrf"), True),
    ("one of the whole domain", cookie(domain=".shop.test"), cookie("csrf"), True),
    ("one that ends with the browser", cookie(expires=-1), cookie("csrf"), True),
    ("one that scripts can't read", cookie(expires=200, httpOnly=True), cookie("csrf"), True),
    ("one that has ended", cookie(expires=50, httpOnly=True), cookie("csrf"), False),
    ("one that scripts can read and that lasts", cookie(expires=200), cookie("csrf"), False),
    ("one of another host", cookie(domain="forge.test"), cookie("csrf"), False),
)


@pytest.mark.parametrize(("kept", "new", "lost"), [row[1:] for row in LOST], ids=[row[0] for row in LOST])
def test_a_log_in_may_have_lost_the_session_of_the_kept_one(
    kept: dict[str, object], new: dict[str, object], lost: bool
) -> None:
    assert lacks_session(state(kept), state(new), now=100.0) is lost
