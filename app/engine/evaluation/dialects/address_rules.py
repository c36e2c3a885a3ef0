"""Comparison of addresses as WebArena publishes it, with its quirks."""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

from app.errors import InputError

OR = " |OR| "
RULE = "GOLD in PRED"
"""The only published rule: the reference address is part of the one in front."""


def matches(references: str, address: str, *, lower: bool = False) -> float:
    """Whether one of the references, joined by `` |OR| ``, is part of the address.

    Host and path of one reference have to be a piece of the address's.  Of each key of a query some value of any of
    the references has to be there, so references mix: with ``/a |OR| /b?x=2`` the address ``/a`` does not hold.
    Scheme and fragment do not count, nor do keys without a value.

    Raises:
        InputError: one of them is no address.
    """
    wanted = [_parts(one, lower=lower) for one in references.split(OR)]
    base, query = _parts(address, lower=lower)
    if not any(one in base for one, _ in wanted):
        return 0.0
    values: dict[str, set[str]] = {}
    for _, keys in wanted:
        for key, allowed in keys.items():
            values.setdefault(key, set()).update(allowed)
    return float(all(allowed.intersection(query.get(key, ())) for key, allowed in values.items()))


def _parts(address: str, *, lower: bool) -> tuple[str, dict[str, list[str]]]:
    """Return host with path, and the query by key."""
    address = address.rstrip("/")
    if lower:
        address = address.lower()
    try:
        split = urlparse(
            address
        )  # not ``urlsplit``: what stands behind a path's last semicolon does not count
        return split.netloc + split.path, parse_qs(split.query)
    except ValueError as error:
        raise InputError(f"this is no address: {address[:80]!r} ({error})") from error
