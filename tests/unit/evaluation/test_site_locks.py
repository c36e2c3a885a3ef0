"""The addresses that sites are locked by."""

from __future__ import annotations

import pytest

from app.engine.core.sites import Site
from app.engine.services.site_locks import site_addresses


def test_a_site_known_by_its_hosts_alone_is_locked_by_them_but_for_globs():
    site = Site(name="shop", hosts=("127.0.0.1:7801", "localhost:7801", "*:7770", "shop.example"))
    assert site_addresses(site) == ("localhost:7801", "shop.example:80")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://127.0.0.1:7770/admin", ("localhost:7770",)),
        ("http://localhost:7770", ("localhost:7770",)),
        ("http://[::1]:7770", ("localhost:7770",)),
        ("https://Shop.Example/", ("shop.example:443",)),
        ("http://[broken", ()),
        ("nonsense", ()),
    ],
)
def test_a_site_is_locked_by_host_and_port_whatever_this_machine_is_called(address, expected):
    assert site_addresses(Site(name="shop", bases={"__SHOP__": address})) == expected
