"""Chromium's sandbox: whether this machine allows it, and what to tell the user if it does not.

Playwright starts Chromium without its sandbox unless asked for it. It is always requested here; if the system refuses
it, the browser starts without and one sentence says so, unless the settings forbid that.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from app.errors import SiteloreError

VARIABLE = "SITELORE_SANDBOX"
ROOT = "Chromium does not allow it for root"
NO_NAMESPACES = "this system does not allow unprivileged user namespaces"

_REFUSED = (
    "sandboxing failed",  # Playwright's summary
    "no usable sandbox",
    "failed to move to new namespace",
    "setuid sandbox",
    "crbug.com/638180",
    "crbug.com/357670",
)

_known: dict[str, str] = {}


class NoSandbox(SiteloreError):
    """There is no sandbox here, and the settings forbid a browser without; ``why`` is the system's reason."""

    why = ""


def refusal_reason(error: str) -> str:
    """Return why the sandbox was refused, from the message of a failed start; "" if it failed for another reason."""
    words = error.lower()
    if not any(phrase in words for phrase in _REFUSED):
        return ""
    return ROOT if "running as root" in words else NO_NAMESPACES


def known_refusal(candidate: str) -> str:
    """Return why this browser gets no sandbox here, if that is known without trying; else ""."""
    return _known.get(candidate) or (ROOT if is_root() else "")


def remember_refusal(candidate: str, why: str) -> None:
    """Remember for the life of this process that a browser starts only without its sandbox."""
    _known[candidate] = why


def is_root() -> bool:
    """Whether Chromium takes this process for root's, on a system where that matters."""
    return sys.platform.startswith("linux") and os.getuid() == 0


def no_sandbox_warning(why: str) -> str:
    """Return the warning for a browser without a sandbox; "" for one that has it."""
    if not why:
        return ""
    return (
        f"the browser runs without its sandbox ({why}): a page that exploits the browser can do everything you can;"
        f" {remedy(why)}"
    )


def sandbox_required(why: str) -> NoSandbox:
    """Return the error for settings that forbid a browser without a sandbox."""
    error = NoSandbox(
        f"the browser can't have its sandbox ({why}), and {VARIABLE}=required forbids to start it without;"
        f" {remedy(why)}"
    )
    error.why = why
    return error


def remedy(why: str, kernel: Path = Path("/proc/sys/kernel")) -> str:
    """Return what the user can do about it, by what the system reports of itself."""
    if why == ROOT:
        return "start Sitelore as an ordinary user"
    if _number(kernel / "apparmor_restrict_unprivileged_userns") == 1:
        return "allow it with `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
    if _number(kernel / "unprivileged_userns_clone") == 0:
        return "allow it with `sudo sysctl -w kernel.unprivileged_userns_clone=1`"
    return (
        "in a container, allow user namespaces (with Docker: `--security-opt seccomp=PROFILE`, a profile that"
        " permits clone and unshare)"
    )


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None
