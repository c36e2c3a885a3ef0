"""The commands of the Map perspective."""

from __future__ import annotations

from app.models.common.command import Command

MAP_COMMANDS = (
    Command("map.find", "Search states", ("F",), "map", "Map", "text-search"),
    Command("map.filter", "Filter states", ("/",), "map", "Map", "filter-variant"),
    Command("map.site", "Choose a site", ("S",), "map", "Map", "web"),
    Command("map.table", "Table of states", ("T",), "map", "Map", "table"),
    Command("map.next", "Next state in the table", ("J",), "map", "Map", "arrow-down"),
    Command("map.previous", "Previous state in the table", ("K",), "map", "Map", "arrow-up"),
    Command("map.fit", "Show the whole map", ("0",), "map", "Map/View", "fit-to-screen-outline"),
    Command("map.zoom.in", "Zoom in", ("+", "="), "map", "Map/View", "magnify-plus-outline"),
    Command("map.zoom.out", "Zoom out", ("-",), "map", "Map/View", "magnify-minus-outline"),
    Command("map.center", "Center the state", ("C",), "map", "Map/View", "crosshairs"),
    Command("map.legend", "Legend", ("I",), "map", "Map/View", "map-legend"),
    Command("map.links", "Show untried links", ("V",), "map", "Map/View", "link-variant"),
    Command("map.tidy", "Lay out the map again", ("Shift+T",), "map", "Map/View", "broom"),
    Command("map.open", "Open the state's panel", ("Return", "Enter"), "map", "Map/State", "dock-right"),
    Command("map.path", "Path from here", ("P",), "map", "Map/State", "map-marker-path"),
    Command(
        "map.path.home", "Path from the home page", ("Shift+P",), "map", "Map/State", "home-export-outline"
    ),
    Command("map.go", "Navigate there", ("Ctrl+Return", "Ctrl+Enter"), "map", "Map/State", "run-fast"),
    Command("map.close_browser", "Close the live browser", (), "map", "Map/State", "close-box-outline"),
    Command("map.merge", "Merge the selected states", ("M",), "map", "Map/State", "call-merge"),
    Command("map.split", "Split the state", ("Shift+M",), "map", "Map/State", "call-split"),
    Command("map.copy_address", "Copy the state's address", ("Y",), "map", "Map/State", "content-copy"),
    Command("map.explore", "Explore a site…", ("E",), "map", "Map/Exploration", "compass-outline"),
    Command("map.pause", "Pause or resume exploring", ("Space",), "map", "Map/Exploration", "play-pause"),
    Command("map.stop", "Stop exploring", ("X",), "map", "Map/Exploration", "stop"),
    Command("map.verify", "Verify the map", (), "map", "Map/Exploration", "shield-check-outline"),
    Command("map.update", "Verify and explore what is new", (), "map", "Map/Exploration", "update"),
    Command("map.from_runs", "Make a map from runs", (), "map", "Map/Exploration", "source-branch"),
    Command("map.lab", "Block-list editor", ("B",), "map", "Map/Exploration", "flask-outline"),
    Command("map.velocity", "Discovery velocity", ("D",), "map", "Map/Exploration", "chart-bar"),
    Command("map.back", "Back one level", ("Esc",), "map", "", "arrow-left", in_text=True),
    # ---- the panels around the map
    Command("map.log_in", "Log in by hand…", ("L",), "map", "Map/Exploration", "login"),
    Command(
        "map.logged_in",
        "I am logged in: save the log-in",
        ("Shift+L",),
        "map",
        "Map/Exploration",
        "account-check-outline",
    ),
    Command(
        "map.skipped", "Why elements were skipped", ("W",), "map", "Map/Exploration", "help-circle-outline"
    ),
    Command(
        "map.panel.elements",
        "Elements of the state",
        ("1",),
        "map",
        "Map/Panel",
        "cursor-default-click-outline",
    ),
    Command("map.panel.out", "Transitions out of the state", ("2",), "map", "Map/Panel", "arrow-right"),
    Command("map.panel.in", "Transitions into the state", ("3",), "map", "Map/Panel", "arrow-left"),
    Command(
        "map.panel.runs",
        "Runs that visited the state",
        ("4",),
        "map",
        "Map/Panel",
        "clipboard-search-outline",
    ),
    Command(
        "map.panel.tips", "Tips that apply to the state", ("5",), "map", "Map/Panel", "book-open-variant"
    ),
    Command("map.panel.about", "About the state", ("6",), "map", "Map/Panel", "information-outline"),
    Command(
        "map.lab.save", "Save the rules for the site", ("Ctrl+S",), "map", "Map/Rules", "content-save-outline"
    ),
    Command(
        "map.lab.builtin", "Load the built-in rules and examples", (), "map", "Map/Rules", "package-variant"
    ),
    Command("map.lab.stored", "Revert to the saved rules", (), "map", "Map/Rules", "backup-restore"),
    Command("map.lab.next", "Next element the rules stop", ("N",), "map", "Map/Rules", "debug-step-over"),
    Command(
        "map.lab.previous",
        "Previous element the rules stop",
        ("Shift+N",),
        "map",
        "Map/Rules",
        "debug-step-into",
    ),
)
