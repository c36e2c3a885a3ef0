"""Short names of a map's states.

1. Words behind (or before) a separator that most titles share are dropped: the site's name.
2. A title that is nothing but those words keeps them.
3. A state without a title is called by the path of its address.
4. Equal names are told apart by what differs in their addresses: parameters first, then parts of the path.
5. States with equal names and addresses are numbered, the first one excepted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

MOST_SHARE = 0.6
"""Share of the titled states that have to have the same words."""
LEAST = 3
"""States that have to have them, whatever the share."""
_SEPARATOR = re.compile(r"\s+(?:[-–—|·•»«/]|::)\s+")
MAX_PARAMETERS = 2
"""Parameters in a name; more would not be read."""


def state_titles(pages: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return a short name for each state, given its title and its address."""
    names = _without_shared([title.strip() for title, _ in pages])
    named = [name or path_of(url) for name, (_, url) in zip(names, pages, strict=True)]
    alike: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(named):
        alike[name.casefold()].append(number)
    for numbers in alike.values():
        if len(numbers) > 1:
            for number, more in zip(numbers, _differences([pages[one][1] for one in numbers]), strict=True):
                named[number] = " · ".join(part for part in (named[number], more) if part)
    return _numbered(named)


def path_of(url: str) -> str:
    """Return the part of an address that differs within a site."""
    parts = urlsplit(url)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    return f"{path}#{parts.fragment}" if parts.fragment else path


def _without_shared(titles: list[str]) -> list[str]:
    for end in (_tail, _head):
        counts = Counter(part for title in titles if title and (part := end(title)[0]))
        titled = sum(bool(title) for title in titles)
        shared = {part for part, count in counts.items() if count >= LEAST and count >= MOST_SHARE * titled}
        titles = [_cut(title, end, shared) for title in titles]
    return titles


def _cut(title: str, end: Callable[[str], tuple[str, str]], shared: set[str]) -> str:
    part, rest = end(title)
    return rest if rest and part in shared else title


def _tail(title: str) -> tuple[str, str]:
    """Return the words behind the last separator, and those before it."""
    marks = list(_SEPARATOR.finditer(title))
    return (title[marks[-1].end() :], title[: marks[-1].start()].strip()) if marks else ("", title)


def _head(title: str) -> tuple[str, str]:
    """Return the words before the first separator, and those behind it."""
    mark = _SEPARATOR.search(title)
    return (title[: mark.start()], title[mark.end() :].strip()) if mark else ("", title)


def _differences(urls: Sequence[str]) -> list[str]:
    """Return what each address has that not all of these share."""
    queries = [parse_qsl(urlsplit(url).query, keep_blank_values=True) for url in urls]
    common = _common(queries)
    told = [
        ", ".join(f"{name}={value}" for name, value in query if (name, value) not in common)
        for query in (query[: _limit(query, common)] for query in queries)
    ]
    if len(set(told)) > 1:
        return told
    paths = [[unquote(part) for part in urlsplit(url).path.split("/") if part] for url in urls]
    shared = _common(paths)
    return ["/".join(part for part in path if part not in shared) for path in paths]


def _limit(query: Sequence[tuple[str, str]], common: set[object]) -> int:
    """Return how many parameters to look at, so that at most ``MAX_PARAMETERS`` are named."""
    found = [place for place, pair in enumerate(query) if pair not in common]
    return found[MAX_PARAMETERS - 1] + 1 if len(found) >= MAX_PARAMETERS else len(query)


def _common(lists: Iterable[Sequence[object]]) -> set[object]:
    first, *others = (set(one) for one in lists)
    return first.intersection(*others)


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        seen[name.casefold()] += 1
        count = seen[name.casefold()]
        found.append(f"{name} ({count})" if count > 1 else name)
    return tuple(found)
