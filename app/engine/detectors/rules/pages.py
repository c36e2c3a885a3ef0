"""Signs on the page: nothing changed, an error or an empty page, a login form or a captcha."""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.addresses import split_address
from app.engine.core.text import quoted
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import (
    FINAL_ACTIONS,
    KNOWN_ACTIONS,
    OFF_PAGE_ACTIONS,
    SINCE,
    ActionKey,
    Detector,
    Prior,
    ResultDetector,
    RunContext,
    action_key,
    action_text,
    is_worth_flagging,
    ordinal,
    short_url,
)
from app.engine.detectors.page_texts import is_words_alone

_NO_CHANGE_EXPECTED = (
    OFF_PAGE_ACTIONS
    | FINAL_ACTIONS
    | {"scroll", "focus", "hover", "tab_focus", "new_tab", "evaluate", "mouse_move"}
)
_TAKE_FOCUS = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
"""A click on these may do no more than set the cursor."""


class NoEffect(ResultDetector):
    name = "no-effect"
    severity = Severity.HINT
    summary = "An action was done and the page's content is the same as before."
    prior = Prior(0.6, often=0.3, at_end=0.2)
    MANY = 3

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._counts: dict[ActionKey, tuple[int, int]] = {}
        self._total = 0

    def compare(self, step: Step | None, after: Step) -> Iterable[Flag]:
        if (
            step is None
            or step.action is None
            or not step.executed
            or step.action.kind in _NO_CHANGE_EXPECTED
            or step.action.kind not in KNOWN_ACTIONS  # another program's own: it may only read
        ):
            return
        if step.error_class in (ErrorClass.HARD, ErrorClass.HARNESS):
            return
        if step.action.kind == "click" and step.target and step.target.role in _TAKE_FOCUS:
            return
        if not step.state or step.state != after.state or step.url != after.url:
            return
        if step.screenshot != after.screenshot and is_words_alone(self.context.pages.text(step.tree)):
            return  # read in pictures that differ: a tick or a colour is no word
        key = _named_key(step.action, step.target)
        count, since = self._counts.get(key, (0, step.index))
        self._counts[key] = (count + 1, since)
        self._total += 1
        if count >= self.MANY and not is_worth_flagging(count + 1, self.MANY):
            return
        again = f" ({ordinal(count + 1)} time)" if count else ""
        yield self.flag(
            step.index,
            min(0.7, 0.25 + 0.1 * self._total),
            f"{_subject(step)} changed nothing{again}",
            {"times": count + 1, "total": self._total, SINCE: since, "action": action_text(step)},
            Severity.WARNING if self._total >= self.MANY else None,
        )


def _named_key(action: RecordedAction, target: ActionTarget | None) -> ActionKey:
    """Return an action's key by its target's name: element ids change when a page is reloaded."""
    if target is None or not target.name:
        return action_key(action, target)
    return action_key(
        RecordedAction(kind=action.kind, args={k: v for k, v in action.args.items() if k != "bid"}), target
    )


def _subject(step: Step) -> str:
    target = step.target
    if step.action is None or target is None:
        return f"The action {quoted(action_text(step))}"
    noun = {"fill": "typing into", "select_option": "choice in", "press": "key press in"}
    name = f" {quoted(target.name)}" if target.name else " without a name"
    return f"The {noun.get(step.action.kind, step.action.kind + ' on')} {target.role or 'element'}{name}"


_CODE_FIRST = re.compile(
    r"^\W*(?:error\W*)?(?:40[0134568]|410|429|50[0234])\b(?!\s*(?:results?|items?|products?))", re.I
)
_ERROR_WORDS = re.compile(
    r"whoops|page not found|404 not found|not found\W*$|internal server error|bad gateway|service unavailable"
    r"|gateway time-?out|access denied|forbidden|site can.t be reached|this page isn.t working",
    re.IGNORECASE,
)
_ERROR_NOTICE = re.compile(
    r"whoops|page not found|internal server error|bad gateway|service unavailable|something went wrong"
    r"|(?:an?|there has been an) error (?:has )?(?:occurred|processing|while)|we can't find (?:the|a) page",
    re.IGNORECASE,
)


class ErrorPage(Detector):
    name = "error-page"
    severity = Severity.WARNING
    summary = "The page is an error page (404, 500, unreachable) or empty."
    prior = Prior(0.4, often=0.2, at_end=0.3)
    _here = ""
    _cause: Step | None = None
    _handed = False
    _contents = False

    def see(self, step: Step) -> Iterable[Flag]:
        if self._handed:  # a person navigated there
            self._here = step.url if self._error(step) else ""
        else:
            yield from self._look(step)
        self._cause, self._handed = step, False

    def see_handover(self, page: Step) -> Iterable[Flag]:
        yield from self._look(page)
        self._handed = True

    def see_last(self, page: Step) -> Iterable[Flag]:
        yield from self._look(page)

    def _look(self, page: Step) -> Iterable[Flag]:
        what = self._error(page)
        same = page.url == self._here
        self._here = page.url if what else ""
        if not what or same:
            return
        cause = self._cause
        at = cause.index if cause else page.index
        self.count(at)
        led = "Led to" if cause else "The run began on"
        how = f": {action_text(cause)}" if cause else ""
        where = f" at {quoted(short_url(page.url))}" if page.url.startswith("http") else ""
        yield self.flag(
            at,
            min(0.8, 0.4 + 0.1 * self.times),
            f"{led} {what}{where}{self.again}{how}",
            {"times": self.times, SINCE: self.since, "url": page.url},
        )

    def _error(self, page: Step) -> str:
        """Return what is wrong with a page; without contents it is empty only in a run that records them."""
        self._contents = self._contents or bool(page.tree or page.html)
        return page_error(page, records_contents=self._contents)


def page_error(page: Step, *, records_contents: bool = True) -> str:
    """Return what is wrong with a page, in words; "" when nothing is."""
    if page.url.startswith("chrome-error://"):
        return "a page that the browser could not load"
    if _CODE_FIRST.search(page.title) or _ERROR_WORDS.search(page.title):
        return f"an error page, {quoted(page.title)}"
    for notice in page.notices:
        if _ERROR_NOTICE.search(notice[:2000]):
            return f"a page with the error {quoted(notice, 120)}"
    empty = records_contents and not page.title and not page.tree and not page.html
    # without a picture it may be known by its address alone, as what other programs did not record
    if empty and page.screenshot and page.url.startswith(("http://", "https://")):
        return "an empty page"
    return ""


_LOGIN_PATH = re.compile(
    r"/(?:log[_-]?in|sign[_-]?in|users/sign_in|signin|auth/login)/?(?:index/?)?$", re.IGNORECASE
)
_LOGIN_TITLE = re.compile(r"^\W*(?:customer |user |admin )?(?:log ?in|sign ?in)\b", re.IGNORECASE)
_LOGIN_NOTICE = re.compile(
    r"(?:you (?:need|have) to|please|you must) (?:be )?(?:log(?:ged)? ?in|sign(?:ed)? ?in)|session (?:has )?expired",
    re.I,
)
_CAPTCHA = re.compile(
    r"captcha|verify (?:that )?you are (?:a )?human|are you a robot|just a moment\.\.\.", re.IGNORECASE
)


class LoginWall(Detector):
    """A login form or a captcha blocks the page: a person is needed."""

    name = "login-wall"
    severity = Severity.WARNING
    summary = "A login form or a captcha blocks the page."
    prior = Prior(0.7, often=0.2, at_end=0.3)
    _at_wall = False

    def see(self, step: Step) -> Iterable[Flag]:
        what = access_barrier(step)
        arrived = bool(what) and not self._at_wall
        self._at_wall = bool(what)
        if not arrived:
            return
        self.count(step.index)
        yield self.flag(
            step.index,
            min(0.75, 0.45 + 0.1 * self.times),
            f"{what} blocks the page at {quoted(short_url(step.url))}{self.again}",
            {"times": self.times, SINCE: self.since, "url": step.url},
        )

    def see_handover(self, page: Step) -> Iterable[Flag]:
        yield from self.see(page)


def access_barrier(page: Step) -> str:
    """Return what keeps the agent out of this page; "" when nothing does."""
    texts = (page.title, *page.notices)
    if any(_CAPTCHA.search(text[:2000]) for text in texts):
        return "A captcha"
    if any(_LOGIN_NOTICE.search(text[:2000]) for text in page.notices):
        return "A log-in prompt"
    path = split_address(page.url).path
    if _LOGIN_PATH.search(path) or _LOGIN_TITLE.search(page.title):
        return "A login form"
    return ""
