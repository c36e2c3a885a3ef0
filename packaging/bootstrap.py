"""Makes a checkout run: ``.venv`` with the pinned packages, system libraries, a browser; then runs or tests it.

    python packaging/bootstrap.py setup|run|test|check|bench|mutation|lock

Standard library only, Python 3.11 or newer, Linux, Windows and macOS.  A second call finds everything in place and
starts at once.  Exit codes: 0 done, 1 a step failed, 2 wrong usage or a Python that is too old.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this file is what tells it to an older one
    sys.exit(
        "Sitelore needs Python 3.11 or newer; this is "
        + sys.version.split()[0]
        + ". Run: python3.11 "
        + __file__
    )

import tomllib

import machine
from beside import Beside

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "packaging" / "requirements.lock"
STAMP = VENV / ".sitelore-stamp"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
TORCH = "torch==2.13.0+cpu" if sys.platform.startswith("linux") else "torch==2.13.0"
TORCH_INDEX = "SITELORE_TORCH_INDEX"
BUILD_TOOLS = ["hatchling", "editables", "uv"]
LOCAL_CUDA = re.compile(r"^(nvidia-|cuda-|triton\b)")

_began = time.monotonic()
_steps = itertools.count(1)


class Failed(Exception):
    """A step that can't go on, in words for the person at the keyboard."""


def say(text: str) -> None:
    """A line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - _began:6.1f} s] {text}", flush=True)


def step(text: str) -> None:
    """A numbered line of progress."""
    say(f"{next(_steps)}. {text}")


# ---------------------------------------------------------------------------------------------- the environment


def ensure(*, dev: bool) -> None:
    """Bring the checkout's environment up to date; returns at once when it is."""
    stamp = _read_stamp()
    wanted = _fingerprint()
    current = stamp.get("fingerprint") == wanted and (stamp.get("dev") or not dev) and PYTHON.exists()
    ensure_machine()
    if current:
        if not stamp.get("encoder"):
            say(f"the environment is ready, without the encoder's exporter ({_torch_remedy()})")
        return
    ensure_venv()
    tool = Installer()
    install_packages(tool, dev=dev or bool(stamp.get("dev")))
    encoder = install_encoder(tool)
    stamp = {"fingerprint": wanted, "dev": dev or bool(stamp.get("dev")), "encoder": encoder}
    STAMP.write_text(json.dumps(stamp), "utf-8")
    say("the environment is ready")


def ensure_machine() -> None:
    """System libraries, fonts and a browser: installed where that is allowed, else told in one message."""
    lacking = machine.missing()
    if not lacking.any:
        return
    packages = [*lacking.packages, *([machine.browser_package()] if lacking.browser else [])]
    if not sys.platform.startswith("linux"):
        say(f"no browser found: install Chrome or Edge, or run: {PYTHON} -m playwright install chromium")
        return
    step(f"system packages: {', '.join(packages)}")
    reason = machine.install(packages)
    if reason:
        say(f"{reason}. To have them, type:\n    {machine.command_to_type(packages)}")


def ensure_venv() -> None:
    """Make ``.venv``; on a Debian without ``python3-venv`` that package comes first."""
    if PYTHON.exists() and _works([str(PYTHON), "-m", "pip", "--version"]):
        return
    step(f"virtual environment in {VENV} with Python {sys.version.split()[0]}")
    make = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    if _works(make):
        return
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    reason = "the standard library's venv failed"
    if sys.platform.startswith("linux"):
        step(f"system package {package}, which makes virtual environments")
        reason = machine.install([package])
    if reason:
        raise Failed(f"no virtual environment: {reason}. Type:\n    {machine.command_to_type([package])}")
    if not _works(make):
        raise Failed(f"no virtual environment: `{' '.join(make)}` fails; run it to see why")


class Installer:
    """Installs into ``.venv`` with uv, which is several times quicker, else with pip."""

    def __init__(self) -> None:
        self._uv = self._find_uv()

    def install(self, *arguments: str) -> bool:
        """``pip install`` with these arguments; False when it failed (its own output has said why)."""
        if self._uv:
            command = [str(self._uv), "pip", "install", "--quiet", "--python", str(PYTHON), *arguments]
            if self.run(command, env=os.environ | self._indexes()):
                return True
            say("uv could not do it; trying pip")
            self._uv = None
        return self.pip(*arguments)

    def pip(self, *arguments: str, quiet: bool = False) -> bool:
        """With pip itself, which knows every index and folder that the user has set up for it."""
        command = [str(PYTHON), "-m", "pip", "install", "-qq", "--no-warn-script-location", *arguments]
        return self.run(command, quiet=quiet)

    @staticmethod
    def run(command: list[str], env: dict[str, str] | None = None, *, quiet: bool = False) -> bool:
        """Whether the command ended well; it writes to this console unless its failure is expected."""
        out = subprocess.DEVNULL if quiet else None
        return subprocess.run(command, env=env, cwd=ROOT, stdout=out, stderr=out, check=False).returncode == 0

    def _find_uv(self) -> Path | None:
        if os.environ.get("SITELORE_NO_UV"):
            return None
        uv = BIN / ("uv.exe" if os.name == "nt" else "uv")
        if not uv.exists():
            step("uv, to install quickly")
            if not self.pip("-c", str(LOCK), "uv"):
                return None
        return uv if _works([str(uv), "--version"]) else None

    @staticmethod
    def _indexes() -> dict[str, str]:
        """What pip is set to, in uv's words, so that both ask the same places with the same certificates."""
        listed = subprocess.run(
            [str(PYTHON), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
        )
        settings = dict(
            re.findall(r"^(?:global|install|site|user|:env:)\.([\w-]+)='(.*)'$", listed.stdout, re.MULTILINE)
        )
        words = {
            "index-url": "UV_DEFAULT_INDEX",
            "extra-index-url": "UV_INDEX",
            "find-links": "UV_FIND_LINKS",
        }
        found = {uv: settings[pip] for pip, uv in words.items() if settings.get(pip)}
        if settings.get("cert"):
            found["SSL_CERT_FILE"] = settings["cert"]
        found["UV_FIND_LINKS"] = ",".join(found.get("UV_FIND_LINKS", "").split())
        found["UV_LINK_MODE"] = "copy"
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
        return {name: value for name, value in found.items() if value and name not in os.environ}


def install_packages(tool: Installer, *, dev: bool) -> None:
    """Everything but torch, at the versions of the lock; then the checkout itself, editable."""
    project = _pyproject()["project"]
    wanted = [
        *project["dependencies"],
        *BUILD_TOOLS,
        *(project["optional-dependencies"]["dev"] if dev else []),
    ]
    step(f"{len(wanted)} packages and what they need{', with the tools for tests' if dev else ''}")
    if not tool.install("-c", str(LOCK), *wanted):
        raise Failed(
            "the packages could not be installed; is a package index in reach? (see the lines above)"
        )
    step("sitelore itself, editable")
    if not tool.install("--no-deps", "--no-build-isolation", "-e", str(ROOT)):
        raise Failed("sitelore itself could not be installed (see the lines above)")


def install_encoder(tool: Installer) -> bool:
    """CPU torch and what exports the encoder; without the CPU build it is left out, never replaced by CUDA's."""
    step(f"{TORCH}, to export the encoder")
    index = os.environ.get(TORCH_INDEX, "")
    source = ["--extra-index-url", index] if index else []
    # One by one: pip finds a wheel in a local folder that uv was not told of, and the build is checked before its rest.
    if not _torch_is_in() and not tool.pip("--no-deps", *source, TORCH, quiet=True):
        say(f"no CPU build of torch: going on without it, so retrieval has two routes ({_torch_remedy()})")
        return False
    extras = _pyproject()["project"]["optional-dependencies"]["encoder"]
    rest = [requirement for requirement in extras if not requirement.startswith("torch")]
    if not tool.install("-c", str(LOCK), *_torch_needs(), *rest):
        say("the encoder's packages could not be installed: going on without, so retrieval has two routes")
        return False
    return True


def _torch_is_in() -> bool:
    return _works([str(PYTHON), "-c", "import torch, sys; sys.exit(torch.version.cuda is not None)"])


def _torch_needs() -> list[str]:
    """What the installed torch asks for, without itself: the lock then gives the versions."""
    code = "from importlib.metadata import requires; print(*requires('torch'), sep='\\n')"
    listed = subprocess.run(
        [str(PYTHON), "-c", code], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    return [line for line in listed if "extra ==" not in line and not LOCAL_CUDA.match(line)]


def _torch_remedy() -> str:
    return f"to have the third, name an index with {TORCH} in {TORCH_INDEX} and run this again"


def _fingerprint() -> str:
    parts = [
        (ROOT / "pyproject.toml").read_bytes(),
        LOCK.read_bytes(),
        sys.version.encode(),
        str(ROOT).encode(),
    ]
    return hashlib.sha256(b"\0".join([*parts, os.environ.get(TORCH_INDEX, "").encode()])).hexdigest()


def _read_stamp() -> dict[str, object]:
    try:
        return json.loads(STAMP.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _pyproject() -> dict[str, dict]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


# ---------------------------------------------------------------------------------------------- what it is for


def run() -> int:
    """Open the workbench on the demo workspace; without a display leave pictures of it instead."""
    ensure(dev=False)
    sitelore = [str(PYTHON), "-m", "app"]
    if machine.has_display():
        step("the workbench, on the demo workspace")
        return subprocess.call([*sitelore, "demo"], cwd=ROOT)
    out = ROOT / "demo-out"
    step(f"there is no display: the demo runs without a window; pictures of every view go to {out}")
    return subprocess.call([*sitelore, "demo", "--headless", "--out", str(out)], cwd=ROOT, env=_quiet())


def check() -> int:
    """Lint, format, imports and types."""
    ensure(dev=True)
    return _stages(_lint_stages())


def test() -> int:
    """Everything ``check`` does, and the tests: those with a browser beside the others, for they mostly wait for it."""
    ensure(dev=True)
    run = [str(PYTHON), "-m", "pytest", "-q"]
    without = [*run, *(f"--ignore={folder}" for folder in WITH_A_BROWSER)]
    browser = [*run, "-o", "cache_dir=.pytest_cache/browser", *WITH_A_BROWSER]
    again = {"pytest": [*without, *LOST_ONCE], "pytest, browser": [*browser, *LOST_ONCE]}
    return _stages([*_lint_stages(), ("pytest", without)], again, beside=("pytest, browser", browser))


def bench() -> int:
    """Every benchmark, one after the other."""
    ensure(dev=True)
    return subprocess.call([str(PYTHON), "-m", "benchmarks"], cwd=ROOT, env=_quiet())


def mutation() -> int:
    """Break the written rules one clause at a time in a copy, and see whether the tests notice."""
    ensure(dev=True)
    return subprocess.call([str(PYTHON), "-m", "tests.mutation"], cwd=ROOT, env=_quiet())


def setup() -> int:
    """Only the environment."""
    ensure(dev=True)
    return 0


def lock() -> int:
    """Write ``requirements.lock`` anew: the newest versions that fit, for every system, with no CUDA in it."""
    ensure_venv()
    tool = Installer()
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder) / "build.in"
        build.write_text("\n".join(BUILD_TOOLS), "utf-8")
        command = [
            str(BIN / "uv"),
            "pip",
            "compile",
            "--universal",
            "--python-version",
            "3.11",
            "--no-header",
        ]
        command += [
            "--no-annotate",
            "--fork-strategy",
            "fewest",
            "--extra",
            "encoder",
            "--extra",
            "dev",
            "--upgrade",
        ]
        made = subprocess.run(
            [*command, "pyproject.toml", str(build)], cwd=ROOT, capture_output=True, text=True, check=False
        )
    if made.returncode:
        raise Failed(f"the lock could not be made: {made.stderr}")
    write_lock(made.stdout)
    del tool
    return 0


def write_lock(compiled: str) -> None:
    """Take CUDA out of what was compiled, and let Linux have no torch but the CPU build."""
    lines = [line for line in compiled.splitlines() if not LOCAL_CUDA.match(line)]
    version = next(line.split("==")[1].split()[0] for line in lines if line.startswith("torch=="))
    torch = [f"torch=={version}+cpu ; sys_platform == 'linux'", f"torch=={version} ; sys_platform != 'linux'"]
    at = next(place for place, line in enumerate(lines) if line.startswith("torch=="))
    lines[at : at + 1] = torch
    LOCK.write_text(LOCK_HEAD + "\n".join(lines) + "\n", "utf-8")


LOCK_HEAD = """\
# Exact versions of everything, for every system.  Made by: python packaging/bootstrap.py lock
# On Linux torch is the CPU build and nothing of CUDA is in here.
"""


WITH_A_BROWSER = ["tests/integration", "tests/e2e"]

LOST_ONCE = ["--last-failed", "--last-failed-no-failures=none"]
"""pytest's own way to run again what failed, and nothing where it can't tell what did."""


def _lint_stages() -> list[tuple[str, list[str]]]:
    return [
        ("ruff check", [str(PYTHON), "-m", "ruff", "check", "."]),
        ("ruff format", [str(PYTHON), "-m", "ruff", "format", "--check", "."]),
        ("import contract", [str(BIN / "lint-imports"), "--no-logo"]),
        ("pyright", [str(PYTHON), "-m", "pyright"]),
    ]


def _stages(
    stages: list[tuple[str, list[str]]],
    again: dict[str, list[str]] | None = None,
    beside: tuple[str, list[str]] | None = None,
) -> int:
    """Run all of them even if one fails, so that one look tells everything.

    ``again`` is run once where a stage ended with failures: what passes then is told as passed at the second try.
    ``beside`` goes on while the last stage does; what it says is printed after it.
    """
    told: list[str] = []
    failed = 0
    for name, command in stages:
        step(name)
        last = beside if name == stages[-1][0] else None
        other = Beside(*last, folder=ROOT, environment=_quiet()) if last is not None else None
        began = time.monotonic()
        ended = [(name, subprocess.call(command, cwd=ROOT, env=_quiet()), time.monotonic() - began)]
        if other is not None:
            code, seconds, said = other.end()
            step(other.name)
            print(said, flush=True)
            ended.append((other.name, code, seconds))
        for stage, first, seconds in ended:
            code, how = first, f", killed by signal {-first}" if first < 0 else ""
            if first == 1 and again and stage in again:
                step(f"{stage}, once more what failed: a busy machine loses races")
                code = subprocess.call(again[stage], cwd=ROOT, env=_quiet())
                how = "" if code else ", some of it at the second try (named above)"
            failed += code != 0
            told.append(f"  {'FAILED' if code else 'ok    '} {stage:<16} {seconds:7.1f} s{how}")
    say(f"{len(told) - failed} of {len(told)} stages passed")
    print("\n".join(told), flush=True)
    return 1 if failed else 0


def _quiet() -> dict[str, str]:
    """The environment of tests and of runs without a window: no display, no network."""
    fixed = {"QT_QPA_PLATFORM": "offscreen", "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1"}
    fixed["PYRIGHT_PYTHON_IGNORE_WARNINGS"] = "1"  # else it asks a registry for a newer version
    return os.environ | {name: value for name, value in fixed.items() if not os.environ.get(name)}


def clean() -> int:
    """Remove the environment and what tools and the demo left; data of people is elsewhere and stays."""
    left = ".venv demo-out .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist"
    for name in left.split():
        shutil.rmtree(ROOT / name, ignore_errors=True)
    return 0


def main() -> int:
    """Read the command and do it."""
    commands = {f.__name__: f for f in (setup, run, test, check, bench, mutation, lock, clean)}
    parser = argparse.ArgumentParser(
        prog="bootstrap.py", description="Set up, run and test this checkout of Sitelore."
    )
    parser.add_argument("command", choices=commands, nargs="?", default="run")
    try:
        return commands[parser.parse_args().command]()
    except Failed as reason:
        print(f"\n{reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
