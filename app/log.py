"""Logging: levels, files and crash traces, with secrets removed."""

from __future__ import annotations

import faulthandler
import logging
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from kb.private import make_folder, own_file, tighten

if TYPE_CHECKING:
    import asyncio

log = logging.getLogger(__name__)

ENVIRONMENT_LEVEL = "SITELORE_LOG"
HIDDEN = "[redacted]"

_LINE = "%(asctime)s %(levelname)-7s %(processName)s %(name)s: %(message)s"
_FILE_BYTES, _FILES = 2_000_000, 4

_SECRET_VARIABLE = re.compile(r"^SITELORE_SECRET_|(KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST = 8
_NAMED = (
    r"(?:api[-_]?key|apikey|access[-_]?token|auth[-_]?token|refresh[-_]?token|session[-_]?token|token|secret"
    r"|password|passwd|private[-_]?token|x-api-key)"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    (re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abp]|hf)[-_][\w-]{8,}"), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), HIDDEN),
    (
        re.compile(rf"(?i)([\"']?\b{_NAMED}[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&)}}\]]+)"),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?i)\b((?:set-)?cookie[\"']?\s*[=:]\s*)[^\r\n]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)(://[^\s/:@]+:)[^\s/@]+(@)"), rf"\1{HIDDEN}\2"),
)


def redact(text: str) -> str:
    """Return ``text`` without keys, tokens, passwords and cookies, however they are written.

    The values of environment variables that end in KEY, TOKEN, SECRET or PASSWORD, and of those that hold secrets of
    tasks, are hidden wherever they appear, the longest first: one may begin with another.
    """
    found = [
        value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and value in text and _SECRET_VARIABLE.search(name.upper())
    ]
    for value in sorted(found, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


class RedactingFormatter(logging.Formatter):
    """Hides secrets in the formatted line: in the message, in its arguments and in the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line as it is written."""
        return redact(super().format(record))


def level_of(name: str) -> int:
    """Return the number of a level's name ("debug", "INFO", "10"); INFO's for an unknown name."""
    if name.isdigit():
        return int(name)
    return logging.getLevelNamesMapping().get(name.upper(), logging.INFO)


def log_dir() -> Path:
    """Return the platform's folder for this program's logs; it may not exist yet."""
    import platformdirs

    return platformdirs.user_log_path("sitelore", appauthor=False)


class LogFiles:
    """The handlers that ``setup`` opened, so that a test can close them."""

    def __init__(self) -> None:
        self.handlers: list[logging.Handler] = []
        self.crash: IO[str] | None = None
        self.folder: Path | None = None

    def close(self) -> None:
        """Remove the handlers and close the files."""
        root = logging.getLogger()
        for handler in self.handlers:
            root.removeHandler(handler)
            handler.close()
        self.handlers.clear()
        if self.crash is not None:
            faulthandler.disable()
            self.crash.close()
            self.crash = None


def setup(level: str = "", *, role: str = "sitelore", folder: Path | None = None) -> LogFiles:
    """Log to stderr at ``level`` (else ``SITELORE_LOG``, else warnings) and from INFO to ``<folder>/<role>.log``.

    Each process has its own ``role``, because two processes that rotate one file lose lines.
    A folder that can't be written is reported once on stderr and skipped.
    """
    files = LogFiles()
    threshold = level_of(level or os.environ.get(ENVIRONMENT_LEVEL, "") or "WARNING")
    root = logging.getLogger()
    root.setLevel(min(threshold, logging.INFO))
    _add(files, logging.StreamHandler(sys.stderr), threshold)
    try:
        files.folder = folder or log_dir()
        make_folder(files.folder, parents=True)
        tighten([files.folder])
        _add(files, _rotating(files.folder / f"{role}.log"), min(threshold, logging.INFO))
        files.crash = own_file(files.folder / f"{role}.crash.log").open("a", encoding="utf-8")
        faulthandler.enable(file=files.crash, all_threads=True)
    except OSError as error:
        log.warning("no log file: %s", error)
    logging.captureWarnings(True)
    return files


def install_hooks() -> None:
    """Log unhandled errors of the main thread, other threads and finalizers, whose console nobody sees."""
    sys.excepthook = _main_hook
    threading.excepthook = _thread_hook
    sys.unraisablehook = _unraisable_hook


def watch_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Log errors that no task of ``loop`` awaited."""
    loop.set_exception_handler(_loop_hook)


def hook_qt(install: Callable[[Callable[[Any, Any, str], None]], object]) -> None:
    """Send Qt's messages to the log: ``hook_qt(QtCore.qInstallMessageHandler)``."""
    install(qt_message)


def qt_message(kind: Any, context: Any, message: str) -> None:
    """A handler for ``qInstallMessageHandler``; the level follows from the kind's name."""
    level = _QT_LEVELS.get(getattr(kind, "name", ""), logging.WARNING)
    category = getattr(context, "category", None) or "default"
    logging.getLogger(f"qt.{category}").log(level, "%s", message)


_QT_LEVELS = {
    "QtDebugMsg": logging.DEBUG,
    "QtInfoMsg": logging.INFO,
    "QtWarningMsg": logging.WARNING,
    "QtCriticalMsg": logging.ERROR,
    "QtFatalMsg": logging.CRITICAL,
}


def _add(files: LogFiles, handler: logging.Handler, level: int) -> None:
    handler.setLevel(level)
    handler.setFormatter(RedactingFormatter(_LINE))
    logging.getLogger().addHandler(handler)
    files.handlers.append(handler)


def _rotating(path: Path) -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    class OwnFiles(RotatingFileHandler):
        """Log files readable by their owner only."""

        def _open(self) -> Any:
            own_file(Path(self.baseFilename))
            return super()._open()

    return OwnFiles(path, maxBytes=_FILE_BYTES, backupCount=_FILES, encoding="utf-8")


def _main_hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    log.critical("unexpected error", exc_info=(kind, error, trace))


def _thread_hook(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is None or issubclass(args.exc_type, SystemExit):
        return
    name = args.thread.name if args.thread else "?"
    log.error("error in thread %s", name, exc_info=(args.exc_type, args.exc_value, args.exc_traceback))


def _unraisable_hook(args: Any) -> None:
    log.error("%s: %r", args.err_msg or "error while cleaning up", args.object, exc_info=args.exc_value)


def _loop_hook(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    log.error("%s", context.get("message", "error on the event loop"), exc_info=error)
