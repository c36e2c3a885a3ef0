"""System requirements: Qt's shared libraries, fonts and a browser.  Standard library only.

Looks first and installs only what is missing; where that is not allowed it returns the command to type.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libatomic.so.1": "libatomic1",
}
"""Libraries that QtGui and QtNetwork link against even without a display, and playwright's driver."""

WINDOW_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""Libraries that the xcb platform plugin adds for a window on X11."""

BROWSERS = (
    "google-chrome-stable",
    "google-chrome",
    "chromium",
    "chromium-browser",
    "microsoft-edge-stable",
    "microsoft-edge",
)

FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


@dataclass(frozen=True)
class Missing:
    """Debian packages that are missing, and whether a browser is."""

    packages: tuple[str, ...]
    browser: bool

    @property
    def any(self) -> bool:
        """Whether anything is missing."""
        return bool(self.packages) or self.browser


def missing() -> Missing:
    """Check libraries, fonts and browser; takes some 20 ms."""
    packages: list[str] = []
    if sys.platform.startswith("linux"):
        window = WINDOW_LIBRARIES if has_display() else {}
        packages += [package for name, package in (LIBRARIES | window).items() if not _loads(name)]
        if not _has_fonts():
            packages.append("fonts-dejavu-core")
    return Missing(tuple(packages), not has_browser())


OLDEST_GLIBC = (2, 34)
"""The C library that Qt's packages are built for; the doctor checks the same."""


def too_old() -> str:
    """Return why Qt's packages can't be installed on this system, "" if they can."""
    name, version = platform.libc_ver()
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if name != "glibc" or not numbers or numbers >= OLDEST_GLIBC:
        return ""
    newer = "Debian 12, Ubuntu 22.04, RHEL 9 or a newer one"
    return f"this system has glibc {version}, and Qt needs 2.34 or newer: {newer}"


def has_display() -> bool:
    """Whether a window can be opened; Windows and macOS always can."""
    if not sys.platform.startswith("linux"):
        return True
    if os.environ.get("QT_QPA_PLATFORM", "") in {"offscreen", "minimal"}:
        return False
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def has_browser() -> bool:
    """Whether a Chromium of any maker is installed; that it starts is checked by ``sitelore doctor``."""
    setting = os.environ.get("SITELORE_BROWSER", "")
    if setting and (Path(setting).exists() or shutil.which(setting)):
        return True
    return any(shutil.which(name) for name in BROWSERS) or any(
        place.exists() for place in _installed_places()
    )


def install(packages: list[str]) -> str:
    """Install Debian packages; return "" on success, else the reason."""
    prefix = root_prefix()
    if prefix is None or not shutil.which("apt-get"):
        return "not allowed to install system packages here"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    keep = ["env", "DEBIAN_FRONTEND=noninteractive"] if prefix else []
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        done = subprocess.run(
            [*prefix, *keep, "apt-get", *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode and command[0] == "install":
            last = [line for line in done.stdout.splitlines() if line.strip()][-1:]
            return f"apt-get {command[0]} failed: {' '.join(last)}"
    _refresh_loader_cache()
    return ""


def root_prefix() -> list[str] | None:
    """Return the prefix of a command that needs root: nothing, ``sudo -n``, or None where it is not allowed."""
    if not hasattr(os, "geteuid"):
        return None
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
        return ["sudo", "-n"] if allowed else None
    return None


def command_to_type(packages: list[str]) -> str:
    """Return the line a person pastes where installing is not allowed."""
    return f"sudo apt-get update && sudo apt-get install -y --no-install-recommends {' '.join(packages)}"


def browser_package() -> str:
    """Return the Debian package of a browser; Ubuntu's ``chromium`` is a stub for another package manager."""
    return "chromium"


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _has_fonts() -> bool:
    for folder in FONT_FOLDERS:
        place = Path(folder).expanduser()
        if place.is_dir() and any(found.suffix in {".ttf", ".otf", ".ttc"} for found in place.rglob("*")):
            return True
    return False


def _installed_places() -> list[Path]:
    """Return the locations of browsers that are not on PATH: playwright's own, and those of Windows and macOS."""
    own = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if sys.platform == "win32":
        roots = [
            Path(os.environ[name])
            for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
            if name in os.environ
        ]
        programs = ("Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe")
        places = [root / program for root in roots for program in programs]
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "ms-playwright"
    elif sys.platform == "darwin":
        names = ("Google Chrome", "Microsoft Edge", "Chromium")
        places = [Path(f"/Applications/{name}.app/Contents/MacOS/{name}") for name in names]
        cache = Path.home() / "Library/Caches/ms-playwright"
    else:
        places = []
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ms-playwright"
    return [*places, *(Path(own) if own else cache).glob("chromium*/INSTALLATION_COMPLETE")]


def _refresh_loader_cache() -> None:
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    prefix = root_prefix()
    if prefix is not None and Path(ldconfig).exists():
        subprocess.run([*prefix, ldconfig], capture_output=True, check=False)
