"""The commands that work while a merge is decided."""

from __future__ import annotations

from app.models.common.command import Command, commands

MERGE_COMMANDS = (
    *commands(
        "merge", "Knowledge/Merge",
        ("merge.mine", "Keep mine", "M", "arrow-left"),
        ("merge.theirs", "Take theirs", "T", "arrow-right"),
        ("merge.both", "Keep both", "B", "call-merge"),
        ("merge.next", "Next tip of the merge", "J", "arrow-down"),
        ("merge.previous", "Previous tip of the merge", "K", "arrow-up"),
        ("merge.apply", "Apply the merge", "Ctrl+Return|Ctrl+Enter", "check"),
        ("merge.base", "Choose an older copy of both…", "O", "history"),
    ),
    Command("merge.leave", "Leave the merge", ("Esc",), "merge", "Knowledge/Merge", "arrow-left", in_text=True),
)  # fmt: skip
