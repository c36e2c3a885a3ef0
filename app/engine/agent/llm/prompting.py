"""Prompt templates of ``resources/prompts``, and the fence that separates a page's text from ours.

A page may claim anything, even to be the user, the system or the end of the page. So every text of a site is put
between two lines with a random marker of this run; the marker is removed from the text itself, so that no page can
close its fence, not even by echoing what the agent typed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import lru_cache

from app.assets import resource
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.prompt_set import PromptSet
from app.engine.core.redaction import redact_text, redact_tree
from app.errors import InputError
from kb import invisible

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@lru_cache(maxsize=1)
def bundled_prompts() -> PromptSet:
    """Return the prompts that come with the program.

    Raises:
        InputError: they can't be read.
    """
    folder = resource("prompts")
    try:
        texts = {path.stem: path.read_text("utf-8").strip() for path in sorted(folder.glob("*.md"))}
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"the prompts can't be read: {error}", path=str(folder), remedy="reinstall sitelore"
        ) from error
    return PromptSet(texts=texts, version=_program_version())


def _program_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sitelore")
    except PackageNotFoundError:
        return "of a checkout"


def prompt(name: str, given: Collection[str] = (), /, **values: str) -> str:
    """Return a bundled prompt with its placeholders filled in (``PromptSet.fill``)."""
    return bundled_prompts().fill(name, given, **values)


@dataclass(frozen=True, slots=True)
class Fence:
    """Marked lines around a site's text, and the prompts that name their marker; one fence a run.

    Args:
        marker: drawn at random; passed in by tests, so that the prompts are the same.
        mask: removes the secrets that this run may type; a page may show what was typed.
        prompts: the prompts of this run.
    """

    marker: str = field(default_factory=lambda: secrets.token_hex(6))
    mask: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    prompts: PromptSet = field(default_factory=bundled_prompts, repr=False, compare=False)

    def prompt(self, name: str, given: Collection[str] = (), /, **values: str) -> str:
        """Return a prompt of this run, with the marker and the other values filled in (``PromptSet.fill``)."""
        return self.prompts.fill(name, given, marker=self.marker, **values)

    def around(self, what: str, text: str) -> str:
        """Return a site's text cleaned and fenced; ``what`` labels it in our own words."""
        return f"<<{what} {self.marker}>>\n{self.clean(text)}\n<<end of {what} {self.marker}>>"

    def clean(self, text: str) -> str:
        """Return a site's text without the marker, invisible characters and secrets."""
        seen = visible(text)
        return redacted((self.mask(seen) if self.mask is not None else seen).replace(self.marker, "…"))

    def line(self, text: str, longest: int = 200) -> str:
        """Return a site's text cleaned, on one line and shortened."""
        words = " ".join(self.clean(text[: longest * 4]).replace("<<", "‹").replace(">>", "›").split())
        return words if len(words) <= longest else words[: longest - 1] + "…"


def visible(text: str) -> str:
    """Return a text without characters that only a model can read: controls, direction marks, tags."""
    return text if text.isascii() and text.isprintable() else invisible.visible(_CONTROLS.sub("", text))


def redacted(text: str) -> str:
    """Return a text without secrets; long ones are searched line by line, as trees are."""
    return redact_text(text) if len(text) < 4000 else redact_tree(text).decode()


def system(text: str) -> ChatMessage:
    """Return a system message, the same for the whole run."""
    return ChatMessage(role=ChatRole.SYSTEM, parts=(MessagePart(kind=PartKind.TEXT, text=text),))


def user(*parts: MessagePart | str) -> ChatMessage:
    """Return a message to the model."""
    return ChatMessage(role=ChatRole.USER, parts=tuple(_part(part) for part in parts if part != ""))


def _part(part: MessagePart | str) -> MessagePart:
    return MessagePart(kind=PartKind.TEXT, text=part) if isinstance(part, str) else part


def truncate(text: str, most: int, what: str = "") -> str:
    """Return a text of at most ``most`` characters, cut at a line, with a note that it was cut."""
    if len(text) <= most:
        return text
    end = text.rfind("\n", most * 3 // 4, most)
    kept = text[: end if end != -1 else most]
    return f"{kept}\n[{len(text) - len(kept):,} more characters{f' of {what}' if what else ''} are left out]"
