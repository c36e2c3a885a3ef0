"""The rules of a block list, and reading them from files in the format documented in ``block_list``.

Every mistake is an error that names its rule and position, because a rule that silently does nothing is worse than
none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlsplit

from app.engine.graph.rules.conditions import BadExpression, Condition, Subject, read_condition
from app.errors import InputError

FORMAT, VERSION = "sitelore-rules", 1
MAX_BYTES = 2_000_000
_RULE_WORDS = frozenset(
    {"name", "about", "scope", "when", "verdict", "severity", "reason", "lifts_danger", "enabled"}
)

VerdictWord = Literal["allow", "ask", "block"]
VERDICTS: tuple[VerdictWord, ...] = ("allow", "ask", "block")
RISK = {"low": 0.1, "medium": 0.4, "high": 0.8}
"""Risk in [0, 1] by severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleScope:
    """The pages a rule applies to: globs for ``host:port`` and path, "" for any.

    ``exact`` compares the host's text unchanged, including port and upper case.
    """

    host: str = ""
    path: str = ""
    exact: bool = False

    def covers(self, page_url: str) -> bool:
        """Whether a page is in the scope; a host without a port matches every port."""
        if not self.host and not self.path:
            return True
        try:
            parts = urlsplit(page_url)
        except ValueError:
            return False
        if self.exact:
            return parts.netloc == self.host
        hosts = (parts.netloc.rpartition("@")[2].lower(), (parts.hostname or ""))
        fits = not self.host or any(re.match(translate(self.host.lower()), host) for host in hosts)
        return fits and (not self.path or re.match(translate(self.path), parts.path or "/") is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRule:
    """One rule of a file, compiled."""

    name: str
    when: Condition
    scope: RuleScope = RuleScope()
    verdict: VerdictWord = "block"
    severity: str = "medium"
    reason: str = ""
    lifts_danger: bool = False

    def holds(self, subject: Subject) -> bool:
        """Whether the rule decides about this element."""
        return self.scope.covers(subject.page_url) and self.when.holds(subject)


def text_of(path: Path) -> str:
    """Read the text of a rule file.  Raises ``InputError``."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError("this is too large for a rule file", path=str(path), remedy="at most 2 MB")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(
            f"the rules can't be read: {error.strerror or error}", path=str(path), remedy="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            "the rules are not UTF-8 text", path=str(path), remedy="save them as UTF-8"
        ) from error


def parsed(text: str, path: str) -> object:
    """Parse the JSON of a rule file's text.  Raises ``InputError`` with line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}, column {error.colno}: {error.msg}",
            path=path,
            remedy="rules are written in JSON",
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError("the rules are nested too deeply", path=path, remedy="rules are JSON") from error


def read_rules(raw: object, text: str, path: str) -> tuple[BlockRule, ...]:
    """Return the rules in a file's values; ``text`` locates the line of a mistake.  Raises ``InputError``."""
    entry = cast("Mapping[str, object]", raw if isinstance(raw, dict) else {})
    if entry.get("format") != FORMAT:
        raise InputError(
            "this is not a rule file",
            path=path,
            remedy=f'write {{"format": "{FORMAT}", "version": {VERSION}, "rules": [...]}}',
        )
    version = entry.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(
            "the version of the rules is missing", path=path, remedy=f'write "version": {VERSION}'
        )
    if version > VERSION:
        raise InputError(
            f"these rules have version {version}; this program reads version {VERSION}",
            path=path,
            remedy="update Sitelore, or write them in the older version",
        )
    strange = sorted(set(entry) - {"format", "version", "about", "rules"})
    rules = entry.get("rules")
    if strange or not isinstance(rules, list):
        what = f"unknown word '{strange[0]}' beside the rules" if strange else "a list 'rules' is missing"
        raise InputError(what, path=path, remedy="a file has format, version, about, rules")
    read: list[BlockRule] = []
    for number, item in enumerate(cast("list[object]", rules), start=1):
        entry = cast("Mapping[str, object]", item if isinstance(item, dict) else {})
        name = entry.get("name")
        label = f"rule {number} '{name[:60]}'" if isinstance(name, str) else f"rule {number}"
        try:
            rule = _read_rule(entry)
            if any(rule.name == other.name for other in read):
                raise BadExpression("name", "another rule has this name already")
        except BadExpression as error:
            line = _line_of(text, error.value)
            raise InputError(
                f"{label}, {error.place}{line}: {error.why}", path=path, remedy="correct it and load again"
            ) from error
        if entry.get("enabled", True):
            read.append(rule)
    return tuple(read)


def _read_rule(entry: Mapping[str, object]) -> BlockRule:
    if not entry:
        raise BadExpression("itself", "a rule is an object with name, when, verdict")
    strange = sorted(set(entry) - _RULE_WORDS)
    if strange:
        raise BadExpression(strange[0], f"unknown word; a rule has {', '.join(sorted(_RULE_WORDS))}")
    name, reason = entry.get("name"), entry.get("reason", "")
    if not isinstance(name, str) or not name.strip():
        raise BadExpression("name", "a rule needs a name")
    verdict = cast("VerdictWord", _one_of(VERDICTS, entry, "verdict", "block"))
    severity = _one_of(tuple(RISK), entry, "severity", "medium")
    if not isinstance(reason, str):
        raise BadExpression("reason", "expected a text")
    for key in ("lifts_danger", "enabled"):
        if not isinstance(entry.get(key, True), bool):
            raise BadExpression(key, "expected true or false")
    lifts_danger = entry.get("lifts_danger") is True
    if lifts_danger and verdict != "allow":
        raise BadExpression("lifts_danger", "only an 'allow' rule can lift anything")
    if "when" not in entry:
        raise BadExpression("when", "a rule needs a condition")
    return BlockRule(
        name=name,
        when=read_condition(entry["when"]),
        scope=_read_scope(entry.get("scope", {})),
        verdict=verdict,
        severity=severity,
        reason=reason,
        lifts_danger=lifts_danger,
    )


def _one_of(words: Sequence[str], entry: Mapping[str, object], key: str, default: str) -> str:
    value = entry.get(key, default)
    if not isinstance(value, str) or value not in words:
        raise BadExpression(key, f"'{value}' is not one of {', '.join(words)}")
    return value


def _read_scope(raw: object) -> RuleScope:
    entry = cast("Mapping[str, object]", raw if isinstance(raw, dict) else {"?": ""})
    parts = {key: value for key, value in entry.items() if isinstance(value, str)}
    if set(entry) - {"host", "path"} or len(parts) != len(entry):
        raise BadExpression("scope", 'a scope is {"host": "glob", "path": "glob"}')
    return RuleScope(host=parts.get("host", ""), path=parts.get("path", ""))


def _line_of(text: str, value: str) -> str:
    """`` (line 7)`` if the value occurs exactly once in the file, else ""."""
    for written in {json.dumps(value), json.dumps(value, ensure_ascii=False)} if value else ():
        if text.count(written) == 1:
            return f" (line {text.count(chr(10), 0, text.index(written)) + 1})"
    return ""
