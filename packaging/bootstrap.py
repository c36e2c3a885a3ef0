"""Set up a checkout (``.venv`` with the locked packages, system libraries, a browser), then run or test it.

    python packaging/bootstrap.py setup|run|test|test-all|test-adapters|check|bench|mutation|lock|clean

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this file is what tells it to an older one
    sys.exit(
        "Sitelore needs Python 3.11 or newer; this is "
        + sys.version.split()[0]
        + ". Run: python3.11 "
        + __file__
    )

import lockfile
import machine
from stages import Stage, Stages, record_retries

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "packaging" / "requirements.lock"
STAMP = VENV / ".sitelore-stamp"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
TORCH = "torch==2.13.0+cpu" if sys.platform.startswith("linux") else "torch==2.13.0"
TORCH_INDEX = "SITELORE_TORCH_INDEX"
RETRIES = ROOT / ".ci" / "retried.json"

_began = time.monotonic()
_steps = itertools.count(1)


class Failed(Exception):
    """A step can't go on; the message is for the person at the keyboard."""


def say(text: str) -> None:
    """Print a line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - _began:6.1f} s] {text}", flush=True)


def step(text: str) -> None:
    """Print a numbered line of progress."""
    say(f"{next(_steps)}. {text}")


# ---------------------------------------------------------------------------------------------- the environment


def ensure(*, dev: bool) -> None:
    """Bring the checkout's environment up to date; returns at once when it is."""
    stamp = _read_stamp()
    wanted = _fingerprint()
    current = stamp.get("fingerprint") == wanted and (stamp.get("dev") or not dev) and PYTHON.exists()
    if reason := machine.too_old():
        raise Failed(reason)
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
    """Install system libraries, fonts and a browser where that is allowed, else print the command that does."""
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
        """Run ``pip install`` with these arguments; return False when it failed (its own output says why)."""
        if self._uv:
            command = [str(self._uv), "pip", "install", "--quiet", "--python", str(PYTHON), *arguments]
            if self.run(command, env=os.environ | self._indexes()):
                return True
            say("uv could not do it; trying pip")
            self._uv = None
        return self.pip(*arguments)

    def locked(self, *parts: str, deps: bool = True) -> bool:
        """Install parts of the lock; a file whose hash is not in it is refused."""
        with _requirements(lockfile.read(LOCK, *parts)) as file:
            return self.install("--require-hashes", *([] if deps else ["--no-deps"]), "-r", str(file))

    def pip(self, *arguments: str, quiet: bool = False) -> bool:
        """Install with pip itself, which knows every index and folder that the user has set up for it."""
        command = [str(PYTHON), "-m", "pip", "install", "-qq", "--no-warn-script-location", *arguments]
        return self.run(command, quiet=quiet)

    @staticmethod
    def run(command: list[str], env: dict[str, str] | None = None, *, quiet: bool = False) -> bool:
        """Run a command, on this console unless its failure is expected; return whether it succeeded."""
        out = subprocess.DEVNULL if quiet else None
        return subprocess.run(command, env=env, cwd=ROOT, stdout=out, stderr=out, check=False).returncode == 0

    def _find_uv(self) -> Path | None:
        if os.environ.get("SITELORE_NO_UV"):
            return None
        uv = BIN / ("uv.exe" if os.name == "nt" else "uv")
        if not uv.exists():
            step("uv, to install quickly")
            with _requirements(lockfile.named(LOCK, "uv")) as file:
                if not self.pip("--require-hashes", "-r", str(file)):
                    return None
        return uv if _works([str(uv), "--version"]) else None

    @staticmethod
    def _indexes() -> dict[str, str]:
        """Return pip's settings in uv's words, so that both use the same indexes and certificates."""
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


@contextmanager
def _requirements(text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirements.txt"
        file.write_text(text, "utf-8")
        yield file


def install_packages(tool: Installer, *, dev: bool) -> None:
    """Install everything but torch, at the versions and hashes of the lock; then the checkout itself, editable."""
    parts = ["program", "dev"] if dev else ["program"]
    step(f"the packages of the lock{', with the tools for tests' if dev else ''}")
    if not tool.locked(*parts):
        raise Failed(
            "the packages could not be installed; is a package index in reach? (see the lines above)"
        )
    step("sitelore itself, editable")
    if not tool.install("--no-deps", "--no-build-isolation", "-e", str(ROOT)):
        raise Failed("sitelore itself could not be installed (see the lines above)")


def install_encoder(tool: Installer) -> bool:
    """Install CPU torch and the encoder's exporter; without the CPU build neither, and never CUDA's."""
    step(f"{TORCH}, to export the encoder")
    index = os.environ.get(TORCH_INDEX, "")
    source = ["--extra-index-url", index] if index else []
    # One by one: pip finds a wheel in a local folder that uv was not told of, and the build is checked before its rest.
    if not _torch_is_in() and not tool.pip("--no-deps", *source, TORCH, quiet=True):
        say(f"no CPU build of torch: going on without it, so retrieval has two routes ({_torch_remedy()})")
        return False
    # Without their dependencies: torch is in place and has no hash, and everything else is in the lock.
    if not tool.locked("encoder", deps=False):
        say("the encoder's packages could not be installed: going on without, so retrieval has two routes")
        return False
    return True


def _torch_is_in() -> bool:
    return _works([str(PYTHON), "-c", "import torch, sys; sys.exit(torch.version.cuda is not None)"])


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
    return _report([*_lint_stages(), [_pyright()]])


def test() -> int:
    """Prove the product in five minutes: lint, contracts, all tests without a browser, and a smoke test with one."""
    ensure(dev=True)
    export_for_tests()
    unit = _pytest("unit", "tests/unit", "tests/architecture", "-n", "2")
    smoke = _pytest("browser smoke", *WITH_A_BROWSER, "-m", "smoke", "-n", "2", "--dist", "worksteal")
    changed = changed_sources()
    types = [[_pyright(*changed)]] if changed else []
    return _report([*_lint_stages(), *types, [unit], [_gui()], [smoke]])


def test_all() -> int:
    """Everything: full types, every test, hypothesis at its deep profile. CI calls this."""
    ensure(dev=True)
    export_for_tests()
    unit = _pytest("unit", "tests/unit", "tests/architecture", "-n", "2")
    browser = _pytest("browser", *WITH_A_BROWSER, "-n", "2", "--dist", "worksteal")
    groups = [*_lint_stages(), [unit], [_gui()], [browser, _pyright()]]
    return _report(groups, retry=bool(os.environ.get("CI")), HYPOTHESIS_PROFILE="deep")


def export_for_tests() -> None:
    """Export the encoder for the tests before they begin; it takes 20 s of processor time, once."""
    if _read_stamp().get("encoder"):
        subprocess.call([str(PYTHON), "-m", "tests.support.encoder"], cwd=ROOT, env=_quiet())


def changed_sources() -> list[str]:
    """Return the typed files that differ from the main branch or are not committed; none outside a git checkout."""
    base = next(
        (name for name in ("origin/HEAD", "main") if _git("rev-parse", "--verify", "-q", name)), "HEAD"
    )
    since = (_git("merge-base", "HEAD", base) or ["HEAD"])[0]
    names = _git("diff", "--name-only", "--diff-filter=d", since)
    names += _git("ls-files", "--others", "--exclude-standard")
    return sorted({name for name in names if name.endswith(".py") and name.startswith(("app/", "kb/"))})


def _git(*arguments: str) -> list[str]:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def test_adapters() -> int:
    """Play the guide's examples against browser-use, BrowserGym, OpenAI and LangChain, an environment each."""
    ensure(dev=True)
    return subprocess.call(
        [
            str(PYTHON),
            "-m",
            "pytest",
            "-q",
            "-n0",
            "tests/integration/test_adapters_in_their_environments.py",
        ],
        cwd=ROOT,
        env={**_quiet(), "SITELORE_ADAPTERS": str(ROOT / ".adapters")},
    )


def bench() -> int:
    """Every benchmark, one after the other."""
    ensure(dev=True)
    return subprocess.call([str(PYTHON), "-m", "benchmarks"], cwd=ROOT, env=_quiet())


def mutation() -> int:
    """Break the written rules one clause at a time in a copy, and report whether the tests notice."""
    ensure(dev=True)
    return subprocess.call([str(PYTHON), "-m", "tests.mutation"], cwd=ROOT, env=_quiet())


def setup() -> int:
    """Set up the environment and nothing else."""
    ensure(dev=True)
    return 0


def lock() -> int:
    """Write ``requirements.lock`` with the newest versions that fit, for every system, with no CUDA in it."""
    ensure_venv()
    Installer()  # brings uv
    lockfile.write(LOCK, BIN / "uv", ROOT / "pyproject.toml")
    return 0


WITH_A_BROWSER = ["tests/integration", "tests/e2e"]


def _pytest(name: str, *arguments: str) -> Stage:
    cache = Path(".pytest_cache") / name.split()[0]
    command = [str(PYTHON), "-m", "pytest", "-q", "-o", f"cache_dir={cache}", *arguments]
    return Stage(name, command, cache)


def _gui() -> Stage:
    """Tests of the window, each worker with a Qt application and a loop of its own."""
    return _pytest("gui", "tests/gui", "-n", "2", "--dist", "worksteal")


def _pyright(*files: str) -> Stage:
    return Stage("pyright, changed" if files else "pyright", [str(PYTHON), "-m", "pyright", *files])


def _lint_stages() -> list[list[Stage]]:
    return [
        [Stage("ruff check", [str(PYTHON), "-m", "ruff", "check", "."])],
        [Stage("ruff format", [str(PYTHON), "-m", "ruff", "format", "--check", "."])],
        [Stage("import contract", [str(BIN / "lint-imports"), "--no-logo"])],
    ]


def _report(groups: list[list[Stage]], *, retry: bool = False, **environment: str) -> int:
    """Run all stages even if one fails, so that one look tells everything; return 0 if all passed.

    With ``retry`` the tests that failed are run once more and named; one that needed it twice in ten runs fails.
    """
    ended = Stages(ROOT, _quiet() | environment, step, retry=retry).run(groups)
    failed = sum(each.code != 0 for each in ended)
    say(f"{len(ended) - failed} of {len(ended)} stages passed")
    print("\n".join(each.line() for each in ended), flush=True)
    if retry:
        retried = [name for each in ended for name in each.retried]
        twice = record_retries(RETRIES, retried)
        print("\n".join([f"{len(retried)} tests had a second try ({RETRIES.name}):", *retried]), flush=True)
        if twice:
            print("\n".join(["retried in two of the last ten runs; mend these:", *twice]), flush=True)
            failed += 1
    return 1 if failed else 0


def _quiet() -> dict[str, str]:
    """Return the environment of tests and of runs without a window: no display, no network."""
    fixed = {"QT_QPA_PLATFORM": "offscreen", "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1"}
    fixed["PYRIGHT_PYTHON_IGNORE_WARNINGS"] = "1"  # else it asks a registry for a newer version
    return os.environ | {name: value for name, value in fixed.items() if not os.environ.get(name)}


def clean() -> int:
    """Remove the environment and what tools and the demo left; data of people is elsewhere and stays."""
    left = ".venv demo-out .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist .adapters"
    for name in left.split():
        shutil.rmtree(ROOT / name, ignore_errors=True)
    return 0


def main() -> int:
    """Run the command that was given."""
    functions = (setup, run, test, test_all, test_adapters, check, bench, mutation, lock, clean)
    commands = {f.__name__.replace("_", "-"): f for f in functions}
    parser = argparse.ArgumentParser(
        prog="bootstrap.py", description="Set up, run and test this checkout of Sitelore."
    )
    parser.add_argument("command", choices=commands, nargs="?", default="run")
    try:
        return commands[parser.parse_args().command]()
    except (Failed, lockfile.Unreadable) as reason:
        print(f"\n{reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
