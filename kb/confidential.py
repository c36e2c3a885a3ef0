"""Tips that a freeze leaves out because they are confidential, by tag, author or site.

The frozen file and its manifest hold how many are left out, never what: neither the names that were given nor the ids
of the tips.  Tags, waivers, earlier revisions, tests and votes with their sentences, and pictures are in no frozen
file anyway; of a picture there is only its hash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb.content import clean_site, clean_tags
from kb.errors import KbError
from kb.record import to_row
from kb.tip import Tip

REASONS = ("by site", "by tag", "by author")
"""Why a tip stays out, in the order in which they are asked; they name the counts of the manifest."""

CONFIDENTIAL = "confidential"
"""Tag of tips that leave with no exported run, and in no file for other people's agents."""

_SHORTEST = 3
"""Letters of a name from which its mention in a text is worth a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOut:
    """The names by which a freeze leaves tips out; one of them is enough.

    Attributes:
        authors: people who wrote a tip, or any revision of it; letters' case doesn't matter.
    """

    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()

    @classmethod
    def of(cls, tags: Iterable[str] = (), authors: Iterable[str] = (), sites: Iterable[str] = ()) -> LeaveOut:
        """Clean the names; raises ``KbError`` for an empty one, which would leave nothing out."""
        given = {"tag": list(tags), "author": list(authors), "site": list(sites)}
        for what, names in given.items():
            if not all(name.strip() for name in names):
                raise KbError(f"an empty {what} leaves no tip out; name it")
        return cls(
            tags=clean_tags(given["tag"]),
            authors=tuple(dict.fromkeys(_folded(name) for name in given["author"])),
            sites=tuple(dict.fromkeys(clean_site(name) for name in given["site"])),
        )

    def __bool__(self) -> bool:
        return bool(self.tags or self.authors or self.sites)

    def reason(self, tip: Tip, authors: Callable[[Tip], Collection[str]]) -> str:
        """Why a tip stays out, "" if it doesn't; ``authors`` gives who wrote its revisions."""
        if tip.site in self.sites:
            return "by site"
        if set(tip.tags) & set(self.tags):
            return "by tag"
        if self.authors and set(map(_folded, authors(tip))) & set(self.authors):
            return "by author"
        return ""

    def names_in(self, text: str) -> str:
        """The text, "" if it mentions a site or an author that is left out."""
        return "" if self._mentioned(text, {}) else text

    def unused(self, tips: Sequence[Tip], authors: Callable[[Tip], Collection[str]]) -> list[str]:
        """Sentences about names that no tip has: they may be misspelt, and then leave nothing out."""
        known = {
            "tag": {tag for tip in tips for tag in tip.tags},
            "author": {_folded(name) for tip in tips for name in authors(tip)}
            if self.authors
            else set[str](),
            "site": {tip.site for tip in tips},
        }
        given = {"tag": self.tags, "author": self.authors, "site": self.sites}
        return [
            f"no tip has the {what} {name!r}, so nothing is left out by it"
            for what, names in given.items()
            for name in names
            if name not in known[what]
        ]

    def warnings(self, tips: Sequence[Tip], hosts: Mapping[str, Sequence[str]]) -> list[str]:
        """Sentences about tips that stay in although they mention a site, one of its hosts, or an author left out."""
        found: list[str] = []
        for tip in tips:
            said = " ".join(to_row(tip))
            if names := self._mentioned(said, hosts):
                found.append(f"{tip.id} is frozen and mentions {', '.join(names)}, which is left out")
        return found

    def _mentioned(self, text: str, hosts: Mapping[str, Sequence[str]]) -> list[str]:
        globs = [glob for site in self.sites for glob in hosts.get(site, ())]
        parts = [part.strip(".") for glob in globs for part in re.split(r"[*?]+", glob)]
        names = [*self.sites, *self.authors, *(part for part in parts if not part.strip(":").isdigit())]
        folded = text.casefold()
        long_ones = dict.fromkeys(name for name in names if len(name) >= _SHORTEST)
        return [name for name in long_ones if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded)]


NOTHING = LeaveOut()


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
