"""The environment of WebArena-Verified: a folder with a Python of its own, made on request, never part of ours.

It pins versions of packages that Sitelore has in others, so the two are never installed together.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.evaluation.strict.program_run import run_program
from app.errors import InputError, SiteloreError

PACKAGE, VERSION = "webarena-verified", "1.2.3"
MODULE = PACKAGE.replace("-", "_")
INSTALL_SECONDS = 1200.0
UNRECORDED = frozenset({"post_data", "response_content", "response_cookies"})
"""Parts of a request that its evaluators may ask for and that no evidence holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictTask:
    """Properties of a task of WebArena-Verified that decide how a run of it is evaluated.

    Attributes:
        kind: ``RETRIEVE``, ``MUTATE`` or ``NAVIGATE``.
        names: names of its sites, such as ``__GITLAB__``.
        succeeds: whether it can be done at all.
        answers: number of items in the right answer.
        plain: whether these are plain values and no objects.
        unrecorded: for each of its evaluators what it asks for that evidence does not hold, in order.
    """

    kind: str
    names: tuple[str, ...]
    succeeds: bool
    answers: int
    plain: bool
    unrecorded: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class StrictEnvironment:
    """One installation, by its folder."""

    folder: Path

    @classmethod
    def in_cache(cls, cache: Path) -> StrictEnvironment:
        """Return the usual one, below the user's cache folder; it need not exist."""
        return cls(cache / f"{PACKAGE}-{VERSION}")

    @property
    def command(self) -> Path:
        """Its program."""
        return self._programs / (f"{PACKAGE}.exe" if sys.platform == "win32" else PACKAGE)

    @property
    def is_ready(self) -> bool:
        """Whether it is installed; its metadata is what an installation writes last."""
        return self.command.exists() and self._packages(f"{MODULE}-{VERSION}.dist-info/RECORD") is not None

    def tasks(self) -> dict[str, StrictTask]:
        """Return its tasks by their ids.

        Raises:
            InputError: its data can't be read.
        """
        path = self._packages(f"{MODULE}/assets/dataset/{PACKAGE}.json")
        if path is None:
            raise InputError(f"{PACKAGE} is damaged: it has no data", remedy="sitelore eval strict-setup")
        return _tasks(path, path.stat().st_mtime_ns)

    async def set_up(self, seconds: float = INSTALL_SECONDS) -> None:
        """Install it anew; a failure leaves nothing behind.

        Raises:
            SiteloreError: it can't be installed.
        """
        shutil.rmtree(self.folder, ignore_errors=True)
        python = self._programs / ("python.exe" if sys.platform == "win32" else "python")
        wanted = f"{PACKAGE}=={VERSION}"
        try:
            self.folder.mkdir(parents=True)
            for words in (
                [sys.executable, "-m", "venv", str(self.folder)],
                [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted],
            ):
                done = await run_program(words, self.folder, seconds)
                if done.code:
                    raise SiteloreError(f"{wanted} can't be installed: {done.last_line}")
            if not self.is_ready:
                raise SiteloreError(f"{wanted} was installed, but its program is not there")
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise SiteloreError(f"{wanted} can't be installed: {error.strerror or error}") from error
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @property
    def _programs(self) -> Path:
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin")

    def _packages(self, inside: str) -> Path | None:
        places = (self.folder / "Lib" / "site-packages", *self.folder.glob("lib/python*/site-packages"))
        return next((place / inside for place in places if (place / inside).exists()), None)


@lru_cache(maxsize=2)
def _tasks(path: Path, changed: int) -> dict[str, StrictTask]:
    try:
        tasks = cast("list[dict[str, Any]]", orjson.loads(path.read_bytes()))
        return {str(task["task_id"]): _task(task) for task in tasks}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(
            f"the data of {PACKAGE} has another form than expected: {error}", path=str(path)
        ) from error


def _task(task: dict[str, Any]) -> StrictTask:
    response = task["eval"][0]
    expected: dict[str, Any] = response["expected"]
    schema: dict[str, Any] = response.get("results_schema") or {}
    items: dict[str, Any] = schema.get("items") or {}
    return StrictTask(
        kind=str(expected["task_type"]).upper(),
        names=tuple(f"__{site.upper()}__" for site in task["sites"]),
        succeeds=str(expected["status"]).upper() == "SUCCESS",
        answers=len(expected.get("retrieved_data") or ()),
        plain=items.get("type") in ("string", "number", "integer", "boolean"),
        unrecorded=tuple(_unrecorded(one["expected"]) for one in task["eval"]),
    )


def _unrecorded(expected: dict[str, Any]) -> tuple[str, ...]:
    found = sorted(UNRECORDED & {name for name, value in expected.items() if value is not None})
    headers: dict[str, Any] = expected.get("headers") or {}
    return (*found, *(name.lower() for name in headers if name.lower() == "cookie"))
