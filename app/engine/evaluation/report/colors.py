"""Colours of the report's page, by role.

Better and worse are blue and orange, which people of every colour vision tell apart; each also has a shape and a word.
Every text role has a contrast of 4.5 to 1 against each of the three backgrounds of its scheme.
"""

from __future__ import annotations

BACKGROUNDS = ("page", "panel", "band")
TEXTS = ("ink", "muted", "link", "better", "worse")

REPORT_COLORS: dict[str, dict[str, str]] = {
    "light": {
        "page": "#ffffff",
        "panel": "#f5f7f9",
        "band": "#e9eef2",
        "line": "#cdd5dc",
        "ink": "#17212b",
        "muted": "#505c67",
        "link": "#0b5394",
        "better": "#0b5aa8",
        "worse": "#9c4400",
    },
    "dark": {
        "page": "#12171c",
        "panel": "#1a2127",
        "band": "#242d35",
        "line": "#3a4650",
        "ink": "#e4e9ed",
        "muted": "#a5b1ba",
        "link": "#8cc1f5",
        "better": "#7dbbf7",
        "worse": "#f5a55c",
    },
}


def css_variables(scheme: str) -> str:
    """Return the colours of a scheme as declarations."""
    return " ".join(f"--{role}: {color};" for role, color in REPORT_COLORS[scheme].items())
