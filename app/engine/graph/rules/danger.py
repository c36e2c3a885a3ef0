"""Built-in block rules: irreversible actions, forms, addresses off the site.

Opening an address is the least risky action, so a link is blocked only by verbs that destroy, end the session or pay,
in its name or its address; a control without an address also by verbs that send.  Controls that only open something
(a menu, a tab) are allowed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import SplitResult

from app.engine.core.addresses import split_address
from app.engine.core.page_state import Element
from app.engine.core.transition import SkipReason
from app.engine.graph.rules.danger_words import (
    VerbMatch,
    changes_view_only,
    identifier_words,
    is_informational,
    language_of,
    may_be_noun,
    verb_in_address,
    verb_in_attributes,
    verb_in_icon,
    verb_in_name,
    words_of,
)

_WHY = {
    "destroys": "could destroy something",
    "leaves": "would end the session",
    "pays": "could pay or order",
    "sends": "could change or send something",
}
_RISK = {"destroys": 1.0, "leaves": 0.6, "pays": 1.0, "sends": 0.5}
_LABELLED = frozenset(
    {"combobox", "listbox", "radio", "textbox", "searchbox", "slider", "spinbutton", "option"}
)
"""Controls whose name is a label: it says what is chosen, not what happens."""
_SHOWING = frozenset({"tab", "treeitem", "summary"})
"""Controls that show something of the same page."""
_CHOICES = frozenset(
    {"checkbox", "radio", "switch", "combobox", "listbox", "menuitemcheckbox", "menuitemradio"}
)
_OPENING = frozenset({"haspopup", "expanded", "collapsed"})
_ASKS_FIRST = frozenset(
    {
        "assign", "book", "change password", "clone", "comment", "connect", "create account", "create branch",
        "create issue", "create order", "create project", "create repository", "create user", "duplicate", "fork",
        "generate", "import", "invite", "move", "notify", "register", "release", "rename", "reply", "report",
        "report abuse", "request access", "request refund", "reserve", "reset password", "return item", "review",
        "schedule", "share", "sign up", "snooze", "transfer", "update", "upload",
    }
)  # fmt: skip
"""Verbs that send only after asking what, whom or when, mostly in a dialog.  Left out are those that act at one press
(watch, like, vote, flag, mark as read, approve), since some sites do that by a GET, which no guard can tell."""
_AT_ONCE = frozenset(
    {
        "bookmark", "dislike", "downvote", "favorite", "favourite", "flag", "follow", "like", "mark all as read",
        "mark all read", "mark as read", "mark as unread", "mark read", "mute", "pin", "quote", "star", "unfollow",
        "unlike", "unpin", "unstar", "unwatch", "upvote", "vote", "vote down", "vote up", "watch",
    }
)  # fmt: skip
"""Whole names of links and buttons that act on one thing at one press, on some sites by a GET."""
_LINK_WORDS, _BUTTON_WORDS = 4, 8
_TITLE_WORDS = 3
_FILES = re.compile(
    r"7z|avi|bz2|csv|deb|dmg|docx?|epub|exe|gz|iso|jar|mov|mp[34]|msi|od[pst]|pdf|pptx?|rar|rpm|tar|tgz|torrent|wav|webm"
    r"|xlsx?|xz|zip|zst"
)
_SENDING = (
    "data-method",
    "data-turbo-method",
    "hx-post",
    "hx-put",
    "hx-patch",
    "hx-delete",
    "data-remote-method",
)
_ASKING = ("data-confirm", "data-turbo-confirm", "hx-confirm")
_GOING_ON = frozenset({"ok", "okay", "yes", "continue", "proceed", "apply", "create", "add", "weiter", "oui"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """Why an element is skipped.

    ``strong``: takes precedence over a rule that merely allows forms.  ``verb``: in its name, if that alone tells.
    """

    rule: str
    why: str
    reason: SkipReason
    risk: float = 0.0
    strong: bool = False
    verb: str = ""

    @property
    def asks_first(self) -> bool:
        """Whether it is only a verb that mostly opens a dialog: harmless where nothing but reads leaves the browser."""
        return self.rule == "danger: sends" and self.verb in _ASKS_FIRST


def danger_of(element: Element, page_url: str, language: str = "") -> Danger | None:
    """Return the danger of activating the element on a page of this language; ``None`` if none is known."""
    if element.role in _LABELLED or element.type in ("reset", "text", "search"):
        return None
    link = link_of(element, page_url)
    if (sent := _attribute_danger(element)) is not None:
        return sent
    if link is not None and (match := verb_in_address(link)) is not None:
        return _danger(match, f"its address says '{match.verb}'", strong=match.kind != "sends")
    match = _verb_in_name(element, link, language_of(language))
    if match is not None:
        found = _danger(match, f"'{match.verb}' {_WHY[match.kind]}", strong=match.kind != "sends")
        return replace(found, verb="" if element.submits or element.repeat else match.verb)
    if link is None and (match := _verb_in_marks(element)) is not None:
        return _danger(
            match, f"'{match.verb}' in its attributes {_WHY[match.kind]}", strong=match.kind != "sends"
        )
    return _context_danger(element) if link is None else None


def danger_at_one_press(element: Element, page_url: str) -> Danger | None:
    """Return why a press may write by a GET, which no guard can tell: its whole name is such an action.

    A link counts only if its address names one thing: ``/watch`` is a page, ``/posts/3/watch`` is not.
    """
    link = link_of(element, page_url)
    name = " ".join(words_of(element.name or element.label or element.text))
    if name not in _AT_ONCE or element.role in _SHOWING or _OPENING & set(element.states):
        return None
    if link is not None and not (link.query or any(map(str.isdigit, link.path))):
        return None
    why = f"'{name}' may act at one press"
    return Danger(rule="danger: sends", why=why, reason=SkipReason.DANGER, risk=0.5)


def form_danger_of(element: Element) -> Danger | None:
    """Return why activating the element could send a form; ``None`` if it can't."""
    method, _, action = element.form.partition(":")
    where = f" ({method.upper()} {action})" if element.form else ""
    if element.type == "file":
        return _form("form: asks for a file", "it asks for a file from this machine")
    if element.submits:
        return _form("form: is never sent", f"it submits its form{where}")
    changes = element.role in _CHOICES and (element.role != "combobox" or element.tag == "select")
    if changes and method == "post":
        return _form("form: is never filled in", f"a change may submit its form{where}")
    return None


def is_reading_form(element: Element) -> bool:
    """Whether the element submits a form that only asks the same site for a page: by GET, without a verb of change."""
    method, _, action = element.form.partition(":")
    if not element.submits or method != "get" or element.type == "file" or not action.startswith("/"):
        return False
    return verb_in_address(split_address(action)) is None


def off_site_reason(element: Element, page_url: str) -> Danger | None:
    """Return why a link's address is no page of this site; ``None`` if it is one, and for anything but a link."""
    if not element.href:
        return None
    target = split_address(element.href)
    if target.scheme not in ("http", "https"):
        scripted = target.scheme in ("javascript", "about", "")
        why = f"'{target.scheme}:' is not a page"
        return None if scripted else Danger(rule="address: no page", why=why, reason=SkipReason.SCHEME)
    if _host(target) != _host(split_address(page_url)):
        return Danger(
            rule="address: other host", why=f"it leads to {target.hostname}", reason=SkipReason.EXTERNAL
        )
    _, dot, ending = target.path.rpartition("/")[2].lower().rpartition(".")
    if dot and _FILES.fullmatch(ending):
        return Danger(
            rule="address: a file", why=f"it downloads a .{ending} file", reason=SkipReason.DOWNLOAD
        )
    if any(key == "download" for key, _ in element.attributes):
        return Danger(rule="address: a file", why="it downloads a file", reason=SkipReason.DOWNLOAD)
    return None


def link_of(element: Element, page_url: str) -> SplitResult | None:
    """The address an element leads to; ``None`` for a control of the page itself (no address, or only a fragment)."""
    if not element.href:
        return None
    target = split_address(element.href)
    if target.scheme not in ("http", "https"):
        return None
    page = split_address(page_url)
    same = (target.netloc, target.path, target.query) == (page.netloc, page.path, page.query)
    plain_fragment = not target.fragment.startswith(("/", "!/"))
    return None if same and "#" in element.href and plain_fragment else target


def _verb_in_name(element: Element, link: SplitResult | None, language: str) -> VerbMatch | None:
    name = element.name or element.label or element.text or dict(element.attributes).get("title", "")
    match = verb_in_name(name, language) or verb_in_icon(name)
    if match is None or element.role in _SHOWING or changes_view_only(name, match.verb):
        return None
    if link is not None:
        about = (
            match.words > _LINK_WORDS or is_informational(name) or _is_title(name, link) or may_be_noun(match)
        )
        return None if about or match.kind == "sends" else match
    if match.words > _BUTTON_WORDS and match.at > 0:
        return None
    opens = bool(_OPENING & set(element.states)) or bool(split_address(element.href).fragment)
    if match.kind == "sends" and (opens or _about_cookies(element)):
        return None
    return match


def _is_title(name: str, link: SplitResult) -> bool:
    """Whether a link is named like the page it leads to (``Pay It Forward`` at ``/books/pay-it-forward_12``)."""
    words = words_of(name)
    slugs = [set(identifier_words(segment)) for segment in link.path.split("/")]
    return len(words) >= _TITLE_WORDS and any(slug.issuperset(words) for slug in slugs)


def _attribute_danger(element: Element) -> Danger | None:
    if not element.attributes:
        return None
    attributes = dict(element.attributes)
    for key in _SENDING:
        value = attributes.get(key, "")
        if value and value.lower() != "get":
            destroys = "delete" in (key + value).lower()
            return Danger(
                rule="danger: sends" if not destroys else "danger: destroys",
                why=f"it sends a request ({key}={value[:40]})",
                reason=SkipReason.DANGER if destroys else SkipReason.FORM,
                risk=1.0 if destroys else 0.5,
                strong=True,
            )
    asked = next((attributes[key] for key in _ASKING if attributes.get(key)), "")
    if asked or "confirm(" in attributes.get("onclick", ""):
        why = "the page asks for confirmation before this"
        return Danger(rule="danger: asks", why=why, reason=SkipReason.DANGER, risk=0.8, strong=True)
    return None


def _verb_in_marks(element: Element) -> VerbMatch | None:
    attributes = dict(element.attributes)
    named = (
        element.test_id,
        attributes.get("id", ""),
        attributes.get("name", ""),
        attributes.get("data-action", ""),
    )
    nameless = not any(len(word) > 1 for word in words_of(element.name or element.label or element.text))
    if nameless:
        shown = [*attributes.get("class", "").split(), *attributes.get("icon", "").split()]
        return verb_in_attributes((*named, *shown, attributes.get("title", "")))
    match = verb_in_attributes(named)
    return match if match is not None and match.kind != "sends" and element.role not in _SHOWING else None


def _context_danger(element: Element) -> Danger | None:
    """Find words that are harmless on a page, but not in a confirmation dialog or in the rows of a list."""
    words = words_of(element.name)
    if len(words) != 1 or element.role in _SHOWING or _OPENING & set(element.states):
        return None
    asks = any(mark.startswith(("dialog", "alertdialog")) for mark in element.landmarks)
    if asks and words[0] in _GOING_ON and not _about_cookies(element):
        why = f"'{words[0]}' in a dialog may do what the dialog asks"
        return Danger(rule="danger: confirms", why=why, reason=SkipReason.DANGER, risk=0.5)
    if element.repeat and words[0] in ("add", "cancel"):
        why = f"'{words[0]}' in a row of a list may change that row"
        return Danger(rule="danger: changes a row", why=why, reason=SkipReason.DANGER, risk=0.5)
    return None


def _about_cookies(element: Element) -> bool:
    attributes = dict(element.attributes)
    around = " ".join(
        (element.name, *element.landmarks, attributes.get("id", ""), attributes.get("class", ""))
    )
    return any(word in around.lower() for word in ("cookie", "consent", "gdpr"))


def _danger(match: VerbMatch, why: str, *, strong: bool) -> Danger:
    full = why if _WHY[match.kind] in why else f"{why}: {_WHY[match.kind]}"
    return Danger(
        rule=f"danger: {match.kind}",
        why=full,
        reason=SkipReason.DANGER,
        risk=_RISK[match.kind],
        strong=strong,
    )


def _form(rule: str, why: str) -> Danger:
    return Danger(rule=rule, why=why, reason=SkipReason.FORM, risk=0.5)


@lru_cache(maxsize=8192)
def _host(parts: SplitResult) -> str:
    try:
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return parts.netloc
    return f"{(parts.hostname or '').removeprefix('www.')}:{port}"
