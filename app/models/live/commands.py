"""The commands of the Live perspective."""

from __future__ import annotations

from app.models.common.command import Command, commands

LIVE_COMMANDS = (
    *commands(
        "live", "Live",
        ("live.new", "Start a run…", "Ctrl+N", "robot-outline"),
        ("live.tasks", "Start runs from a task file…", "Ctrl+Shift+N", "file-tree"),
        ("live.again", "Run the task again with the current tips…", "W", "repeat"),
        ("live.next", "Next run", "Down|J", "arrow-down"),
        ("live.previous", "Previous run", "Up|Shift+J", "arrow-up"),
        ("live.open", "Open the run", "Return|Enter", "magnify-expand"),
        ("live.needy", "Next run that needs you", "N", "bell-ring-outline"),
    ),
    *commands(
        "live", "Live/Inbox",
        ("live.inbox", "Inbox: one request after the other", "I", "inbox-outline"),
        ("live.inbox.later", "Later: put the request last", "Z", "clock-outline"),
        ("live.inbox.single", "Answer equal requests one by one", "Shift+Return|Shift+Enter", "call-split"),
        ("live.inbox.order", "Order by risk, or by age", "Shift+I", "sort-clock-ascending-outline"),
    ),
    *commands(
        "live", "",
        ("live.open.0", "Open run 10, 20…: second digit of its number", "0", "numeric"),
        *((f"live.open.{digit}", f"Open run {digit}", str(digit), "numeric") for digit in range(1, 10)),
    ),
    *commands(
        "live", "Live",
        ("live.sort", "Sort the runs now", "F5", "sort-descending"),
    ),
    Command("live.back", "Back one level", ("Esc",), "live", "", "arrow-left", in_text=True),
    *commands(
        "live", "Live/Run",
        ("live.pause", "Pause or resume", "Space", "pause"),
        ("live.step", "Next step", "S", "debug-step-over"),
        ("live.stop", "End the run", "K", "stop-circle-outline"),
        ("live.pause_all", "Pause all runs", "Shift+Space", "pause-octagon-outline"),
        ("live.dismiss", "Dismiss the run", "Del|Backspace", "eye-off-outline"),
        ("live.review", "Open in Review", "Ctrl+Return|Ctrl+Enter", "clipboard-search-outline"),
    ),
    *commands(
        "live", "Live/Decide",
        ("live.approve", "Approve", "A", "check"),
        ("live.approve.run", "Approve this kind for the whole run", "Shift+A", "check-all"),
        ("live.approve.site", "Approve this kind on this site", "Ctrl+Shift+A", "check-decagram-outline"),
        ("live.deny", "Deny", "D", "close"),
        ("live.deny.run", "Deny this kind for the whole run", "Shift+D", "close-octagon-outline"),
        ("live.deny.site", "Deny this kind on this site", "Ctrl+Shift+D", "cancel"),
        ("live.edit", "Edit the next action…", "E", "pencil-outline"),
        ("live.answer", "Answer the agent, or give a reason…", "R", "reply-outline"),
    ),
    *commands(
        "live", "Live/Steer",
        ("live.hint", "Send a hint…", "H", "message-text-outline"),
        ("live.tip", "Write a tip", "T", "lightbulb-on-outline"),
        ("live.take_over", "Take over the page", "O", "hand-back-right-outline"),
    ),
    Command("live.release", "Hand the page back", ("Shift+Esc",), "live", "Live/Steer",
            "hand-back-right-off-outline", in_text=True),
    *commands(
        "live", "Live/Page",
        ("live.address", "Enter an address", "Ctrl+L", "form-textbox"),
        ("live.page.back", "Back", "Alt+Left", "arrow-left"),
        ("live.page.forward", "Forward", "Alt+Right", "arrow-right"),
        ("live.page.reload", "Reload the page", "Ctrl+R", "refresh"),
        ("live.page.start", "Open the start page", "Alt+Home", "home-outline"),
    ),
    *commands(
        "live", "Live/Hand back",
        ("live.finish", "Finished: the task is done", "Ctrl+Shift+E", "check-circle-outline"),
        ("live.finish.answer", "End the run with an answer…", "Ctrl+Shift+R", "comment-check-outline"),
        ("live.no_wall", "Not blocked: resume", "C|Ctrl+Shift+W", "gate-open"),
    ),
    *commands(
        "live", "Live/Steer",
        ("live.to_map", "Add the takeover to the map", "B", "map-plus"),
    ),
    *commands(
        "live", "Live/Flags",
        ("live.flag.right", "Flag is right", "Y", "flag-checkered"),
        ("live.flag.wrong", "Flag is wrong", "X", "flag-remove-outline"),
    ),
    *commands(
        "live", "Live/Knowledge",
        ("live.tip.next", "Next tip", "Ctrl+Down", "arrow-down-thin"),
        ("live.tip.previous", "Previous tip", "Ctrl+Up", "arrow-up-thin"),
        ("live.tip.mute", "Mute the tip for this run", "M", "volume-off"),
        ("live.tip.pin", "Pin the tip for this run", "P", "pin-outline"),
        ("live.tip.up", "Tip is useful", "V", "thumb-up-outline"),
        ("live.tip.down", "Tip is not useful", "Shift+V", "thumb-down-outline"),
        ("live.tip.open", "Open the tip in Knowledge", "Shift+T", "book-open-variant"),
    ),
    *commands(
        "live", "Live/Time",
        ("live.replay.back", "Previous step", ",|Left", "step-backward"),
        ("live.replay.on", "Following step", ".|Right", "step-forward"),
        ("live.replay.live", "Back to the live page", "L|End", "record-circle-outline"),
    ),
    *commands(
        "live", "Live",
        ("live.policy", "Intervention policy…", "F", "shield-account-outline"),
        ("live.quiet", "Mute notifications for an hour", "Q", "bell-sleep-outline"),
    ),
)  # fmt: skip
