"""Faults in the rules of knowledge: how tips are found, cut, checked and frozen."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

CASCADE, LINT, FREEZE = "kb/retrieval/cascade.py", "kb/lint.py", "kb/freeze.py"
CALIBRATION = "kb/retrieval/calibration.py"
_RETRIEVAL = ("tests/unit/kb/test_retrieval_rules.py", "tests/unit/kb/test_retrieval.py")
_LINT = ("tests/unit/kb/test_lint_rules.py", "tests/unit/kb/test_lint.py")
_FREEZE = ("tests/unit/kb/test_freeze.py",)

FAULTS = (
    Mutation(
        "retrieval-exact-fit",  # house 2
        CASCADE,
        "if used + cost <= budget:",
        "if used + cost < budget:",
        "A tip whose tokens fit the budget exactly is taken.",
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
        "total >= points_of(settings.threshold)",
        "total > points_of(settings.threshold)",
        "A sum that reaches the threshold exactly is given.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-at-most-k",
        CASCADE,
        "if k is not None and len(taken) >= k:",
        "if k is not None and len(taken) > k:",
        "Where a caller asks for k, tips are taken until k are.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-site-wide",
        CALIBRATION,
        "SITE_WIDE = 100",
        "SITE_WIDE = 1_500",
        "A scope of the whole site brings no tip by itself.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-unknown-meaning",
        CASCADE,
        "np.where(known, BIAS, BIAS_WITHOUT_MEANING)",
        "np.where(known, BIAS, BIAS)",
        "A tip whose meaning is unknown is summed by the constants for words alone.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-page-words",
        CALIBRATION,
        "PAGE_WORDS: Knots = ((0.0, 0), (1.0, 100))",
        "PAGE_WORDS: Knots = ((0.0, 0), (1.0, 2_000))",
        "The page's words only decide between tips that are otherwise alike.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-record-broke",
        CASCADE,
        "record.down + record.failed + BROKE_WEIGHT * record.broke",
        "record.down + record.failed",
        "A tip that broke in a test sinks.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-record-bound",
        CASCADE,
        "bound = RECORD_RISE if good > bad else RECORD_FALL",
        "bound = RECORD_FALL",
        "A good record never brings a tip that nothing else speaks for.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-half-a-condition",
        "kb/retrieval/conditions.py",
        "np.where(2 * matched >= whole,",
        "np.where(matched >= 0,",
        "Less than half of a condition says nothing.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-region-missing",
        "kb/retrieval/anchors.py",
        "    if words < _LEAST:\n        return 0.0\n",
        "",
        "A tip with an anchor is not found on a page without its region.",
        _RETRIEVAL,
    ),
    Mutation(
        "retrieval-other-sites",
        "kb/retrieval/scopes.py",
        "return holds or site in place.sites, holds",
        "return holds, holds",
        "In a task across sites tips of each of its sites are considered.",
        _RETRIEVAL,
    ),
    Mutation(
        "scope-star-below",
        "kb/retrieval/url.py",
        'return (*segments[:-1], "**") if segments[-1] == "*" else (*segments, "**")',
        "return segments",
        "A star at the end of a path holds for the page itself and everything below.",
        ("tests/unit/kb/test_retrieval_url.py",),
    ),
    Mutation(
        "scope-query-globs",
        "kb/retrieval/url.py",
        "found == key and value and wildcard_match(glob, value)",
        "found == key",
        "A glob of a query value has to fit.",
        ("tests/unit/kb/test_retrieval_url.py",),
    ),
    Mutation(
        "query-last-failure",
        "app/engine/agent/tip_query.py",
        "failed = last is not None and not last.result.success",
        "failed = last is not None",
        "Only an action that failed is told to the knowledge base as a failure.",
        ("tests/unit/engine/test_tip_query.py",),
    ),
    Mutation(
        "lint-why",  # house 3
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
        "verify-file-hash",  # house 4
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
