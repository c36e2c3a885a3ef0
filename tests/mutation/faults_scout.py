"""Faults in the scout: what it may press, what it learns, and what it claims."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

SCOUT = "app/engine/agent/scout/"
_WAYS = ("tests/unit/engine/test_scout_ways.py",)
_POLICY = ("tests/unit/engine/test_scout_policy.py",)

FAULTS = (
    Mutation(
        "scout-commands",
        f"{SCOUT}navigation.py",
        "    return is_bare and not senses_of(said[:1]) <= _PLACES\n",
        "    return False\n",
        "A link whose label is a command is no way.",
        _WAYS,
        safety=True,
    ),
    Mutation(
        "scout-warnings",
        f"{SCOUT}hinting.py",
        "    return _NOT.sub(blank, text)\n",
        "    return text\n",
        "Nothing is done that a hint warns of.",
        ("tests/unit/engine/test_scout_hinting.py",),
        safety=True,
    ),
    Mutation(
        "scout-outcome",
        f"{SCOUT}policy.py",
        "        return last if _alike(last.action, pending.action) else None\n",
        "        return last\n",
        "The outcome of another action is not taken for that of the scout's own.",
        _POLICY,
    ),
    Mutation(
        "scout-new-task",
        f"{SCOUT}policy.py",
        "        if observation.step == 0 or observation.intent != self._intent:\n",
        "        if observation.step == 0:\n",
        "A new task begins with an empty memory.",
        _POLICY,
    ),
    Mutation(
        "scout-press-once",
        f"{SCOUT}pressing.py",
        '        marks=(f"pressed:{left[0]}",),\n',
        "",
        "A control that the task names is pressed once.",
        ("tests/unit/engine/test_scout_pressing.py",),
    ),
    Mutation(
        "scout-addresses",
        f"{SCOUT}page_context.py",
        "        address = split_address(href)\n",
        "        from urllib.parse import urlsplit\n\n        address = urlsplit(href)\n",
        "A link whose address can't be read breaks nothing.",
        _POLICY,
        safety=True,
    ),
)
