"""Which part of a host's name somebody can register, by the Public Suffix List as ``publicsuffixlist`` bundles it."""

from __future__ import annotations

import ipaddress
from functools import cache

from publicsuffixlist import PublicSuffixList

from app.engine.core.addresses import browser_host


def registrable_domain(host: str) -> str:
    """Return the name that was registered: ``shop.co.uk`` of ``www.shop.co.uk:8080``, in ASCII.

    A host of a single word and an IP address are their own; a suffix that all may register under (``co.uk``,
    ``github.io``) has none, and neither has what is no host ("").
    """
    name = _name(host)
    if not name or "." not in name or _is_address(name):
        return name
    return _suffixes().privatesuffix(name) or ""


def is_open_suffix(host: str) -> bool:
    """Whether anybody may register a name under this one (``com``, ``co.uk``): hosts below it have nothing in common.

    Suffixes of one company (``github.io``, ``myshopify.com``) are none of these: their sites may well be alike.
    """
    name = _name(host)
    if not name or _is_address(name):
        return False
    return _registries().publicsuffix(name, accept_unknown=False) == name


def is_company_suffix(domain: str) -> bool:
    """Whether a registrable domain is a customer's name under a company's suffix (``ana.github.io``)."""
    return domain != (_registries().privatesuffix(domain) or "")


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # 60 ms, once


@cache
def _registries() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True)


def _name(host: str) -> str:
    """Return the host in ASCII without its port and a last dot; "" if no browser would take it."""
    found = browser_host(f"http://{host.rstrip('.')}")
    if found.startswith("["):
        return found.partition("]")[0] + "]"
    return found.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
