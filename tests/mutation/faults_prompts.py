"""Faults in the rules about sets of actions and edited prompts, and in what a run keeps of them."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

SETS, RULES, PROMPTS = (
    "app/engine/core/actions/action_sets.py",
    "app/engine/core/prompt_rules.py",
    "app/engine/core/prompt_set.py",
)
STORE, SERVICE = "app/engine/store/prompt_store.py", "app/engine/services/prompts.py"
_SETS = ("tests/unit/engine/test_action_sets.py",)
_RULES = ("tests/unit/engine/test_prompt_rules.py",)
_KEPT = ("tests/unit/engine/test_prompts.py",)

FAULTS = (
    Mutation(
        "sets-ending",
        SETS,
        "    if not chosen & ENDINGS:\n",
        "    if not chosen:\n",
        "A set of actions holds one that ends a task.",
        _SETS,
    ),
    Mutation(
        "sets-refused",
        "app/engine/agent/answer_parser.py",
        "    if form.shown not in offered:\n",
        "    if not offered:\n",
        "An action outside the set goes back to the model.",
        _SETS,
    ),
    Mutation(
        "prompts-marker",
        RULES,
        "    if MARKER in known and MARKER not in used:\n",
        "    if MARKER in known and not used:\n",
        "A prompt keeps the marker of a website's words.",
        _RULES,
        safety=True,
    ),
    Mutation(
        "prompts-unknown-placeholder",
        RULES,
        "        if one not in known\n",
        "        if one not in known and one.isupper()\n",
        "A placeholder that the bundled prompt has not is refused.",
        _RULES,
    ),
    Mutation(
        "prompts-secret",
        RULES,
        "    if redact_text(text) != text:\n",
        "    if not text:\n",
        "A prompt holds no password or key.",
        _RULES,
        safety=True,
    ),
    Mutation(
        "prompts-condition",
        PROMPTS,
        '== (condition[1] == "if") else None',
        '!= (condition[1] == "if") else None',
        "A line with a condition stands where it holds.",
        _RULES,
    ),
    Mutation(
        "prompts-resumed",
        SERVICE,
        "    if begun is not None and begun.prompts:\n",
        "    if begun is not None and not begun.prompts:\n",
        "A resumed run keeps the prompts it began with.",
        _KEPT,
        safety=True,
    ),
    Mutation(
        "prompts-kept",
        STORE,
        "        if text:\n            self._blobs.add(pack_blobs({prompt_digest(text): text.encode()}))\n"
        '        return prompt_digest(text) if text else ""\n',
        '        return prompt_digest(text) if text else ""\n',
        "A text that an editor wrote is kept before it is replaced.",
        _KEPT,
        safety=True,
    ),
)
