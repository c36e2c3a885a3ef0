"""Faults in the rules of knowledge: how tips are found, cut, checked and frozen."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

CASCADE, LINT, FREEZE = "kb/retrieval/cascade.py", "kb/lint.py", "kb/freeze.py"
_RETRIEVAL = ("tests/unit/kb/test_retrieval_rules.py", "tests/unit/kb/test_retrieval.py")
_LINT = ("tests/unit/kb/test_lint_rules.py", "tests/unit/kb/test_lint.py")
_FREEZE = ("tests/unit/kb/test_freeze.py",)

FAULTS = (
    Mutation(
        "retrieval-keyword-ties",
        CASCADE,
        "_pack(KEYWORD_CLASS, w, u, e)",
        "_pack(KEYWORD_CLASS, w, e, u)",
        "Within the keyword class the address decides before the meaning.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-exact-fit",
        CASCADE,
        "if used + cost <= budget:",
        "if used + cost < budget:",
        "A tip whose tokens fit the budget exactly is taken.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-url-ties",
        CASCADE,
        "_pack(URL_CLASS, u, w, e)",
        "_pack(URL_CLASS, u, e, w)",
        "Within the URL class the words decide before the meaning.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-embedding-ties",
        CASCADE,
        "_pack(EMBEDDING_CLASS, e, u, w)",
        "_pack(EMBEDDING_CLASS, e, w, u)",
        "Within the embedding class the address decides before the words.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-weak-ties",
        CASCADE,
        "_pack(WEAK_CLASS, u, w, e)",
        "_pack(WEAK_CLASS, u, e, w)",
        "Among weak addresses the words decide before the meaning.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-ids-last",
        CASCADE,
        "(MOST_TIPS - 1 - place)",
        "place",
        "Where all scores are equal the smaller id comes first.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-shorter-behind",
        CASCADE,
        "            used += cost\n    return taken, used",
        "            used += cost\n        else:\n            break\n    return taken, used",
        "A tip that does not fit is passed over, and a shorter one behind it may still be taken.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-at-the-threshold",
        CASCADE,
        "(w >= round(settings.keyword_threshold * STEPS))",
        "(w > round(settings.keyword_threshold * STEPS))",
        "A score that reaches the keyword threshold exactly is in the keyword class.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-at-most-k",
        CASCADE,
        "if len(taken) >= k:",
        "if len(taken) > k:",
        "Tips are taken until k are.",
        _RETRIEVAL,
    ),
    Mutation(
        "lint-why",
        LINT,
        ', ("why", draft.why)]',
        "]",
        "A value of the task, a secret or an order in 'why' is found.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "lint-keywords",
        LINT,
        '    parts.append(("keywords", " ".join(draft.keywords)))\n',
        "",
        "A value of the task, a secret or an order among the keywords is found.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "verify-file-hash",
        FREEZE,
        "if manifest.ok and manifest.file_sha256 != sha256:",
        "if manifest.ok and not manifest.file_sha256:",
        "A frozen file that was changed since its manifest was written is not verified.",
        _FREEZE,
        safety=True,
    ),
    Mutation(
        "verify-content-hash",
        FREEZE,
        'manifest.data.get("content_sha256") != content.sha256',
        'manifest.data.get("content_sha256") == ""',
        "A frozen base whose tips are not those of its manifest is not verified.",
        _FREEZE,
        safety=True,
    ),
    Mutation(
        "freeze-lint-errors",
        FREEZE,
        "set(lint_errors) - set(waive)",
        "set(waive) - set(lint_errors)",
        "A tip with a lint error is left out of a freeze unless a reason waives it.",
        _FREEZE,
        safety=True,
    ),
)
