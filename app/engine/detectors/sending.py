"""Which actions send something to a site: by the names of buttons, as the page gives them."""

from __future__ import annotations

import re

from app.engine.core.trajectory import ErrorClass, Step

_SENDING_NAMES = re.compile(
    r"\W*(?:create|submit|save|update|post|send|publish|invite|delete|remove|commit|confirm|place|"
    r"upvote|downvote|subscribe|unsubscribe|follow|star|fork|merge|close (?:issue|merge request)|reopen|approve|"
    r"assign|unassign|"
    r"reply|comment|set|apply changes|edit submission|add (?:comment|member|to|review|rule|product)|buy|"
    r"check ?out|pay|rename|disable|enable|cancel order|upload)\b(?! (?:new|tree|branch)\b)",
    re.IGNORECASE,
)
_OPENS_A_FORM = re.compile(
    r"(?:invite members|invite your|create new|create blank|create from|edit|add to tree|create \w+\.\.\.)",
    re.IGNORECASE,
)
_PRESSED = frozenset({"button", "menuitem", "switch"})


def is_sending(step: Step) -> bool:
    """Whether a step pressed a button that sends or changes something, and was done."""
    if step.action is None or step.action.kind != "click" or step.target is None or not step.executed:
        return False
    if step.error_class in (ErrorClass.HARD, ErrorClass.HARNESS) or step.target.role not in _PRESSED:
        return False
    name = " ".join(step.target.name.split())
    return bool(_SENDING_NAMES.match(name)) and (
        not _OPENS_A_FORM.match(name) or name.casefold().startswith("edit submission")
    )
