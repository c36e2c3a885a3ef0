"""The commands of the Map perspective."""

from __future__ import annotations

from app.models.common.command import Command, commands

MAP_COMMANDS = (
    *commands(
        "map", "Map",
        ("map.find", "Search states", "F", "text-search"),
        ("map.filter", "Filter states", "/", "filter-variant"),
        ("map.site", "Choose a site", "S", "web"),
        ("map.table", "Table of states", "T", "table"),
        ("map.next", "Next state in the table", "J", "arrow-down"),
        ("map.previous", "Previous state in the table", "K", "arrow-up"),
    ),
    *commands(
        "map", "Map/View",
        ("map.fit", "Show the whole map", "0", "fit-to-screen-outline"),
        ("map.zoom.in", "Zoom in", "+|=", "magnify-plus-outline"),
        ("map.zoom.out", "Zoom out", "-", "magnify-minus-outline"),
        ("map.center", "Center the state", "C", "crosshairs"),
        ("map.legend", "Legend", "I", "map-legend"),
        ("map.links", "Show untried links", "V", "link-variant"),
        ("map.atlas", "Atlas of failures and tips", "A", "map-marker-alert-outline"),
        ("map.tidy", "Lay out the map again", "Shift+T", "broom"),
    ),
    *commands(
        "map", "Map/State",
        ("map.open", "Open the state's panel", "Return|Enter", "dock-right"),
        ("map.path", "Path from here", "P", "map-marker-path"),
        ("map.path.home", "Path from the home page", "Shift+P", "home-export-outline"),
        ("map.go", "Navigate there", "Ctrl+Return|Ctrl+Enter", "run-fast"),
        ("map.close_browser", "Close the live browser", "", "close-box-outline"),
        ("map.merge", "Merge the selected states", "M", "call-merge"),
        ("map.split", "Split the state", "Shift+M", "call-split"),
        ("map.failures", "Review the page's failures", "R", "clipboard-alert-outline"),
        ("map.copy_address", "Copy the state's address", "Y", "content-copy"),
    ),
    *commands(
        "map", "Map/Exploration",
        ("map.explore", "Explore a site…", "E", "compass-outline"),
        ("map.pause", "Pause or resume exploring", "Space", "play-pause"),
        ("map.stop", "Stop exploring", "X", "stop"),
        ("map.verify", "Verify the map", "Shift+F", "shield-check-outline"),
        ("map.update", "Verify and explore what is new", "Shift+E", "update"),
        ("map.changes", "What changed since the last exploration", "H", "file-compare"),
        ("map.schedule", "Explore again on a schedule…", "", "calendar-clock"),
        ("map.from_runs", "Make a map from runs", "", "source-branch"),
        ("map.lab", "Block-list editor", "B", "flask-outline"),
        ("map.velocity", "Discovery velocity", "D", "chart-bar"),
    ),
    Command("map.back", "Back one level", ("Esc",), "map", "", "arrow-left", in_text=True),
    *commands(
        "map", "Map/Exploration",
        ("map.log_in", "Log in by hand…", "L", "login"),
        ("map.logged_in", "I am logged in: save the log-in", "Shift+L", "account-check-outline"),
        ("map.skipped", "Why elements were skipped", "W", "help-circle-outline"),
    ),
    *commands(
        "map", "Map/Panel",
        ("map.panel.elements", "Elements of the state", "1", "cursor-default-click-outline"),
        ("map.panel.out", "Transitions out of the state", "2", "arrow-right"),
        ("map.panel.in", "Transitions into the state", "3", "arrow-left"),
        ("map.panel.runs", "Runs that visited the state", "4", "clipboard-search-outline"),
        ("map.panel.tips", "Tips that apply to the state", "5", "book-open-variant"),
        ("map.panel.about", "About the state", "6", "information-outline"),
    ),
    *commands(
        "map", "Map/Rules",
        ("map.lab.save", "Save the rules for the site", "Ctrl+S", "content-save-outline"),
        ("map.lab.builtin", "Load the built-in rules and examples", "", "package-variant"),
        ("map.lab.stored", "Revert to the saved rules", "", "backup-restore"),
        ("map.lab.next", "Next element the rules stop", "N", "debug-step-over"),
        ("map.lab.previous", "Previous element the rules stop", "Shift+N", "debug-step-into"),
    ),
)  # fmt: skip
