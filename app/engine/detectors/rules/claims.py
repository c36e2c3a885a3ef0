"""Claims of an answer and demands of a task that nothing in the run bears out.

They read the answer, and a run whose environment has ended it has none (``runner.ending_of``): its absence is no
evidence either way. On tasks that an environment ends on success, answering at all tells the outcome; figures about
these rules leave such answers out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote_plus

from app.engine.core.answer_terms import MAX_ANSWER, FoldedPage, SoughtTerm, answer_terms, folded_words
from app.engine.core.text import quoted
from app.engine.core.trajectory import Step
from app.engine.core.verdicts import Flag, Severity
from app.engine.detectors.base import (
    FINAL_ACTIONS,
    KNOWN_ACTIONS,
    OFF_PAGE_ACTIONS,
    Detector,
    Prior,
    RunContext,
    RunEnding,
)
from app.engine.detectors.page_texts import is_whole
from app.engine.detectors.sending import is_sending


class _ClaimRule(Detector):
    """A rule about the end of a run that remembers which pages were visited."""

    severity = Severity.HINT
    explains = "ending"
    fires_during_run = False

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self.last = 0
        self._pages: dict[str, None] = {}
        self._unseen = False

    def see(self, step: Step) -> Iterable[Flag]:
        self.last = step.index
        self._note(step)
        return ()

    def see_handover(self, page: Step) -> Iterable[Flag]:
        self._note(page)
        return ()

    def see_last(self, page: Step) -> Iterable[Flag]:
        self._note(page)
        return ()

    def _note(self, page: Step) -> None:
        if page.tree:
            self._pages[page.tree] = None
        elif page.url or page.screenshot:
            self._unseen = True

    def _texts_known(self) -> bool:
        """Whether every page of the run can be read whole: what stands on an unread one is not known."""
        texts = self.context.pages
        return bool(self._pages) and not self._unseen and all(map(is_whole, map(texts.text, self._pages)))

    def _stands_anywhere(self, term: SoughtTerm) -> bool:
        texts, digests = self.context.pages, list(reversed(self._pages))
        if any(term.text in texts.text(digest) for digest in digests):
            return True
        return any(texts.folded(digest).holds(term) for digest in digests)


class AnswerNotOnPages(_ClaimRule):
    """Names of the answer on no visited page: agents know many names from elsewhere, so it weighs nothing."""

    name = "answer-not-on-pages"
    summary = "Two or more names of the answer, and half of all, stand on no visited page."
    prior = Prior(0.0)
    explains = "nothing"
    FEWEST = 2

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        if not ending.answer or not self._has_words_on_no_page(ending.answer):
            return
        names = [
            term
            for term in answer_terms(ending.answer, self.context.intent)
            if term.kind == "name" and not term.in_task and not re.search(r"[/\d]", term.text)
        ]
        if len(names) < self.FEWEST or not self._texts_known():
            return
        missing = [term.text for term in names if not self._stands_anywhere(term)]
        if len(missing) >= self.FEWEST and 2 * len(missing) >= len(names):
            shown = ", ".join(quoted(name, 40) for name in missing[:3])
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            yield self.flag(
                self.last,
                0.4,
                f"Names of the answer stand on no visited page: {shown}{more}",
                {"missing": len(missing), "names": len(names), "said": missing[0][:120]},
            )

    def _has_words_on_no_page(self, answer: str) -> bool:
        """Whether enough capitalised words of the answer are on no page as they are: a quick look at the last first."""
        words = set(_CAPITALISED.findall(answer[:MAX_ANSWER])) - set(
            _CAPITALISED.findall(self.context.intent)
        )
        for digest in reversed(self._pages):
            if len(words) < self.FEWEST:
                return False
            text = self.context.pages.text(digest)
            if not text:
                return False
            words = {word for word in words if word not in text}
        return len(words) >= self.FEWEST


_CAPITALISED = re.compile(r"\b[A-Z][^\W\d_]{2,}")
_QUOTED = re.compile(r"\"([^\"\n]{3,160})\"|“([^”\n]{3,160})”")
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])|\n")
_EXAMPLE = re.compile(
    r"e\.g|format|example|such as|treat|output|answer|json|\bonly return|\blike\b|round|separated",
    re.IGNORECASE,
)
_TO_WRITE = re.compile(
    r"(?:\brepl(?:y|ies)(?: with)?|\brespond(?: with)?|\bsay(?:s|ing)?|\btitled|\bnamed|\bcalled"
    r"|\bwith (?:the |a )?(?:message|title|text|body|comment|note|name|description|reply))[\s:,]*$",
    re.IGNORECASE,
)
MAX_TASK = 700
"""Characters of a task beyond which its quotes are mostly examples of an output."""


class UntouchedConstraint(_ClaimRule):
    name = "untouched-constraint"
    summary = "A quoted text of the task was never typed, chosen, opened or seen."
    prior = Prior(0.0)

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._wanted = quoted_constraints(context.intent)
        self._did: list[str] = []

    def _note(self, page: Step) -> None:
        if not self._wanted:
            return
        super()._note(page)
        self._did.append(unquote_plus(page.url))
        if page.action is not None and page.action.kind not in FINAL_ACTIONS | OFF_PAGE_ACTIONS:
            self._did += map(str, page.action.args.values())
            self._did.append(page.target.name if page.target is not None else "")

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        if not self._wanted or ending.crash or ending.infeasible is not None or not self._texts_known():
            return
        done = FoldedPage("\n".join(self._did))
        for text, to_write in self._wanted:
            term = SoughtTerm(text=text, kind="words", phrases=(folded_words(text),))
            if done.holds(term) or (not to_write and self._stands_anywhere(term)):
                continue
            how = "was never typed or chosen" if to_write else "was never typed, chosen, opened or seen"
            yield self.flag(self.last, 0.5, f"{quoted(text)} of the task {how}", {"text": text})
            return


def quoted_constraints(intent: str) -> list[tuple[str, bool]]:
    """Return the texts a task quotes as a demand, and whether each is to be written; no examples of an output."""
    if len(intent) > MAX_TASK:
        return []
    found: list[tuple[str, bool]] = []
    for sentence in _SENTENCE.split(intent):
        if not _EXAMPLE.search(sentence):
            for match in _QUOTED.finditer(sentence):
                text = next(filter(None, match.groups()), "")
                if folded_words(text):
                    found.append((text, bool(_TO_WRITE.search(sentence[: match.start()]))))
    return found


_CHANGES = re.compile(
    r"\W*(?:please\s+|then\s+)?(?:create|add|post|submit|edit|change|update|set|delete|remove|cancel|invite|assign|"
    r"upvote|downvote|disable|enable|increase|reduce|rename|notify|fork|star|follow|subscribe|promote|draft|fill|"
    r"reply|make|open an? (?:new )?issue|ask)\b",
    re.IGNORECASE,
)
_CLAIM = re.compile(
    r"\b(?:done|all set|success(?:fully)?|(?:i(?:'ve| have)?|has been|have been|was|were|is now|are now)(?: just| now)?"
    r" (?:created|added|posted|submitted|edited|changed|updated|set|deleted|removed|cancel+ed|invited|assigned|"
    r"upvoted|downvoted|disabled|enabled|increased|reduced|renamed|notified|forked|starred|followed|subscribed|"
    r"promoted|drafted|filled|replied|saved|sent))\b",
    re.IGNORECASE,
)
_SEARCHES = re.compile(r"search|filter|find|query|keyword", re.IGNORECASE)


class UnprovenClaim(_ClaimRule):
    name = "unproven-claim"
    severity = Severity.WARNING
    summary = "The answer claims a change, and no action of the run could have made one."
    prior = Prior(0.5)

    def __init__(self, context: RunContext) -> None:
        super().__init__(context)
        self._wrote, self._acted = False, False

    def see(self, step: Step) -> Iterable[Flag]:
        self._acted = True
        self._wrote = self._wrote or may_change(step)
        return super().see(step)

    def see_handover(self, page: Step) -> Iterable[Flag]:
        self._wrote = True  # a person acts now
        return super().see_handover(page)

    def end(self, ending: RunEnding) -> Iterable[Flag]:
        answer = (ending.answer or "")[:2000].replace("’", "'")
        if self._wrote or not self._acted or not _CHANGES.match(self.context.intent):
            return
        claim = _CLAIM.search(answer)
        if claim is not None and not re.search(r"\b(?:not|n't|no|already)\b", answer[: claim.end() + 40]):
            yield self.flag(
                self.last,
                0.65,
                f"Claims {quoted(claim.group(0))}, and no action of the run could have made that change",
                {"said": claim.group(0)},
            )


def may_change(step: Step) -> bool:
    """Whether a step may have changed something on the site: sent a form, typed into one, chose or uploaded.

    An action that nobody recorded, or of another program's own kind, may have.
    """
    if not step.executed or step.error_class == "hard":
        return False
    if step.action is None or step.action.kind not in KNOWN_ACTIONS:
        return True
    kind, target = step.action.kind, step.target
    name = target.name if target is not None else ""
    if kind in ("fill", "type", "press", "keyboard_type", "keyboard_press", "keyboard_insert_text"):
        return target is None or not (target.role == "searchbox" or _SEARCHES.search(name))
    if kind in ("select_option", "check", "uncheck", "upload_file", "drag_and_drop"):
        return True
    if kind in ("click", "dblclick"):
        return (
            is_sending(step)
            or target is None
            or not name
            or target.role in ("checkbox", "switch", "radio", "option")
            or bool(_CHANGES.match(name))
        )
    return False
