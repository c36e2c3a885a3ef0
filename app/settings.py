"""User settings, and the program's own folders.

Order of precedence: command line, environment (``SITELORE_*``), ``settings.json`` in the platform's configuration
folder, default.  The model's key is never in a file: see ``app.model_keys``.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from app.errors import InputError, StoreError
from app.quiet_hours import quiet_hours

APP = "sitelore"
KEY_VARIABLE = "OPENAI_API_KEY"
MOST_AT_ONCE = 32
"""Largest number of supervised runs at once."""


Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh"]
"""Reasoning effort of a model; "" leaves it to the model."""
EFFORTS: tuple[Effort, ...] = get_args(Effort)


def _setting(default: Any, *variables: str, label: str, help: str) -> Any:
    return field(default=default, metadata={"variables": variables, "label": label, "help": help})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """Model, reasoning effort and price of a role; an empty field falls back as the engine's ``role_choices`` says."""

    model: str = ""
    effort: Effort = ""
    price: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting; ``field.metadata`` has its label, its help and the environment variables that override it."""

    workspace: str = _setting("", "SITELORE_WORKSPACE", label="Workspace", help="Folder of runs and tips")
    author: str = _setting(
        "", "SITELORE_AUTHOR", label="Author", help="Name stored with your verdicts and tips"
    )
    browser: str = _setting(
        "",
        "SITELORE_BROWSER",
        label="Browser",
        help="Path of a Chromium, or a channel such as chrome or msedge",
    )
    sandbox: Literal["auto", "required"] = _setting(
        "auto",
        "SITELORE_SANDBOX",
        label="Browser sandbox",
        help="auto: runs without one, with a warning, where the system allows none; required: does not run then",
    )
    encoder: str = _setting(
        "",
        "SITELORE_ENCODER",
        label="Encoder",
        help="Folder of a sentence-transformers model; empty is the bundled one",
    )
    picture_encoder: str = _setting(
        "",
        "SITELORE_PICTURE_ENCODER",
        label="Picture encoder",
        help="Folder of a multimodal sentence-transformers model, to find states and tips' regions by pictures",
    )
    model_url: str = _setting(
        "", "SITELORE_MODEL_URL", "OPENAI_BASE_URL", label="Model endpoint", help="OpenAI-compatible address"
    )
    model_name: str = _setting("", "SITELORE_MODEL_NAME", label="Model", help="Model name at the endpoint")
    model_effort: Effort = _setting(  # noqa: RUF009 the alias of a literal
        "",
        "SITELORE_MODEL_EFFORT",
        label="Reasoning effort",
        help="How long the model thinks before it answers; empty leaves it to the model",
    )
    model_price: str = _setting(
        "",
        "SITELORE_MODEL_PRICE",
        label="Model price",
        help="US dollars per million tokens in/out, such as 2.50/10; empty uses the listed price",
    )
    roles: dict[str, RoleSettings] = field(
        default_factory=dict[str, RoleSettings],
        metadata={
            "variables": ("SITELORE_ROLES",),
            "label": "Roles",
            "help": 'By role, as JSON: {"planner": {"model": "…", "effort": "high", "price": "1.25/10"}}',
        },
    )
    model_api: Literal["chat", "responses"] = _setting(
        "chat",
        "SITELORE_MODEL_API",
        label="API",
        help="chat: chat completions; responses: the Responses API, which keeps a reasoning model's thoughts",
    )
    model_tools: Literal["off", "on"] = _setting(
        "off",
        "SITELORE_MODEL_TOOLS",
        label="Native tool calls",
        help="on: actions are offered to the model as tools; off: it writes them as text",
    )
    model_cache_marks: Literal["off", "on"] = _setting(
        "off",
        "SITELORE_MODEL_CACHE_MARKS",
        label="Cache marks",
        help="on: marks the stable part of a prompt for endpoints that cache on request, such as Anthropic's",
    )
    model_headers: str = _setting(
        "", "SITELORE_MODEL_HEADERS", label="Extra headers", help="Name: value; {key} is the key"
    )
    model_api_version: str = _setting(
        "",
        "SITELORE_MODEL_API_VERSION",
        label="Azure API version",
        help="api-version of a classic Azure endpoint, such as 2024-10-21; empty for all others",
    )
    run_tokens: int = _setting(
        0, "SITELORE_RUN_TOKENS", label="Max tokens per run", help="Input and output tokens; 0 = unlimited"
    )
    run_money: float = _setting(
        0.0, "SITELORE_RUN_MONEY", label="Max cost per run", help="US dollars; 0 = unlimited"
    )
    run_seconds: float = _setting(
        0.0,
        "SITELORE_RUN_SECONDS",
        label="Max model time per run",
        help="Total seconds a run waits for its model; 0 = unlimited",
    )
    learnings: Literal["on", "off"] = _setting(
        "on",
        "SITELORE_LEARNINGS",
        label="Learnings",
        help="on: runs write which way of clicking works on a site, and follow it; off: neither",
    )
    keep_logins: Literal["on", "off"] = _setting(
        "on",
        "SITELORE_KEEP_LOGINS",
        label="Keep log-ins",
        help="on: a log-in you make in a run is kept for later runs of its site; off: only waiting runs are given it",
    )
    picture_words: Literal["on", "off"] = _setting(
        "on",
        "SITELORE_PICTURE_WORDS",
        label="Words in pictures",
        help="on: an import reads the words of pages that have only pictures (needs sitelore[ocr]); off: it doesn't",
    )
    theme: Literal["system", "light", "dark"] = _setting(
        "system", "SITELORE_THEME", label="Theme", help="Colours: system, light or dark"
    )
    token_budget: int = _setting(
        1_200,
        "SITELORE_TOKEN_BUDGET",
        label="Tip budget",
        help="Max tokens of retrieved tips in a prompt",
    )
    at_once: int = _setting(
        4,
        "SITELORE_AT_ONCE",
        label="Parallel runs",
        help="Max supervised runs in parallel; others wait in the queue",
    )
    notifications: Literal["desktop", "window", "off"] = _setting(
        "desktop",
        "SITELORE_NOTIFICATIONS",
        label="Notifications",
        help="Where to notify you of runs that need you, failed or are done: desktop, window, or off",
    )
    quiet_hours: str = _setting(
        "",
        "SITELORE_QUIET_HOURS",
        label="Quiet hours",
        help="No notifications in these hours, such as 22:00-07:00",
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "warning", "SITELORE_LOG", label="Log level", help="Detail of the messages on stderr"
    )


_NAMES = frozenset(spec.name for spec in fields(Settings))
_OLDER_NAMES = {"vision_model": "vision", "larger_vision_model": "larger vision"}
"""Settings of earlier versions that named the model of a role."""
ROLE_VARIABLES = {"SITELORE_VISION_MODEL": "vision", "SITELORE_LARGER_VISION_MODEL": "larger vision"}
"""Environment variables that set the model of one role."""

CHOICES: dict[str, tuple[str, ...]] = {
    name: get_args(kind) for name, kind in get_type_hints(Settings).items() if get_origin(kind) is Literal
}
"""The values of the settings that are a choice."""


def load(environ: Mapping[str, str] | None = None, path: Path | None = None) -> Settings:
    """Return the effective settings: the file's, overridden by the environment's.

    Raises ``InputError`` naming the file or the variable that holds a value of the wrong kind.
    """
    environ = os.environ if environ is None else environ
    stored = load_stored(path)
    for spec in fields(Settings):
        variable = next((name for name in spec.metadata["variables"] if environ.get(name)), None)
        if variable is not None:
            value: Any = environ[variable].lower() if spec.name in CHOICES else environ[variable]
            value = _json(value, variable) if spec.name == "roles" else value
            stored = _checked({**asdict(stored), spec.name: value}, variable)
    for variable, role in ROLE_VARIABLES.items():
        if name := environ.get(variable):
            own = replace(stored.roles.get(role, RoleSettings()), model=name)
            stored = replace(stored, roles={**stored.roles, role: own})
    return stored


def load_stored(path: Path | None = None) -> Settings:
    """Return the file's settings without the environment, for the settings form."""
    path = path or settings_path()
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError) as error:
        remedy = "correct it, or delete it to use the defaults"
        raise InputError(f"the settings can't be read: {error}", path=str(path), remedy=remedy) from error
    if not isinstance(data, dict):
        raise InputError(
            "the settings are not a JSON object", path=str(path), remedy="delete it to use the defaults"
        )
    stored = _with_older_names(cast("dict[str, Any]", data))
    return _checked({key: value for key, value in stored.items() if key in _NAMES}, str(path))


def save(settings: Settings, path: Path | None = None) -> None:
    """Write the settings that differ from the defaults, whole or not at all; settings of a newer version are kept."""
    path = path or settings_path()
    default = asdict(Settings())
    mine = {key: value for key, value in asdict(settings).items() if value != default[key]}
    if settings.roles:
        mine["roles"] = {role: _filled(asdict(own)) for role, own in settings.roles.items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(
            path, json.dumps(_of_newer_version(path) | mine, indent=2, ensure_ascii=False) + "\n"
        )
    except OSError as error:
        raise StoreError(f"the settings can't be saved in {path}: {error.strerror or error}") from error


def changed(settings: Settings, **values: Any) -> Settings:
    """Return ``settings`` with other values, checked like a file's."""
    return _checked(asdict(replace(settings, **values)), "the settings form")


def settings_path() -> Path:
    """``settings.json`` in the platform's configuration folder."""
    import platformdirs

    return platformdirs.user_config_path(APP, appauthor=False) / "settings.json"


def default_workspace() -> Path:
    """Return the default workspace in the platform's user-data folder."""
    import platformdirs

    return platformdirs.user_data_path(APP, appauthor=False) / "workspace"


def cache_dir() -> Path:
    """Return the folder for data that can be rebuilt (the exported encoder); created if missing."""
    import platformdirs

    folder = platformdirs.user_cache_path(APP, appauthor=False)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def model_reports_dir() -> Path:
    """Return the folder of the reports on models' tests; it may not exist yet."""
    import platformdirs

    return platformdirs.user_data_path(APP, appauthor=False) / "models"


def logins_dir() -> Path:
    """Return the owner-only folder of manual log-ins; never within a workspace, which is shared and exported.

    ``SITELORE_LOGINS`` names another one: an evaluation's worker has those of its evaluation alone.
    """
    import platformdirs

    if own := os.environ.get("SITELORE_LOGINS"):
        return _private_or_raise(Path(own))
    return _private_or_raise(platformdirs.user_data_path(APP, appauthor=False) / "logins")


def runtime_dir() -> Path:
    """Return an owner-only folder (0700) for sockets.

    The platform's runtime folder where it can be used, else one in the temporary folder.  A socket's address holds
    about 100 bytes, so a long path is not taken.  Raises ``StoreError`` if someone else owns the folder.
    """
    fallback = Path(tempfile.gettempdir()) / f"{APP}-{_user_id()}"
    preferred = _platform_runtime_dir() or fallback
    if len(os.fsencode(preferred)) > 60:
        preferred = fallback
    try:
        return _private(preferred)
    except OSError:
        return _private_or_raise(fallback)


def _platform_runtime_dir() -> Path | None:
    """Return None on a Linux without a session (a container, a service), where nobody made the folder."""
    if sys.platform.startswith("linux") and not os.environ.get("XDG_RUNTIME_DIR"):
        return None
    import platformdirs

    return platformdirs.user_runtime_path(APP, appauthor=False)


def _private_or_raise(folder: Path) -> Path:
    try:
        return _private(folder)
    except OSError as error:
        raise StoreError(
            f"{folder} can't be made private: {error}; set TMPDIR to a folder of your own"
        ) from error


def _private(folder: Path) -> Path:
    """Create ``folder`` and check that it is a real directory of ours: in a shared /tmp someone may have been
    first.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":  # the profile's folders are private by their access lists
        return folder
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to someone else")
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def _user_id() -> str:
    return "user" if sys.platform == "win32" else str(os.getuid())


def _checked(values: Mapping[str, Any], origin: str) -> Settings:
    # Only a value that is not a default needs checking, so a plain start does not wait for pydantic.
    if dict(values) == asdict(Settings()) or not values:
        return Settings()
    from pydantic import TypeAdapter, ValidationError

    try:
        made = TypeAdapter(Settings).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InputError(f"setting {name}: {first['msg']}", path=origin) from error
    if made.quiet_hours:
        try:
            quiet_hours(made.quiet_hours)
        except InputError as error:
            raise InputError(f"setting quiet_hours: {error}", path=origin) from error
    if not 1 <= made.at_once <= MOST_AT_ONCE:
        raise InputError(f"setting at_once: {made.at_once} is not within 1 to {MOST_AT_ONCE}", path=origin)
    return replace(made, roles={role: own for role, own in made.roles.items() if own != RoleSettings()})


def _with_older_names(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a file's values with the models of roles that an earlier version kept under names of their own."""
    named = {role: stored[name] for name, role in _OLDER_NAMES.items() if stored.get(name)}
    roles: Any = stored.get("roles") or {}
    if not named or not isinstance(roles, dict):
        return stored
    known = cast("dict[str, Any]", roles)
    return {**stored, "roles": {role: {"model": name} for role, name in named.items()} | known}


def _filled(values: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _json(text: str, origin: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"it is no JSON: {error}", path=origin) from error


def _of_newer_version(path: Path) -> dict[str, Any]:
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    stored = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    return {key: value for key, value in stored.items() if key not in _NAMES | set(_OLDER_NAMES)}


def write_atomically(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
