"""The rules that an edited prompt has to keep.  Pure data."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from app.engine.core.actions.action_sets import all_calls
from app.engine.core.prompt_set import CONDITION, PLACEHOLDER, placeholders
from app.engine.core.redaction import redact_text
from app.errors import UsageError
from kb import invisible

MARKER = "marker"
"""Placeholder of the marker of a site's text: without it a prompt does not say whose words are whose."""
MAX_PROMPT = 32_000
"""Characters of a prompt at most."""
OPERATOR = "operator"
"""The prompt that is told which actions are offered; its lines may depend on them."""
_BRACES = re.compile(r"\{\{[^{}\n]{0,60}\}\}")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCheck:
    """Faults of an edited prompt.

    Attributes:
        errors: one sentence for each rule it breaks; it can't be used.
        missing: placeholders of the bundled prompt that it lacks; they may be dropped knowingly.
    """

    errors: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def check_prompt(name: str, text: str, bundled: str) -> PromptCheck:
    """Check a text that is to stand in for a bundled prompt.

    It has to keep the marker of a site's text where the bundled one has it, may use the bundled one's placeholders and
    no others, and conditions on actions in the operator's; it is neither empty nor too long and hides nothing.
    """
    known, used = placeholders(bundled), placeholders(text)
    errors = list[str]()
    if not text.strip():
        errors.append("it is empty")
    if len(text) > MAX_PROMPT:
        errors.append(f"it has {len(text):,} characters, at most {MAX_PROMPT:,} are allowed")
    errors += [
        f"{{{{{one}}}}} is no placeholder of this prompt; it has {_listed(known)}"
        for one in used
        if one not in known
    ]
    conditions = {found[2] for found in CONDITION.finditer(bundled)}
    if name == OPERATOR:
        conditions |= {form.shown for form in all_calls()}
    errors += [
        f"'{found}' is no condition of this prompt"
        for found in dict.fromkeys(one[2] for one in CONDITION.finditer(text))
        if found not in conditions
    ]
    plain = CONDITION.sub("", text)
    errors += [
        f"{found} is neither a placeholder nor a condition at the start of a line"
        for found in dict.fromkeys(_BRACES.findall(plain))
        if not PLACEHOLDER.fullmatch(found)
    ]
    if MARKER in known and MARKER not in used:
        errors.append("{{marker}} is missing: without it the model can't tell a website's words from yours")
    if _CONTROLS.search(text) or invisible.visible(text) != text:
        errors.append("it holds characters that people can't see and a model reads")
    if redact_text(text) != text:
        errors.append("it holds what looks like a password or key")
    missing = tuple(one for one in known if one not in used and one != MARKER)
    return PromptCheck(errors=tuple(errors), missing=missing)


def checked_prompt(name: str, text: str, bundled: str, dropped: Collection[str] = ()) -> str:
    """Return a text that may stand in for a bundled prompt, without white space around it.

    Args:
        dropped: placeholders that are left out knowingly.

    Raises:
        UsageError: it breaks a rule, or lacks a placeholder that is not among ``dropped``.
    """
    text = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").strip().split("\n"))
    check = check_prompt(name, text, bundled)
    if check.errors:
        raise UsageError(f"the prompt '{name}' can't be used: {'; '.join(check.errors)}")
    missing = [one for one in check.missing if one not in dropped]
    if missing:
        raise UsageError(
            f"the prompt '{name}' lacks {_listed(missing)}", remedy="add it, or drop it knowingly"
        )
    return text


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in names) or "none"
