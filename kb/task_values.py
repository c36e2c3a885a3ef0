"""Values that belong to one task and must not be in a site-level tip.

Extracted from the intent: quoted strings, e-mail addresses, amounts, dates, numbers, ids and capitalised names.
Words that every site has on its pages ("Reports", "My Account", "GitLab") are not values of a task.
"""

from __future__ import annotations

import re

from kb.retrieval.terms import COMMON_WORDS, STOP_WORDS, quoted, words_of

_UI_WORDS = """
    account accounts action actions active activity add added additional address addresses admin
    advanced all attribute attributes average back bar bestseller bestsellers billing blog board body
    branch branches brand browse cancel canceled cancelled cart catalog categories category chart
    checkout closed code color comment comments commit commits complete completed configurable contact
    content contributor contributors contribution coupon coupons customer customers dashboard date day
    days delete delivered delivery details developer developers directions discount dislike discussion
    discussions distance download drive driving due duration edit email explore export feed feedback
    file files filter first flag folder followers following forum forums fork forks from front full go
    group groups guest header help history home hot id import index inbox inventory invite invoice
    invoices issue issues item items keyword keywords label labels language last latest like likes list
    location locations log login logout main maintainer manage map maps marketing master member members
    menu merge message messages milestone milestones minutes model month months more my newest new note
    notes notification notifications oldest on open order orders overview owner page pages password
    payment pending people period permissions phone pipeline popular post posts price prices private
    processing product products profile project projects promotion public purchase quantity query
    question questions rating ratings reader readme recent refund register release releases repo report
    reported reporter reports repositories repository request requests results return returns review
    reviewer reviews role roles route rule rules sale sales save saved search section sell seller
    settings share ship shipping shipment shop shopping show sign simple size sku snippet snippets sort
    star starred stars start status stock store stores street submission submissions submit subscribe
    subreddit subtotal summary tab tag tags tax term terms thread threads time title to todo todos today
    token top topic topics total transaction transactions travel trending type unread update url user
    username users value view visibility vote votes walking warehouse week weight wiki wish wishlist
    year years yes your zip
"""
UI_WORDS = frozenset(_UI_WORDS.split())
"""Words of menus, headings and columns on sites of any kind."""

_SITE_NAMES = """
    gitlab github reddit postmill magento openstreetmap osm wikipedia google amazon ebay youtube
    facebook twitter instagram webarena one stop market url api ssh html csv pdf json xml faq usa us uk
    http https ip rss ui ok zip january february march april may june july august september october
    november december monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul
    aug sep sept oct nov dec english i am pm urls apis ids
"""
_NO_NAMES = UI_WORDS | STOP_WORDS | COMMON_WORDS | frozenset(_SITE_NAMES.split())

_PLACE_WORDS = """
    airport avenue bank bay bridge building center centre church city college conference convention
    court drive food hall hill hospital hotel house institute international island lake library market
    memorial mountain museum music national north old park personal plaza restaurant river road school
    sports square state station store theater tower town university valley village west white
"""
_WEAK_PARTS = _NO_NAMES | frozenset(_PLACE_WORDS.split())
"""Words that identify nothing by themselves, even as part of a name."""

_IMPERATIVES = """
    add approve assign book buy calculate cancel change check compare compile compose count create
    delete describe disable display draft edit estimate fetch fill find follow fork gather generate get
    give go identify increase invite leave like list look lookup make mark measure modify navigate
    notify open order pull post provide purchase rate re-post reduce remove rename reply report retrieve
    review schedule search see select send set show star start submit subscribe sum summarize tell track
    unlike update upload upvote use vote write today thumbs i among
"""
_FIRST_WORDS = frozenset(_IMPERATIVES.split())
_BEFORE_NAMES = (_NO_NAMES | _FIRST_WORDS) - {"new", "main", "personal"}

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*"
_SHAPES = (
    re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}"),
    re.compile(r"\bhttps?://[^\s'\"<>)]+"),
    re.compile(
        r"(?<!\w)[$€£]\s?\d[\d,]{0,20}(?:\.\d{1,9})?(?!\w)|(?<![\d,.])\d[\d,]{0,20}(?:\.\d{1,9})?\s?(?:USD|EUR|dollars?)\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b"),
    re.compile(
        rf"\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?(?:\s+\d{{4}})?\b|\b{_MONTH}\.?,?\s+\d{{4}}\b", re.I
    ),
    re.compile(r"(?<!\w)[#!]\d+\b"),
    re.compile(r"(?<!\w)\+?\d[\d ()-]{7,20}\d(?!\w)"),
    re.compile(r"\b(?=[\w./-]*\d)(?=[\w./-]*[A-Za-z])\w[\w./-]*\w\b"),
    re.compile(r"\b\w+(?:-\w+){0,8}/\w[\w.-]*\w\b|\b\w+_\w+\b|\b\w+(?:-\w+){2,8}\b"),
    re.compile(r"(?<![\w.,])\d{2,}(?:[.,]\d+)*(?!\w)"),
)
_NUMBER = re.compile(r"\d[\d.,]*\d")
_AMOUNT = re.compile(r"\A[$€£]|(?:USD|EUR|dollars?)\Z", re.IGNORECASE)
_QUERY = re.compile(r"[?&][\w.%\[\]-]{1,64}=[^\s&#'\"<>]{1,256}")
"""A key of an address with its value, which may be a range of prices or dates: price=100-399."""
_ORDINARY = re.compile(r"[a-z]+-\d|\d{1,2}(?:st|nd|rd|th|am|pm)|\d+x\d*", re.IGNORECASE)
"""Looks like an id, but occurs on any page: top-5, 2nd, 3x."""
_CAPITALISED = re.compile(
    r"(?<!\w)[A-ZÀ-ÖØ-Þ][\w'’&-]*(?:\s+(?:(?:of|de|la|van|von|the|and)\s+)?[A-ZÀ-ÖØ-Þ][\w'’&-]*)*"
)

LONGEST_READ = 4_000
"""Characters of an intent or a tip that are checked: twice the maximum length of a tip."""


def task_values(intent: str) -> tuple[str, ...]:
    """The values of a task's intent, longest first, each once ignoring case.

    A capitalised name counts as a whole and by its distinctive parts.
    """
    intent = intent[:LONGEST_READ]
    found = [value for value in quoted(intent) if _tells(value)]
    rest = intent
    for shape in _SHAPES:
        matches = [match.group().strip(" .,;:-()") for match in shape.finditer(rest)]
        rest = shape.sub(" ; ", rest)
        found += [value for value in matches if not _ORDINARY.fullmatch(value) and _tells(value)]
        amounts = [number for value in matches if _AMOUNT.search(value) for number in _NUMBER.findall(value)]
        found += [*amounts, *(_plain_number(number) for number in amounts)]
    found += _names(intent)
    unique: dict[str, str] = {}
    for value in found:
        if len(value) > 1:
            unique.setdefault(value.casefold(), value)
    return tuple(sorted(unique.values(), key=lambda value: (-len(value), value)))


def _plain_number(amount: str) -> str:
    """``100`` of ``100.00``, ``1250.50`` of ``1,250.50``: as written in addresses and columns."""
    plain = re.sub(r",(?=\d{3}(?:\D|\Z))", "", amount)
    return re.sub(r"\.0+\Z", "", plain)


def _tells(phrase: str) -> bool:
    """Whether a phrase contains a word that isn't on every site's pages."""
    return any(word not in _NO_NAMES for word in words_of(phrase))


def is_common(phrase: str) -> bool:
    """Whether a phrase has only words that every site has on its pages, or is a bare number below ten thousand."""
    if phrase.isdecimal():
        return len(phrase) < 5
    return all(word in _NO_NAMES for word in words_of(phrase))


def _names_something(word: str) -> bool:
    """Whether a part of a name alone identifies its bearer."""
    return len(word) >= 4 and word[0].isupper() and word.casefold() not in _WEAK_PARTS


def _names(intent: str) -> list[str]:
    names: list[str] = []
    for match in _CAPITALISED.finditer(intent):
        words = match.group().split()
        if _starts_sentence(intent, match.start()) and (
            len(words) == 1 or words[0].casefold() in _FIRST_WORDS
        ):
            words = words[1:]
        words = [word.removesuffix("'s").removesuffix("’s") for word in words]
        while words and words[0].casefold() in _BEFORE_NAMES:
            words = words[1:]
        while words and words[-1].casefold() in UI_WORDS:
            words = words[:-1]
        phrase = " ".join(words)
        if phrase and _tells(phrase):
            names.append(phrase)
            names += [word for word in words if len(words) > 1 and _names_something(word)]
    return names


def _starts_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \t\"'“‘(*")
    return not before or before[-1] in ".!?:\n"


def occurrences(value: str, text: str, is_part: bool = False) -> list[tuple[int, int]]:
    """Find a value in a text as a whole word.

    Case is ignored, except for a single capitalised word: the name "Page" is not the word "page".  A mere part of a
    name (``is_part``) is ignored at the start of a sentence: "Switch to ..." is not the Nintendo.
    """
    pattern = r"(?<![\w])" + r"\s+".join(map(re.escape, value.split())) + r"(?![\w])"
    if value[-1:].isdecimal():
        pattern += r"(?![.,]\d)"
    if value.isdecimal():
        pattern = rf"(?<![\w.,/:-]){re.escape(value)}(?:[.,]0{{1,2}}(?!\d))?(?![\w/:-]|[.,]\d)"
    is_name = " " not in value and value[:1].isupper() and value.isalpha()
    found = re.finditer(pattern, text, 0 if is_name else re.IGNORECASE)
    spans = [match.span() for match in found if not (is_part and _starts_sentence(text, match.start()))]
    if value.isdecimal():
        spans += [span for span in _in_queries(value, text) if span not in spans]
    return spans


def _in_queries(number: str, text: str) -> list[tuple[int, int]]:
    """Find a number in the query of an address, also as an end of a range."""
    pattern = re.compile(rf"(?:(?<![\w.])|(?<=%2[0-9A-Fa-f])){number}(?:\.0{{1,2}})?(?!\w|\.\d)")
    return [
        (query.start() + match.start(), query.start() + match.end())
        for query in _QUERY.finditer(text)
        for match in pattern.finditer(query.group())
    ]
