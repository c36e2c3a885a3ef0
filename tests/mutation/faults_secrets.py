"""Faults in the rules about where a secret may be typed."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

FIELDS, SECRETS = "app/engine/agent/secret_fields.py", "app/engine/agent/secrets.py"
DEEDS, CLEARING = "app/engine/agent/action_dispatcher.py", "app/engine/agent/approval_gate.py"
_FIELDS = ("tests/unit/engine/test_secret_fields.py",)

FAULTS = (
    Mutation(
        "secret-unknown-name",
        FIELDS,
        'return SecretUse(SecretRuling.REFUSE, f"there is no secret {unknown};',
        'return SecretUse(SecretRuling.ALLOW, f"there is no secret {unknown};',
        "An unknown name of a secret is refused instead of typed.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-only-typed",
        FIELDS,
        'return SecretUse(SecretRuling.REFUSE, "a secret may only be typed into a field")',
        'return SecretUse(SecretRuling.ALLOW, "a secret may only be typed into a field")',
        "A secret is typed, and goes into no address, upload or dialog.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-own-page",
        FIELDS,
        "    if not _is_own(observation.page.url, observation, secrets):\n",
        "    if not observation.page.url:\n",
        "No secret is typed on a page of another site.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-own-frame",
        FIELDS,
        "    if element.origin and not _is_own(element.origin, observation, secrets):\n",
        '    if element.origin == "null":\n',
        "No secret is typed in a frame of another site.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-own-form",
        FIELDS,
        '    if "://" in target and not _is_own(target, observation, secrets):\n',
        '    if "://" in target and not method:\n',
        "No secret is typed into a form that sends it to another site.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-in-an-address",
        FIELDS,
        'if _is_search(element) or method == "get":',
        "if _is_search(element):",
        "No secret is typed where it becomes part of an address.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-in-a-search",
        FIELDS,
        'if _is_search(element) or method == "get":',
        'if method == "get":',
        "No secret is typed into a search.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-unguarded-way",
        FIELDS,
        'or (began == "https" and scheme == "http"):',
        'or (began == "https" and scheme == "ftp"):',
        "A run that began on a guarded connection types no secret on an open one.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-plain-field",
        FIELDS,
        'return SecretRuling.ASK, f"{what} does not ask',
        'return SecretRuling.ALLOW, f"{what} does not ask',
        "A field that does not ask for a secret gets none without an approval.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-every-field-aimed-at",
        FIELDS,
        "ruling, why = max(uses, key=",
        "ruling, why = min(uses, key=",
        "Keys that may reach several fields are judged by the worst of them.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-approved-field",
        FIELDS,
        "key = (type(action).__name__, action.text, tuple((field_key(one), one.role, one.name) for one in found))",
        "key = (type(action).__name__, action.text)",
        "An approval to type a secret holds for that field alone.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-nobody-there",
        DEEDS,
        "not (use.ruling is SecretRuling.ALLOW or self.secrets.is_approved(use.key)):",
        "use.ruling is SecretRuling.REFUSE:",
        "Where nobody is there to ask, a secret goes into no field that does not ask for it.",
        _FIELDS,
        safety=True,
    ),
    Mutation(
        "secret-asked-whatever-the-policy",
        CLEARING,
        "if gate.allowed and answer is PolicyAnswer.ALLOW and not (is_asked and self._control.supervised):",
        "if gate.allowed and answer is PolicyAnswer.ALLOW:",
        "A secret for a field that does not ask for it is an approval, whatever the policy says.",
        _FIELDS,
        safety=True,
    ),
)
