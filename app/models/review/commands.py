"""The commands of Review on answer and pages, on two runs side by side, and on progress, annotators and guideline."""

from __future__ import annotations

from app.models.common.command import Command, commands

PAGE_COMMANDS = (
    *commands(
        "review", "Review/Pages",
        ("review.answer", "Answer page, or the two pages", "I", "comment-check-outline"),
        ("review.raw", "Raw or readable page text", "R", "code-tags"),
        ("review.whole", "Whole page, or its headings, forms and alerts", "Shift+R", "format-list-text"),
        ("review.find", "Find on the page", "F", "text-search"),
        ("review.find.next", "Next match", "F3", "arrow-down"),
        ("review.find.previous", "Previous match", "Shift+F3", "arrow-up"),
        ("review.legend", "Signs of the steps", "", "map-legend"),
    ),
    *commands(
        "review", "Review",
        ("review.ask_cause", "Ask a model for the likely cause", "Shift+Q", "comment-question-outline"),
    ),
)  # fmt: skip

COMPARISON_COMMANDS = (
    *commands(
        "review", "Review",
        ("review.compare", "Show a similar run beside this one", "Y", "compare-horizontal"),
        ("review.compare.selected", "Compare the two selected runs", "Ctrl+Alt+Y", "compare-horizontal"),
    ),
    *commands(
        "compare", "Review/Side by side",
        ("compare.next", "Next row", "J|Down", "arrow-down"),
        ("compare.previous", "Previous row", "K|Up", "arrow-up"),
        ("compare.parting", "Go to where they part", "S", "call-split"),
        ("compare.left", "Choose the left run", "H|Left", "chevron-left"),
        ("compare.right", "Choose the right run", "L|Right", "chevron-right"),
        ("compare.open", "Open this step", "Return|Enter", "open-in-app"),
        ("compare.other", "Next run to compare with", "N", "debug-step-over"),
        ("compare.other.previous", "Previous run to compare with", "Shift+N", "debug-step-into"),
        ("compare.failed", "Compare with failed runs too", "F", "filter-outline"),
        ("compare.lines", "Screenshots or page texts", "V", "file-tree-outline"),
        ("compare.tip", "Write a tip at this step", "T", "pencil-outline"),
        ("compare.map", "Show both paths on the map", "Shift+M", "map-marker-path"),
    ),
    Command("compare.close", "Close side by side", ("Esc", "Y"), "compare", "Review/Side by side", "close",
            in_text=True),
)  # fmt: skip

PANEL_COMMANDS = (
    *commands(
        "review", "Review",
        ("review.export", "Export runs…", "Ctrl+E", "export-variant"),
        ("review.opportunities", "Which tip would help most", "W", "lightbulb-on-outline"),
        ("review.progress", "Progress", "Alt+P", "progress-check"),
    ),
    *commands(
        "review", "Review/Annotators",
        ("review.annotators", "Annotators and agreement", "Alt+W", "account-multiple-outline"),
        ("review.guideline", "Guideline of the labels", "Alt+G", "text-box-outline"),
        ("review.verdicts.export", "Export verdicts…", "", "export"),
        ("review.verdicts.import", "Import verdicts…", "", "import"),
        ("review.progress.save", "Save the progress as a page…", "", "printer-outline"),
    ),
)  # fmt: skip
