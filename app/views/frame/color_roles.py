"""The colours by role; the only place where colours are written down.

Text roles (text, muted, accent, ok, warn, fail, live) have a contrast of 4.5 to 1 against surface, raised and every
tint of their own scheme; severities differ in lightness too, and always appear beside a word or a shape.
"""

from __future__ import annotations

ROLES = ("surface", "raised", "text", "muted", "line", "accent", "ok", "warn", "fail", "live")

SCHEMES: dict[str, dict[str, str]] = {
    "light": {
        "surface": "#F5F7F8",
        "raised": "#FFFFFF",
        "text": "#16202A",
        "muted": "#536069",
        "line": "#DCE2E6",
        "accent": "#0F766E",
        "ok": "#067647",
        "warn": "#A8420A",
        "fail": "#B42318",
        "live": "#1D4FB8",
    },
    "dark": {
        "surface": "#12171C",
        "raised": "#1A2127",
        "text": "#E4E9ED",
        "muted": "#9BA7B1",
        "line": "#2C363E",
        "accent": "#2DD4BF",
        "ok": "#47CD89",
        "warn": "#FDB022",
        "fail": "#FB8277",
        "live": "#84B4FF",
    },
    "contrast_light": {
        "surface": "#FFFFFF",
        "raised": "#FFFFFF",
        "text": "#000000",
        "muted": "#262626",
        "line": "#000000",
        "accent": "#00504A",
        "ok": "#00451F",
        "warn": "#6B2500",
        "fail": "#8A0000",
        "live": "#002C8C",
    },
    "contrast_dark": {
        "surface": "#000000",
        "raised": "#000000",
        "text": "#FFFFFF",
        "muted": "#E6E6E6",
        "line": "#FFFFFF",
        "accent": "#3DF5E0",
        "ok": "#7CFFB2",
        "warn": "#FFD24D",
        "fail": "#FFA69E",
        "live": "#A8CCFF",
    },
}

TINTED = ("accent", "ok", "warn", "fail", "live")
"""Roles that also come as a background, ``tint_ok``."""

TINT = {"light": 0.08, "dark": 0.14, "contrast_light": 0.06, "contrast_dark": 0.16}


def derived(scheme: str) -> dict[str, str]:
    """Return all roles of a scheme with those that follow from them.

    ``tint_*`` are backgrounds, ``hover`` and ``selected`` those of rows, ``edge`` the border of a control,
    ``on_accent`` the text on an accent background.
    """
    base = SCHEMES[scheme]
    roles = dict(base)
    for name in TINTED:
        roles[f"tint_{name}"] = blend(base[name], base["raised"], TINT[scheme])
    roles["hover"] = blend(base["text"], base["raised"], 0.05)
    roles["selected"] = blend(base["accent"], base["raised"], TINT[scheme] + 0.03)
    roles["edge"] = (
        base["line"] if scheme.startswith("contrast") else blend(base["muted"], base["raised"], 0.66)
    )
    roles["on_accent"] = base["raised"] if scheme.endswith("light") else "#06201D"
    return roles


def blend(over: str, under: str, share: float) -> str:
    """Return ``over`` laid on ``under`` with this opacity in [0, 1]."""
    mixed = (round(o * share + u * (1 - share)) for o, u in zip(_rgb(over), _rgb(under), strict=True))
    return "#" + "".join(f"{value:02X}" for value in mixed)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    parts = [value / 255 for value in _rgb(color)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
