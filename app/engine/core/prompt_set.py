"""The prompts of a model's roles as templates, and their versions.  Pure data.

A template has placeholders ``{{name}}``.  A line that begins with ``{{if name}}`` stands in the prompt only where
``name`` holds, one that begins with ``{{unless name}}`` only where it doesn't; the names are those of the actions that
are offered.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
CONDITION = re.compile(r"^\{\{(if|unless) (\w+)\}\} ?", re.MULTILINE)
_SHORT_DIGEST = 8


def prompt_digest(text: str) -> str:
    """Return a prompt's version: the SHA-256 of its text."""
    return hashlib.sha256(text.encode()).hexdigest()


def text_tokens(text: str) -> int:
    """Estimate a text's tokens: four bytes each."""
    return (len(text.encode()) + 3) // 4


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names of a template's placeholders, in order, each once."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptVersion:
    """The version of a prompt that a run was given.

    Attributes:
        digest: SHA-256 of its text, which is stored as a blob.
        bundled: version of the program the prompt came with; "" for a workspace's own.
    """

    name: str
    digest: str
    bundled: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionsVersion:
    """The set of actions that a run was offered: its name, its calls and their hash."""

    name: str
    digest: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSet:
    """The prompts of a run.

    Attributes:
        texts: templates by name.
        own: names of those that are not the bundled ones.
        version: version of the program the others came with.
    """

    texts: Mapping[str, str]
    own: frozenset[str] = frozenset()
    version: str = ""

    def fill(self, name: str, given: Collection[str] = (), /, **values: str) -> str:
        """Return a prompt with its placeholders filled in; the values are not searched for placeholders.

        Args:
            given: names that hold, for the lines with a condition.

        Raises:
            KeyError: there is no such prompt, or a placeholder has no value.
        """
        lines = (_line(line, given) for line in self.texts[name].split("\n"))
        kept = [line for line in lines if line is not None]
        return PLACEHOLDER.sub(lambda place: values[place[1]], "\n".join(kept))

    def replaced(self, texts: Mapping[str, str]) -> PromptSet:
        """Return the set with a workspace's own texts in place of the bundled ones."""
        return PromptSet(texts={**self.texts, **texts}, own=self.own | frozenset(texts), version=self.version)

    def versions(self) -> tuple[PromptVersion, ...]:
        """Return the version of each prompt."""
        return tuple(
            PromptVersion(
                name=name, digest=prompt_digest(text), bundled="" if name in self.own else self.version
            )
            for name, text in sorted(self.texts.items())
        )

    def blobs(self) -> dict[str, bytes]:
        """Return the texts by their digests."""
        return {prompt_digest(text): text.encode() for text in self.texts.values()}


def _line(line: str, given: Collection[str]) -> str | None:
    condition = CONDITION.match(line)
    if condition is None:
        return line
    return line[condition.end() :] if (condition[2] in given) == (condition[1] == "if") else None


def version_words(prompts: Collection[PromptVersion], actions: ActionsVersion | None) -> str:
    """Return the versions of a run's prompts and actions in words; "" for a run that records none."""
    if not prompts:
        return ""
    own = [f"{one.name} {one.digest[:_SHORT_DIGEST]}" for one in prompts if not one.bundled]
    version = next((one.bundled for one in prompts if one.bundled), "")
    words = [f"own prompts: {', '.join(own)}" if own else f"prompts of version {version}"]
    if actions is not None:
        words.append(f"actions: {actions.name} {actions.digest[:_SHORT_DIGEST]}")
    return " · ".join(words)
