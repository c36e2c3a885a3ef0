"""Words and phrases that the tasks of people are made of: what begins a question, a change, a condition.  Pure."""

from __future__ import annotations

import re

from app.engine.agent.scout.grounding import STOP


def set_of(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|«([^»]*)»|‘([^’]*)’(?!\w)|(?<!\w)'([^']+)'(?!\w)")
"""Single quotes count where they stand at the ends of words: an apostrophe stands within or behind one."""
ASKED_LAST = re.compile(
    r"(?:^|(?:,\s*|\s+)(?:and\s+)?(?:then\s+)?)(?:tell|show|give|report)\s+(?:me|us)\s+"
    r"(how|what|which|who|when|where)\b([^.?!]*)[.?!]?",
    re.IGNORECASE,
)
"""``… and tell me how many``: a question of its own at the end of a deed."""
THERE = re.compile(r"\bthere (are|is|were|was)\b", re.IGNORECASE)
NAME = re.compile(
    r"(?<![\w.])((?:[A-Z][\w'’-]*|\d[\w-]*(?=\s+[A-Z]))(?:\s+(?:&|[A-Z][\w'’&-]*|\d+[\w-]*))*)((?:\s+[a-z][\w'’-]*){0,3})"
)
ENDS_NAME = STOP | set_of(
    "have has had come comes cost costs than does do did can could was were which who whom that when"
    " where what why how between since until before after there their together altogether use using"
    " named called titled number size category status contain contains include includes up down out over"
    " under through about get gets page pages say says said tell tells"
)
NUMBERED = re.compile(
    r"\b(order|invoice|ticket|issue|case|product|item|upc|sku|isbn|user|customer|number)\s+"
    r"(?:number\s+|no\.?\s*|with the upc\s+)?"
    r"#?(\d{3,})\b",
    re.IGNORECASE,
)
KINDS = r"category|section|department|status|state|type|brand|colour|color|partner|supplier|topic|tag|label"
SCOPE = re.compile(
    rf"\b(?:the\s+)?({KINDS})\s+(?:of\s+)?(?:\x02(\d+)\x02|([A-Z][\w-]*(?:\s+(?:&\s+)?[A-Z][\w-]*)*))"
)
SCOPE_BEFORE = re.compile(
    r"\b(?:in|of|from|within|under|on|at)\s+the\s+(?:\x02(\d+)\x02|([A-Z][\w-]*(?:\s+(?:&\s+)?[A-Z][\w-]*)*))"
    r"\s+(category|section|department)\b"
)
OPENING = re.compile(
    r"^(?:please\s+)?(?:what|which|who|whom|when|where|how|is|are|was|were|do|does|did|can|tell|give|find|search|list)\b",
    re.I,
)
ROUND = re.compile(r"\bround(?:ed)?\b.{0,20}?\b(one|two|three|\d)\s+decimals?", re.IGNORECASE)
SMALL = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a": 1, "an": 1}
MOST = set_of(
    "most highest greatest largest biggest longest dearest priciest latest newest last maximum top best"
    " heaviest"
)
LEAST = set_of("least lowest cheapest smallest shortest fewest oldest earliest minimum lightest first worst")
BY_WORD = {
    "cheapest": "price", "dearest": "price", "priciest": "price", "expensive": "price", "latest": "date",
    "newest": "date", "recent": "date", "oldest": "date", "earliest": "date", "last": "date", "first": "date",
    "heaviest": "weight", "lightest": "weight",
}  # fmt: skip
EXTREME = re.compile(
    rf"\b({'|'.join(sorted(MOST | LEAST))})\b(?:\s+(expensive|costly|recent))?", re.IGNORECASE
)
PARTS = re.compile(
    r"(?:,?\s+and\s+(?:then\s+)?|,\s*then\s+|;\s+|\.\s+(?=[A-Z]))(?=(?:use|apply|set|add|put|change|place|open|enter|rate|save|redeem|move|remove|delete|approve|reject)\b)",
    re.IGNORECASE,
)
DEEDS = (
    "add|put|change|set|update|edit|rename|create|make|write|leave|post|use|apply|redeem|approve|reject|delete|remove|buy|order"
    "|place|move|mark|rate|reprice|restock|cancel|enable|disable|publish|hide|save|send|subscribe|enter|replace|assign|register"
)
DEED = re.compile(rf"^(?:please\s+|now\s+|then\s+)?({DEEDS})\b", re.IGNORECASE)
VALUE = re.compile(
    r"^(?:what|which|who)(?:\s+(?:is|are|was|were|'s))\s+(?:the\s+)?(.+?)(?:\s+(?:of|for|that|who|from|between)\b.*)?\?*$"
)
TOLD = re.compile(
    r"what (?:does|do|did)\b.*\x03.*\b(?:say|says|tell|tells)\b.*?\b(?:about|on)\s+(.+?)\s*\?*$"
)
"""``What does the page of X say about care?``: a sentence of the page of X is wanted."""
HAS = re.compile(
    r"how many\s+(.+?)\s+(?:does|do|did|has|have|was|were|is)\s+(?:the\s+|a\s+)?(?:[a-z]+\s+){0,2}\x03\s*(\w+)?"
)
LISTING = "are|is|was|were|do|does|did|have|has|can|could|contain|contains|include|includes|cost|require|requires|need"
COUNTED = re.compile(rf"how many\s+(.+?)(?:\s+(?:{LISTING})\b|\s+of\s+|\?|$)")
LABELLED = re.compile(
    r"(?:^|[:,;]|\b(?:with|and|to|of)\b)\s*(?:the\s+|a\s+|an\s+|my\s+|its\s+)*((?:[a-z][\w/'-]*\s+){0,3}?[a-z][\w/'-]*)"
    r"\s*(?:=|:|\bof\b|\bis\b|\bto\b)?\s*(?:\x02(\d+)\x02|(-?\d[\d.,]*\d|-?\d)(?=[\s,.;]|$))"
)
TO = re.compile(
    r"\b(?:change|set|update|edit|rename|replace|reprice)\s+(?:the\s+|my\s+)?(.+?)\s+(?:to|as)\s+(?:be\s+)?(?:\x02(\d+)\x02|(\S.*?))$",
    re.IGNORECASE,
)
NAMED = re.compile(r"\b(?:named|called|titled)\s+\x02(\d+)\x02")
IN_CART = re.compile(
    r"\b(?:in|into|to|on)\s+(?:my|the|a)\s+(?:shopping\s+)?(?:cart|basket|bag)\b", re.IGNORECASE
)
IDLE = set_of(
    "what which who when where how many much all there have has had does did do was were placed time"
    " times any give tell round two decimals answer yes no please new together altogether one more than"
    " between least most change set add put create write named called first"
)
"""Words of tasks that tell nothing of where on a site a thing may be met."""
