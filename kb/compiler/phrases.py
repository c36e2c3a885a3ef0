"""Noun phrases of tips: the control that is meant, its role and landmark; values; addresses with placeholders."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.compiler.text import MARK, MarkedText

ROLES = {
    "button": "button", "link": "link", "hyperlink": "link", "tab": "tab", "menu": "menu", "submenu": "menu",
    "menu item": "menuitem", "menu entry": "menuitem", "entry": "menuitem", "item": "menuitem",
    "field": "field", "box": "field", "text box": "field", "input": "field", "text area": "field",
    "textarea": "field", "search box": "field", "text field": "field", "input field": "field", "search field": "field",
    "drop-down": "select", "dropdown": "select", "drop-down list": "select", "dropdown list": "select",
    "list": "select",
    "select": "select", "select box": "select", "drop-down menu": "select", "dropdown menu": "select",
    "selector": "select", "combo box": "select", "combobox": "select",
    "checkbox": "checkbox", "check box": "checkbox", "check-box": "checkbox", "tick box": "checkbox",
    "row": "row", "line": "row", "icon": "icon", "symbol": "icon", "heading": "heading", "header": "heading",
    "column": "heading", "column head": "heading", "column header": "heading", "column heading": "heading",
    "dialog": "dialog", "dialogue": "dialog", "radio button": "button", "option": "", "page": "", "section": "",
    "message": "", "address": "", "url": "", "key": "", "word": "", "label": "", "entries": "menuitem",
}  # fmt: skip
"""Words for roles, and the role each means; of some words only the name beside them counts."""

_ROLE = "|".join(sorted(map(re.escape, ROLES), key=len, reverse=True))
_MARKED = MARK.pattern.replace("(", "(?:", 2)
_DETERMINER = re.compile(
    r"^(?:(?:the|a|an|your|its|this|that|these|those|their|his|her|our|any|some|each|one of|either|"
    r"both|all the)\s+)+",
    re.IGNORECASE,
)
_SCREEN = (
    r"(?:top|bottom|upper|lower|left|right|head|foot|header|footer|side|corner|toolbar|tool bar|bar|"
    r"middle|cent(?:er|re)|"
    r"menu bar|sidebar|side bar|navigation|nav bar|page|dialog|dialogue|window|form|screen|panel|"
    r"pop-?up|overlay|second|first|"
    r"field|end|very|project|site|front|main|table|grid|toolbox|menu|list|results?)"
)
_CORNER = re.compile(
    rf"\s+(?:at|on|in|from|near|by|of|inside|within|along)\s+(?:(?:the|its|your|that|this|each|its own)\s+)?"
    rf"(?:[\w'’-]+\s+){{0,2}}?{_SCREEN}\b(?!\s*{_MARKED}).*$",
    re.IGNORECASE,
)
_SCREEN_CORNER = re.compile(
    r"\s+(?:at|on|in)\s+the\s+(?:very\s+)?(?:top|bottom|upper|lower|far)(?:[\s-]+(?:right|left))?"
    r"(?:[\s-]+(?:corner|side|edge|end|hand side))?(?:\s+of\s+(?:the|this|that|your|its|each)\s+[\w -]+)?$",
    re.IGNORECASE,
)
_LANDMARK = re.compile(
    r"\s+(?:just\s+|directly\s+|right\s+(?=below|above|next|beside|under|after))?"
    r"(?:(?:to\s+|on\s+|at\s+)?(?:the\s+)?(?P<side>right|left)(?:[- ]hand side)?\s+(?:of|to|from)"
    r"|in\s+the\s+(?P<row>row|line|card|entry|box)\s+(?:of|with|for|that has|named|called)"
    r"|in\s+(?=(?:the\s+)?(?:[\w-]+\s+)?[\w-]+['’]s\s+(?P<owned>row|line|card|entry)\b)"
    r"|(?P<next>next\s+to|besides?|below|beneath|underneath|under|above|over|behind|in\s+front\s+of|near|close\s+to|"
    r"following|after|before|adjacent\s+to|opposite))\s*(?<=[\s])(?P<near>.+)$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s+(?:by (?:\w+ing|an?)\b|by the (?=link|button|menu|icon)|separated|only|so that|in order|"
    r"(?<!Add )(?<!Assign )(?<!Move )(?<!Copy )(?<!Back )(?<!Reply )(?<!Send )(?<!Jump )(?<!Convert )"
    r"to (?!the\b|an?\b|your\b|be\b)(?-i:[a-z])+|for (?:this|that|it)|which|that|who|where|"
    r"until|because|since|as|if|when|unless|with the mouse)\b.*$|,\s.*$"
    r"|\s+(?<!\bthe\s)(?:again|once|twice|first|instead|as well|too|there|here)$",
    re.IGNORECASE,
)
_SECOND_PLACE = re.compile(r"(?<=[a-z])\s+(?:under|below|in|on)\s.*$")
_OWN_OF = re.compile(r"(?:the\s+)?(?:\w+\s)?(?:name|title|number|subject|address|login) of\s")
_LOCATED = re.compile(
    r"\s+(?:in|on|at|inside|within)\s+(?:the|its|that|this)\s+[a-z].*$|\s+for\s+(?!the\b|an?\b)[a-z]+$"
)
"""The place of a thing without a name of its own ("the point on the map")."""

_NAME_OF = re.compile(
    r"(?:the|its)\s+(?:\w+\s+)?(?:name|title|subject|login|sender|user\s?name)\s+of\s+(?:the|that|this|an?)\s+(?:[\w-]+\s*){1,3}$"
)
"""The name of a thing that the task names."""

_OF = re.compile(r"\s+of\s+(?:the|that|this|a|an|each|your|its)\b.*$", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"^(?:<([^<>]+)>|\{([^{}]+)\}|\[([^\[\]]+)\]|\$([A-Za-z]\w*)|:([a-z]\w*))$")
_ADJECTIVES = frozenset(
    [
        "matching",
        "first",
        "second",
        "third",
        "last",
        "next",
        "previous",
        "right",
        "correct",
        "only",
        "corresponding",
        "same",
        "found",
        "topmost",
        "newest",
        "oldest",
        "latest",
        "appearing",
        "suggested",
        "short",
        "long",
        "old",
        "new",
        "small",
        "big",
        "large",
        "tiny",
        "little",
        "blue",
        "red",
        "green",
        "grey",
        "orange",
        "big",
        "cheapest",
        "upper",
        "lower",
        "left",
        "other",
    ]
)
PREVIOUS = "\ue002"
"""A landmark that is the thing named just before ("beside it")."""

_PRONOUN = re.compile(
    r"(?:it|them|that|this|these|those)(?:\s*$|\s+(?!\w)|\s+(?:once|twice|first|again|if|when|until)\b)",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"(?:nothing|anything|everything|none|any|so|this|that|it|them)$", re.IGNORECASE)
_PRESSED_KEY = re.compile(
    r"(?:the\s+)?(Enter|Return|Escape|Esc)(?:\s+key)?\b(?=\s+(?:in|on|at|key)\b|$)", re.IGNORECASE
)
_KEYS = frozenset(["enter", "return", "tab", "escape", "esc", "space", "backspace", "delete"])


@dataclass(frozen=True, slots=True)
class NamedControl:
    """A control named by a phrase."""

    name: str = ""
    role: str = ""
    near: str = ""
    where: str = ""

    def __bool__(self) -> bool:
        return bool(self.name or self.near)


def slug(words: str) -> str:
    """The placeholder's name for a phrase: lower case, without article and possessive, words joined by ``_``."""
    words = re.sub(r"['’]s?(?=\s|$)", "", _DETERMINER.sub("", words.strip()).strip("<>{}[]$: "))
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:60] or "value"


def placeholder(words: str) -> str:
    """``the user's name`` as ``{user_name}``."""
    return "{" + slug(words) + "}"


def address(text: str, example: bool = False) -> str:
    """An address with its placeholders as ``{name}``; of an example every number is one."""
    text = re.sub(r"^\{[A-Z][A-Z0-9_]*\}(?=/|$)", "", text) or "/"
    text = re.sub(r"<([^<>]+)>", lambda found: placeholder(found[1]), text)
    text = re.sub(r"(?<![\w])\[([^\[\]]+)\]", lambda found: placeholder(found[1]), text)
    text = re.sub(r"(?<=[/=_-])(?:\$|:)([A-Za-z][\w-]*)", lambda found: placeholder(found[1]), text)
    text = re.sub(r"\{([A-Za-z][\w .-]*)\}", lambda found: placeholder(found[1]), text)
    text = re.sub(
        r"(?<![A-Za-z{%])([A-Z]{2,}(?:[_-][A-Z]+)*)(?![A-Za-z}])", lambda found: placeholder(found[1]), text
    )
    text = re.sub(r"(?<=[a-z])([A-Z]{3,})(?=$|[/?&])", lambda found: placeholder(found[1]), text)
    return re.sub(r"\d+", "{number}", text) if example else text


def value(text: str, source: MarkedText, known: frozenset[str] = frozenset()) -> str:
    """A value to fill in or choose: literal if quoted, a number or a name; else a placeholder."""
    text = text.strip(" ,.:")
    if (mark := MARK.search(text)) is not None:
        inner = source.get(mark)
        return placeholder(inner) if _PLACEHOLDER.match(inner) else inner
    text = text.split(", ")[0]
    if not _OWN_OF.match(text):
        text = _CORNER.sub("", text)
    if _PLACEHOLDER.match(text):
        return placeholder(text)
    if re.fullmatch(r"(?:the\s+)?[A-Z]{2,}s?", text) and text[:4].lower() == "the ":
        return placeholder(text)
    if re.fullmatch(r"[A-Z]{2,}(?:[_ -][A-Z]+)*", text) and text not in ("UTC", "USD", "EUR", "ID"):
        return placeholder(text)
    bare = _DETERMINER.sub("", text)
    bare = re.sub(r"^(?:option|value|entry|text|word)\s+(?=[A-Z])|\s+(?:option|value)$", "", bare)
    if bare == text and (text[:1].isupper() or text[:1].isdigit() or text.isdigit()):
        return text
    if (
        bare[:1].isupper()
        and not bare.isupper()
        and bare != text
        and len(bare.split()) <= 4
        and not re.search(r"['’]s\b", bare)
    ):
        return bare
    if re.search(r"\b(?:from|in|of|for|that|which)\b", bare) and not (
        re.match(r"number of\s\w+$", bare) or _OWN_OF.match(bare)
    ):
        bare = re.split(r"\s+(?:from|in|of|for|that|which)\b", bare)[0]
    return placeholder(bare)


def control(text: str, source: MarkedText, known: frozenset[str] = frozenset()) -> NamedControl:
    """The control a phrase names.

    Args:
        known: words of the tip's condition; a thing that it speaks of is given by the task.
    """
    if " its " in text:
        text = re.sub(r"\b(to|on|at|in)\s+its\s+(right|left|row|line)\b", r"\1 the \2 of it", text)
    if " column " in text:
        text = re.sub(r"\b(?:head|header|heading|title)\s+of\s+the\s+column\b", "column head", text)
    text = _SCREEN_CORNER.sub("", text.strip(" ,.:;").split(", ")[0])
    if (key := _PRESSED_KEY.match(text)) is not None:
        return NamedControl(key[1])
    near = where = ""
    if (found := _LANDMARK.search(f" {text}")) is not None:
        before, after = f" {text}"[: found.start()].strip(), found["near"]
        if before and found["next"] and re.match(r"(?:you|having|\w+ing)\b", after, re.IGNORECASE):
            text = before
        elif before and (found["row"] or found["owned"] or _is_landmark(after)):
            row = bool(found["row"] or found["owned"])
            where = f"{found['side']} of" if found["side"] else "in" if row else found["next"].lower()
            if found["owned"]:
                after = re.sub(r"['’]s\s+(?:row|line|card|entry)\b.*$", "", after)
            near = PREVIOUS if _PRONOUN.match(after) else _landmark(after, source, known, row)
            text = before
    name, role = _name(text, source, known)
    return NamedControl(name, role, near, where.replace("besides", "beside"))


def _is_landmark(text: str) -> bool:
    bare = _DETERMINER.sub("", text.strip())
    if MARK.match(bare):
        return True
    return not re.match(
        r"(?:very\s+)?(?:top|bottom|corner|screen|page$|window|pressing|clicking|now)\b",
        bare,
        re.IGNORECASE,
    )


def _landmark(text: str, source: MarkedText, known: frozenset[str], possessed: bool) -> str:
    text = _TAIL.sub("", text.strip(" ,.:;"))
    if possessed:
        text = _SECOND_PLACE.sub("", text)
    if (mark := MARK.search(text)) is not None:
        return source.get(mark)
    text = _CORNER.sub("", text)
    whole = _DETERMINER.sub("", text)
    bare = re.sub(rf"\s+(?:{_ROLE})$", "", whole, flags=re.IGNORECASE) or text
    if bare.lower() in _ADJECTIVES:
        bare = whole
    if re.search(r"['’]s\b", bare) or (possessed and not bare[:1].isupper()) or set(bare.split()) <= known:
        return placeholder(bare)
    named = re.search(rf"(?:{_ROLE})\s+([A-Z].*)$", bare)
    return named[1] if named else bare


def _name(text: str, source: MarkedText, known: frozenset[str]) -> tuple[str, str]:
    if (mark := MARK.search(text)) is not None:
        around = f"{text[: mark.start()]} {_TAIL.sub('', ' ' + text[mark.end() :])[:24]}"
        inner = source.get(mark)
        return (placeholder(inner) if _PLACEHOLDER.match(inner) else inner), _role_in(
            around, mark.start(), text, mark.end()
        )
    text = _CORNER.sub("", _TAIL.sub("", f" {text}")).strip(" ,.:;")
    if (owned := _NAME_OF.match(text)) is not None and not re.search(r"[A-Z]", owned[0]):
        return placeholder(owned[0]), ""
    if _DETERMINER.match(text) and not re.search(r"[A-Z]", text):
        text = _LOCATED.sub("", text)
    text = _OF.sub("", re.sub(r"^one of (?=the\b)", "", text))
    if _PLACEHOLDER.match(text):
        return placeholder(text), ""
    bare = _DETERMINER.sub("", text).strip()
    if not bare or _NOTHING.match(bare):
        return "", ""
    if bare.lower() in _KEYS or re.fullmatch(r"(?:Ctrl|Alt|Shift|Cmd)(?:\+\w+)+", bare):
        return bare, ""
    before = re.match(
        rf"(?:[a-z-]+\s+){{0,2}}?({_ROLE})\s+(?:called\s+|named\s+|labelled\s+)?([A-Z0-9].*)$", bare
    )
    if before is not None:
        return before[2], ROLES[before[1].lower()]
    after = re.match(rf"(.+?)[\s-]+({_ROLE})s?$", bare)
    if after is not None and not (bare == text and re.search(r"\s(?:an?|new|the)$", after[1])):
        capital = re.search(r"([A-Z0-9][\w&'.:!?()-]*(?:\s+[\w&'.:!?()-]+)*)$", after[1])
        role = ROLES[after[2].lower()]
        if capital is None and (not role or after[1].lower().split()[-1] in _ADJECTIVES):
            bare_name = bare if "'s" not in bare and "’s" not in bare else placeholder(bare)
            return bare_name, role
        if capital is None and role == "row" and re.search(r"['’]s\b", bare):
            return placeholder(bare), ""
        return (capital[1] if capital else after[1]), role
    if bare.lower() in known and bare != text and not ROLES.get(bare.lower(), ""):
        return placeholder(bare), ""
    if bare.lower() in ROLES:
        return bare, ROLES[bare.lower()] if bare[:1].islower() else ""
    if bare[:1].isupper() or bare[:1].isdigit():
        return bare, ""
    capital = re.search(r"(?:^|\s)([A-Z][\w&'.:!?-]*(?:\s+[\w&'.:!?-]+)*)$", bare)
    if capital and bare != text:
        return capital[1], ""
    words = bare.lower().split()
    if re.search(r"['’]s\b", bare):
        bare = re.split(r"\s+(?:from|in|on|at|for|as)\s", bare)[0]
    if re.search(r"\swith\s.*['’]s\b", bare):
        return bare, ""
    if re.search(r"['’]s\b", bare) or (
        bare != text and words[-1] in known and (words[0] not in _ADJECTIVES or set(words) <= known)
    ):
        return placeholder(bare), ""
    return bare, ""


def _role_in(around: str, start: int, text: str, end: int) -> str:
    """The role word directly before or after a quoted name."""
    after = re.match(rf"\s*({_ROLE})\b", text[end:], re.IGNORECASE)
    before = re.search(rf"({_ROLE})\s*(?:called|named|labelled)?\s*$", text[:start], re.IGNORECASE)
    found = after or before
    return ROLES[found[1].lower()] if found else ""
