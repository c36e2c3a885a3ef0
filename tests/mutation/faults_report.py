"""Faults in the rules of a report: what is coloured, what a text may do, whose files are replaced; and of Review."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

REPORT = "app/engine/evaluation/report"
_PAGE = ("tests/unit/engine/test_report_page.py",)
_FILES = ("tests/unit/engine/test_report_files.py",)
_TEXTS = ("tests/unit/engine/test_report_hostile_texts.py",)
_EXPECTED = ("tests/unit/engine/test_expected_outcome.py",)

FAULTS = (
    Mutation(
        "report-reading-early",
        f"{REPORT}/readings.py",
        "    if early:\n",
        "    if early and templates < MIN_TEMPLATES:\n",
        "The evaluation is not over: too early.",
        _PAGE,
    ),
    Mutation(
        "report-reading-few",
        f"{REPORT}/readings.py",
        "    if templates < MIN_TEMPLATES:\n",
        "    if templates < MIN_TEMPLATES - 1:\n",
        "Fewer than 8 templates: too few, whatever the interval is.",
        _PAGE,
    ),
    Mutation(
        "report-reading-zero",
        f"{REPORT}/readings.py",
        "    if 0 < low <= high:\n",
        "    if 0 <= low <= high:\n",
        "It lies above 0: better.",
        _PAGE,
    ),
    Mutation(
        "report-early-answer-coloured",
        f"{REPORT}/readings.py",
        "    return not verdict.early or not low <= 0 <= high\n",
        "    return True\n",
        "Before the end an answer is coloured only by the interval that always holds.",
        _PAGE,
    ),
    Mutation(
        "report-csv-formula",
        f"{REPORT}/csv_tables.py",
        "shown.lstrip().startswith(_FORMULA)",
        "shown.startswith(_FORMULA)",
        "No text is taken for a formula, spaces before it or not.",
        _TEXTS,
        safety=True,
    ),
    Mutation(
        "report-page-escape",
        f"{REPORT}/html_page.py",
        "        autoescape=True,\n",
        "        autoescape=False,\n",
        "Texts of others are texts on the page.",
        _TEXTS,
        safety=True,
    ),
    Mutation(
        "report-latex-row-end",
        f"{REPORT}/latex_tables.py",
        '    "[": "{[}",',
        '    "[": "[",',
        "A text at the beginning of a row is no argument of the row's end.",
        _TEXTS,
    ),
    Mutation(
        "report-direction",
        f"{REPORT}/safe_text.py",
        r"\u202e\u2060-\u206f",
        r"\u202d\u206a-\u206f",
        "Characters that turn the direction of writing are written out.",
        _TEXTS,
    ),
    Mutation(
        "report-foreign-file",
        f"{REPORT}/files.py",
        "        if name not in old and _is_there(out / name):\n",
        "        if name not in old and name == JSON and _is_there(out / name):\n",
        "A file that is no report's is never replaced.",
        _FILES,
        safety=True,
    ),
    Mutation(
        "report-listed-file",
        f"{REPORT}/files.py",
        "(name in mine or _is_table(name))",
        "True",
        "A list of files that names others touches none of them.",
        _FILES,
        safety=True,
    ),
    Mutation(
        "report-tips-that-hurt",
        f"{REPORT}/result_tables.py",
        '    order = {"hurts": 0, "helps": 1, "no difference seen": 2}\n',
        '    order = {"hurts": 1, "helps": 0, "no difference seen": 2}\n',
        "Tips that hurt stand first.",
        _PAGE,
    ),
    Mutation(
        "report-curve-of-two",
        f"{REPORT}/learning_plot.py",
        "MIN_SIZES = 3\n",
        "MIN_SIZES = 2\n",
        "A curve needs three sizes of the knowledge base.",
        _PAGE,
    ),
    Mutation(
        "expected-blind-verdict",
        "app/engine/services/expected_outcomes.py",
        "    if outcome is None or outcome.hidden:\n",
        "    if outcome is None:\n",
        "A blind suite shows no verdict.",
        _EXPECTED,
        safety=True,
    ),
)
