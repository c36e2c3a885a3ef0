"""The commands of the Live perspective."""

from __future__ import annotations

from app.models.common.command import Command

LIVE_COMMANDS = (
    Command("live.new", "Start a run…", ("Ctrl+N",), "live", "Live", "robot-outline"),
    Command("live.tasks", "Start runs from a task file…", ("Ctrl+Shift+N",), "live", "Live", "file-tree"),
    Command("live.again", "The same task again, with these tips…", ("W",), "live", "Live", "repeat"),
    Command("live.next", "Next run", ("Down", "J"), "live", "Live", "arrow-down"),
    Command("live.previous", "Previous run", ("Up", "Shift+J"), "live", "Live", "arrow-up"),
    Command("live.open", "Look at the run", ("Return", "Enter"), "live", "Live", "magnify-expand"),
    Command("live.needy", "Go to the run that needs you most", ("N",), "live", "Live", "bell-ring-outline"),
    *(
        Command(
            f"live.open.{number}",
            f"Look at run {number}" if number else "Look at run 10, 20…: a further digit of its number",
            (str(number),),
            "live",
            "",
            "numeric",
        )
        for number in range(10)
    ),
    Command("live.sort", "Sort the wall now", ("F5",), "live", "Live", "sort-descending"),
    Command("live.back", "Back one level", ("Esc",), "live", "", "arrow-left", in_text=True),
    Command("live.pause", "Pause, or go on", ("Space",), "live", "Live/Run", "pause"),
    Command("live.step", "One step", ("S",), "live", "Live/Run", "debug-step-over"),
    Command("live.stop", "Stop the run", ("K",), "live", "Live/Run", "stop-circle-outline"),
    Command(
        "live.pause_all",
        "Pause every run",
        ("Shift+Space",),
        "live",
        "Live/Run",
        "pause-octagon-outline",
    ),
    Command(
        "live.dismiss",
        "Take the run off the wall",
        ("Del", "Backspace"),
        "live",
        "Live/Run",
        "eye-off-outline",
    ),
    Command(
        "live.review",
        "Open in Review",
        ("Ctrl+Return", "Ctrl+Enter"),
        "live",
        "Live/Run",
        "clipboard-search-outline",
    ),
    Command("live.approve", "Approve", ("A",), "live", "Live/Decide", "check"),
    Command(
        "live.approve.run",
        "Approve this kind for the whole run",
        ("Shift+A",),
        "live",
        "Live/Decide",
        "check-all",
    ),
    Command(
        "live.approve.site",
        "Approve this kind on this site",
        ("Ctrl+Shift+A",),
        "live",
        "Live/Decide",
        "check-decagram-outline",
    ),
    Command("live.deny", "Deny", ("D",), "live", "Live/Decide", "close"),
    Command(
        "live.deny.run",
        "Deny this kind for the whole run",
        ("Shift+D",),
        "live",
        "Live/Decide",
        "close-octagon-outline",
    ),
    Command(
        "live.deny.site", "Deny this kind on this site", ("Ctrl+Shift+D",), "live", "Live/Decide", "cancel"
    ),
    Command("live.edit", "Edit the next action…", ("E",), "live", "Live/Decide", "pencil-outline"),
    Command(
        "live.answer", "Answer the agent, or give a reason…", ("R",), "live", "Live/Decide", "reply-outline"
    ),
    Command("live.hint", "Send a hint…", ("H",), "live", "Live/Steer", "message-text-outline"),
    Command("live.tip", "Write it down as a tip", ("T",), "live", "Live/Steer", "lightbulb-on-outline"),
    Command("live.take_over", "Take over the page", ("O",), "live", "Live/Steer", "hand-back-right-outline"),
    Command(
        "live.release",
        "Hand the page back",
        ("Shift+Esc",),
        "live",
        "Live/Steer",
        "hand-back-right-off-outline",
        in_text=True,
    ),
    Command("live.address", "Type an address", ("Ctrl+L",), "live", "Live/Page", "form-textbox"),
    Command("live.page.back", "Back", ("Alt+Left",), "live", "Live/Page", "arrow-left"),
    Command("live.page.forward", "Forward", ("Alt+Right",), "live", "Live/Page", "arrow-right"),
    Command("live.page.reload", "Reload the page", ("Ctrl+R",), "live", "Live/Page", "refresh"),
    Command(
        "live.page.start",
        "Open the start page",
        ("Alt+Home",),
        "live",
        "Live/Page",
        "home-outline",
    ),
    Command(
        "live.finish",
        "Finished: the task was done by hand",
        ("Ctrl+Shift+E",),
        "live",
        "Live/Hand back",
        "check-circle-outline",
    ),
    Command(
        "live.finish.answer",
        "End the run with the answer…",
        ("Ctrl+Shift+R",),
        "live",
        "Live/Hand back",
        "comment-check-outline",
    ),
    Command(
        "live.no_wall",
        "This is no wall: go on",
        ("C", "Ctrl+Shift+W"),
        "live",
        "Live/Hand back",
        "gate-open",
    ),
    Command("live.to_map", "Put the takeover into the map", ("B",), "live", "Live/Steer", "map-plus"),
    Command("live.flag.right", "The flag is right", ("Y",), "live", "Live/Flags", "flag-checkered"),
    Command("live.flag.wrong", "The flag is wrong", ("X",), "live", "Live/Flags", "flag-remove-outline"),
    Command("live.tip.next", "Next tip in force", ("I",), "live", "Live/Knowledge", "arrow-down-thin"),
    Command(
        "live.tip.previous", "Previous tip in force", ("Shift+I",), "live", "Live/Knowledge", "arrow-up-thin"
    ),
    Command("live.tip.mute", "Mute the tip for this run", ("M",), "live", "Live/Knowledge", "volume-off"),
    Command("live.tip.pin", "Pin the tip for this run", ("P",), "live", "Live/Knowledge", "pin-outline"),
    Command("live.tip.up", "The tip is useful", ("V",), "live", "Live/Knowledge", "thumb-up-outline"),
    Command(
        "live.tip.down", "The tip is not useful", ("Shift+V",), "live", "Live/Knowledge", "thumb-down-outline"
    ),
    Command(
        "live.tip.open",
        "Open the tip in Knowledge",
        ("Shift+T",),
        "live",
        "Live/Knowledge",
        "book-open-variant",
    ),
    Command("live.replay.back", "One step back in time", (",", "Left"), "live", "Live/Time", "step-backward"),
    Command("live.replay.on", "One step on in time", (".", "Right"), "live", "Live/Time", "step-forward"),
    Command(
        "live.replay.live",
        "Back to the page as it is now",
        ("L", "End"),
        "live",
        "Live/Time",
        "record-circle-outline",
    ),
    Command(
        "live.policy", "When to mark, tell, pause or ask…", ("F",), "live", "Live", "shield-account-outline"
    ),
    Command("live.quiet", "Quiet for an hour", ("Q",), "live", "Live", "bell-sleep-outline"),
)
