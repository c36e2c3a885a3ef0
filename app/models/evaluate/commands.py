"""The commands of the Evaluate perspective, and the one on a pair of runs that works everywhere."""

from __future__ import annotations

from app.models.common.command import Command, commands

EVALUATE_COMMANDS = (
    *commands(
        "evaluate", "Evaluate",
        ("evaluate.next", "Next row", "J", "arrow-down"),
        ("evaluate.previous", "Previous row", "K", "arrow-up"),
        ("evaluate.new", "New evaluation…", "N|Ctrl+N", "plus-circle-outline"),
    ),
    Command("evaluate.start", "Start", ("Ctrl+Return", "Ctrl+Enter"), "evaluate", "Evaluate", "play-outline",
            in_text=True),
    *commands(
        "evaluate", "Evaluate",
        ("evaluate.rescore", "Rescore stored runs…", "Shift+R", "calculator-variant-outline"),
        ("evaluate.filter", "Filter the table", "/", "filter-variant"),
        ("evaluate.sort", "Sort by the next column", "O", "sort"),
        ("evaluate.sort.turn", "Reverse the sort order", "Shift+O", "sort-reverse-variant"),
    ),
    Command("evaluate.back", "Back one level", ("Esc",), "evaluate", "", "arrow-left", in_text=True),
    *commands(
        "evaluate", "Evaluate/Suite",
        ("suite.add", "Add a suite…", "A", "file-plus-outline"),
        ("suite.blind", "Hide or show the answers of the suite", "B", "eye-off-outline"),
        ("evaluate.suites", "Go to the suites", "S", "format-list-bulleted"),
    ),
    *commands(
        "evaluate", "Evaluate/Evaluation",
        ("evaluate.evaluations", "Go to the evaluations", "E", "format-list-numbered"),
        ("evaluate.stop", "Stop the evaluation", "X", "stop-circle-outline"),
        ("evaluate.resume", "Resume the evaluation", "Shift+X", "play-outline"),
        ("evaluate.report", "Write the report and open it", "R", "file-chart-outline"),
        ("evaluate.remove", "Remove the suite, or take the evaluation off the list", "Del", "delete-outline"),
    ),
    *commands(
        "evaluate", "Evaluate/Result",
        ("evaluate.arms", "Next pair of arms", "W", "swap-horizontal"),
        ("evaluate.forest", "Go to the differences by site and type", "D", "chart-box-outline"),
        ("evaluate.numbers", "Plot or table of the differences", "V", "table"),
        ("evaluate.pairs", "Go to the tasks", "P", "table-row"),
        ("evaluate.tips", "Go to the tips", "T", "book-open-variant"),
        ("evaluate.open", "Open the row", "Return|Enter", "open-in-app"),
    ),
    *commands(
        "evaluate", "Evaluate/Show",
        ("evaluate.show.all", "Show all tasks", "0", "filter-off-outline"),
        ("evaluate.show.won", "Show won tasks", "1", "filter-outline"),
        ("evaluate.show.lost", "Show lost tasks", "2", "filter-outline"),
        ("evaluate.show.both", "Show tasks solved by both", "3", "filter-outline"),
        ("evaluate.show.neither", "Show tasks solved by neither", "4", "filter-outline"),
        ("evaluate.show.undecided", "Show undecided tasks", "5", "filter-outline"),
    ),
    *commands("evaluate", "", ("evaluate.last_freeze", "Evaluate the last frozen file", "", "snowflake")),
)  # fmt: skip

PAIR_COMMANDS = commands(
    "everywhere", "Go", ("pair.other", "Open the other run of the pair", "Shift+Y", "swap-horizontal")
)
"""The runs of a pair are read in Review, so that the way to the other one has to work there."""
