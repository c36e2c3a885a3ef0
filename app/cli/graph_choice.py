"""Choices on the command line: the state that an argument means (an id, its first digits, one of the first five for a
description), and the map that a name means.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from app.cli.common import print_note, table
from app.errors import NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.engine.api.graph_api import NodeHit, StateChoices
    from app.engine.engine import Engine


async def chosen_state(
    engine: Engine, site: str, words: str, number: int, ask: bool
) -> tuple[str, tuple[NodeHit, ...]]:
    """Return the state's id, and the choices where the words are a description.

    The best is taken, unless ``number`` (from 1) names another one or a person at the terminal does.

    Raises:
        NotFound: there is no such id, or nothing on the map is like the description and no number was given.
        UsageError: there is no choice of this number.
    """
    found = await _by_id(engine, site, words)
    if found:
        return found, ()
    choices = await engine.graph_choices(site, words)
    if number > len(choices.hits):
        raise UsageError(f"there is no choice {number}", remedy=f"take one of 1 to {len(choices.hits)}")
    if not number and not choices.like:
        raise NotFound(nothing_text(site, words, choices))
    if not number and ask and len(choices.hits) > 1:
        number = await _answer(choices.hits)
    hit = choices.hits[max(0, number - 1)]
    print_note(f"found: {hit.title} ({hit.url})")
    if not number and len(choices.hits) > 1:
        print_note(f"{choices_text(choices.hits)}\nanother one: --choose N")
    return hit.node, choices.hits


async def chosen_map(engine: Engine, url: str, site: str, decided: bool) -> tuple[str, bool]:
    """Return the site whose map an exploration extends, and whether a person wants a second map of its host.

    A person is asked where the name is new and the host has a map of another one, unless it is ``decided``.
    """
    maps = [] if decided or not site else await engine.host_maps(url, site)
    if not maps or site in [one.site for one in maps]:
        return site, False
    known = maps[0]
    while True:
        sys.stderr.write(
            f"this host is already mapped as {known.site} ({known.states} states):"
            f" extend it, or make a second map, {site}? e or s [e]: "
        )
        sys.stderr.flush()
        said = (await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)).strip().casefold()
        if said in ("", "e", "extend", "s", "second"):
            return (site, True) if said.startswith("s") else (known.site, False)


def choices_text(hits: Sequence[NodeHit]) -> str:
    """Return the choices as a numbered table with what speaks for and against each."""
    rows = [
        (
            str(at),
            f"{hit.score:.2f}",
            hit.title,
            hit.url,
            " ".join(hit.matched[:5]),
            " ".join(hit.missing[:5]),
        )
        for at, hit in enumerate(hits, start=1)
    ]
    return table(rows, ("", "score", "title", "address", "matched", "not there"))


def nothing_text(site: str, words: str, choices: StateChoices) -> str:
    """Say that the map has nothing like a description, what is nearest, and what to do."""
    told = f"nothing on the map of {site} is like '{words}'"
    if choices.hits:
        told += f"; nearest:\n{choices_text(choices.hits)}\n"
    else:
        told += "; "
    first = "take one of these with --choose N, " if choices.hits else ""
    return f"{told}{first}try other words, or explore more of the site with 'sitelore explore URL'"


async def _by_id(engine: Engine, site: str, words: str) -> str:
    """Return a state's id for an id or its first digits, "" for a description."""
    if len(words) >= 4 and all(letter in "0123456789abcdef" for letter in words):
        try:
            return (await engine.graph_node(site, words)).row.id
        except NotFound:
            if any(letter.isdigit() for letter in words) or len(words) >= 8:
                raise  # "cafe" may also be a word; these can't be
    return ""


async def _answer(hits: Sequence[NodeHit]) -> int:
    """Ask a person at the terminal; Enter takes the first."""
    print_note(choices_text(hits))
    while True:
        sys.stderr.write(f"which one? 1 to {len(hits)} [1]: ")
        sys.stderr.flush()
        said = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        if said.strip() in ("", *map(str, range(1, len(hits) + 1))):
            return int(said.strip() or 1)
