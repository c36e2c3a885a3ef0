"""Importer of the generic JSONL that any program can write (docs/guide/jsonl-runs.md).

A line with ``run`` begins a run, the lines after it are its steps; the first line names the version of the format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import orjson

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.ax_tree import find_node
from app.engine.core.cost import Cost
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step, Tab
from app.engine.imports.page_contents import (
    ForeignContents,
    clean_args,
    decode_picture,
    secrets_in_call,
    sites_of,
)
from app.engine.imports.picture_files import PictureFiles, urls_of
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import ReadRun
from app.engine.imports.step_records import integer, number, read_call, text
from app.engine.imports.tool_calls import read_tool_call
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable
from kb import reading

SOURCE = "jsonl"
MARK = "sitelore_runs"
VERSION = 1
MAX_LINE = 128 * 2**20
MAX_RUN = 512 * 2**20
"""Bytes read of one run."""
MAX_STEPS = 5000
MAX_LISTED = 5
"""Unreadable lines that are named one by one."""

Row = dict[str, Any]


@dataclass(slots=True)
class LinesRun:
    """The lines of one run, parsed; ``root`` bounds where its pictures are looked for."""

    path: Path
    root: Path
    head: Row
    steps: list[Row]
    final: Row | None
    content_hash: str
    notes: list[str] = field(default_factory=list[str])
    problems: list[PathError] = field(default_factory=list[PathError])


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    for name in folder.names:
        start = folder.head(name)[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
        if not start.startswith(b"{") or f'"{MARK}"'.encode() not in start:
            continue
        path = folder.path / name
        try:
            count = len(index_runs(path))
        except InputError as error:
            folder.problems.append(PathError(path=error.path, error=error.what))
            continue
        yield from (FoundPart(path, str(number) if count > 1 else "") for number in range(1, count + 1))


def index_runs(path: Path) -> tuple[tuple[int, int], ...]:
    """Return the places of a file's runs, as the first byte and the length of each.

    Raises:
        InputError: it can't be read, its first line is damaged, or it is of a newer version.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise InputError(reading.LINK if path.is_symlink() else "no regular file", path=str(path))
        facts = path.stat()
        return _index(path, facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error


@lru_cache(maxsize=4)
def _index(path: Path, size: int, changed: int) -> tuple[tuple[int, int], ...]:
    starts: list[int] = []
    at = 0
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                raise InputError(f"a line is longer than {MAX_LINE >> 20} MB", path=str(path))
            if not starts and line.strip():
                _check_first(_row(line), path)
                starts.append(at)
            elif b'"run"' in line and isinstance((_row(line) or {}).get("run"), dict):
                starts.append(at)
            at += len(line)
    ends = [*starts[1:], at]
    return tuple((start, end - start) for start, end in zip(starts, ends, strict=True))


def _check_first(first: Row | None, path: Path) -> None:
    if first is None:
        raise InputError("its first line is cut off or no JSON object", path=str(path))
    version = first.get(MARK)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(f"its first line must hold {MARK!r}: {VERSION}", path=str(path))
    if version > VERSION:
        raise InputError(
            f"written in version {version} of this format; this Sitelore reads up to {VERSION}: update Sitelore",
            path=str(path),
        )
    if not isinstance(first.get("run"), dict):
        raise InputError("its first line must hold 'run', an object", path=str(path))


def load(path: Path, root: Path, part: str) -> LinesRun:
    """Read the lines of one run.

    Raises:
        InputError: they can't be read, or are too many.
    """
    runs = index_runs(path)
    place = int(part) - 1 if part.isdecimal() and len(part) < 10 else 0
    if place >= len(runs):
        raise InputError("the run is no longer in the file", path=str(path))
    start, length = runs[place]
    if length > MAX_RUN:
        raise InputError(f"a run is longer than {MAX_RUN >> 20} MB", path=str(path))
    try:
        with path.open("rb") as file:
            before = file.read(start).count(b"\n") if start < MAX_RUN else 0
            lines = file.read(length).split(b"\n")
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from error
    return _read_lines(path, root, lines, before)


def _read_lines(path: Path, root: Path, lines: list[bytes], before: int) -> LinesRun:
    head = (_row(next((line for line in lines if line.strip()), b"")) or {}).get("run")
    raw = LinesRun(path, root, _object(head), [], None, "")
    digest = hashlib.sha256(orjson.dumps(raw.head, option=orjson.OPT_SORT_KEYS))
    bad: list[int] = []
    seen_head = False
    for offset, line in enumerate(lines):
        if not line.strip():
            continue
        if not seen_head:
            seen_head = True
            continue
        digest.update(line.strip() + b"\n")
        row = _row(line)
        if row is None:
            bad.append(before + offset + 1)
        elif isinstance(row.get("final"), dict):
            raw.final = row["final"]
        elif isinstance(row.get("step"), dict) and len(raw.steps) < MAX_STEPS:
            raw.steps.append(row["step"])
        elif isinstance(row.get("step"), dict) and len(raw.steps) == MAX_STEPS:
            raw.notes = [f"only the first {MAX_STEPS} steps are read"]
    for line_number in bad[:MAX_LISTED]:
        raw.problems.append(
            PathError(
                path=str(path), error=f"line {line_number} is cut off or no JSON object: it is left out"
            )
        )
    if bad[MAX_LISTED:]:
        raw.problems.append(
            PathError(path=str(path), error=f"{len(bad) - MAX_LISTED} more lines are left out")
        )
    raw.content_hash = digest.hexdigest()
    return raw


def parse(raw: LinesRun, sites: SiteTable) -> ReadRun:
    """Make a run of its lines; a field of the wrong type counts as missing."""
    head, contents = raw.head, ForeignContents()
    files = PictureFiles(raw.path.parent, contents, problems=raw.problems)
    reader = _StepReader(contents, files if raw.path.parent.is_relative_to(raw.root) else None)
    steps = [reader.step(index, row) for index, row in enumerate(raw.steps)]
    final = replace(reader.page(len(steps), raw.final), executed=False) if raw.final is not None else None
    pages = [*steps, final] if final is not None else steps
    site, visited = sites_of(urls_of(pages), sites)
    name = redact_text(_words(head, "id") or raw.path.stem)[:100]
    answer = _answer(head, steps)
    tokens = _tokens(head)
    notes = [*raw.notes, *files.note(), *reader.notes()]
    run = Run(
        id=make_run_id(name, raw.content_hash[:8]),
        source=SOURCE,
        suite=redact_text(_words(head, "suite"))[:200],
        task_id=redact_text(_words(head, "task_id"))[:200],
        site=redact_text(_words(head, "site"))[:200] or site,
        sites=visited,
        intent=redact_text(_words(head, "goal")),
        start_url=redact_url(_words(head, "start_url")) or (pages[0].url if pages else ""),
        score=_score(head),
        outcome=_outcome(head, answer, steps),
        error=redact_text(_words(head, "error")),
        answer=answer,
        step_count=len(steps),
        final=final,
        started_at=_moment(head.get("started_at")) or (steps[0].started_at if steps else 0.0),
        source_path=printable(str(raw.path)),
        content_hash=raw.content_hash,
        notes=tuple(notes),
        policy=redact_text(_words(head, "agent"))[:200],
        model=redact_text(_words(head, "model"))[:200],
        tokens=tokens
        if any(tokens)
        else (sum(step.tokens[0] for step in steps), sum(step.tokens[1] for step in steps)),
        cost=_cost(head) or _sum_of_costs(steps),
    )
    return ReadRun(run=run, steps=tuple(steps), blobs=contents.blobs, problems=tuple(raw.problems))


class _StepReader:
    """Reads steps; counts the actions that are no calls."""

    def __init__(self, contents: ForeignContents, files: PictureFiles | None) -> None:
        self._contents, self._files = contents, files
        self._no_calls = 0

    def notes(self) -> list[str]:
        """Return a sentence where actions could not be read."""
        return [f"{self._no_calls} actions are no calls such as click('12')"] if self._no_calls else []

    def page(self, index: int, row: Row) -> Step:
        """Return the page of a line."""
        url, title = redact_url(_words(row, "url")), redact_text(_words(row, "title"))
        tree = text(row.get("tree")) or _tree_of_text(text(row.get("text")), title)
        step = Step(
            index=index,
            url=url,
            title=title,
            tabs=(Tab(url=url, title=title),) if url else (),
            html=self._contents.html(text(row.get("html"))),
            screenshot=self._picture(text(row.get("screenshot"))),
            started_at=_moment(row.get("started_at")),
        )
        return self._contents.with_tree(step, tree)

    def step(self, index: int, row: Row) -> Step:
        """Return the step of a line."""
        action, target, said = self._action(row)
        error = redact_text(text(row.get("error")))
        kind = ErrorClass.HARD if error else ErrorClass.NONE
        if action is None and said:
            kind = ErrorClass.HARNESS
        step = replace(
            self.page(index, row),
            reason=redact_text(text(row.get("reason"))),
            raw_output=redact_text(text(row.get("raw_output")) or said),
            error=error,
            error_class=kind,
            executed=kind is not ErrorClass.HARNESS,
            output=redact_text(text(row.get("result"))[:20_000]),
            env_seconds=max(number(row.get("seconds"), 0.0) or 0.0, 0.0),
            model_seconds=max(number(row.get("model_seconds"), 0.0) or 0.0, 0.0),
            tokens=_tokens(row),
            cost=_cost(row),
        )
        target = _target(row, action) or target or _on_tree(text(row.get("tree")), action)
        return self._contents.acted(step, action, target)

    def _action(self, row: Row) -> tuple[RecordedAction | None, ActionTarget | None, str]:
        """Return action and target, and the words of an action that is no call."""
        given = row.get("action")
        if isinstance(given, dict):
            call = _object(cast("object", given))
            name, args = _words(call, "name"), _object(call.get("args"))
            self._contents.remember(*secrets_in_call(args))
            return (*read_tool_call(name, args), "") if name else (None, None, "")
        if not isinstance(given, str) or not given.strip():
            return None, None, ""
        action = read_call(given)
        if action is None:
            self._no_calls += 1
            return None, None, given
        return RecordedAction(kind=action.kind, args=clean_args(action.args)), None, ""

    def _picture(self, given: str) -> str:
        if not given:
            return ""
        if decode_picture(given):
            return self._contents.encoded_picture(given)
        return self._files.named(given[:1000]) if self._files is not None else ""


def _target(row: Row, action: RecordedAction | None) -> ActionTarget | None:
    given = _object(row.get("target"))
    role, name = redact_text(_words(given, "role")), redact_text(_words(given, "name"))
    bid = (action.bid if action is not None else None) or _words(given, "bid")
    return ActionTarget(role=role, name=name, bid=bid) if role or name else None


def _on_tree(tree: str, action: RecordedAction | None) -> ActionTarget | None:
    node = find_node(tree, action.bid) if action is not None and action.bid and tree else None
    return (
        ActionTarget(role=node.role, name=redact_text(node.name), bid=node.bid) if node is not None else None
    )


def _tree_of_text(words: str, title: str) -> str:
    """Return a page's plain text as a tree of its lines."""
    lines = [line.strip() for line in words.splitlines() if line.strip()][:20_000]
    return (
        "\n".join([f"RootWebArea {title!r}", *(f"\tStaticText {line!r}" for line in lines)]) if lines else ""
    )


def _answer(head: Row, steps: list[Step]) -> str | None:
    given = text(head.get("answer"))
    if given:
        return redact_text(given)
    last = steps[-1].action if steps else None
    if last is not None and last.kind in ("send_msg_to_user", "report_infeasible"):
        return str(next(iter(last.args.values()), ""))
    return None


def _outcome(head: Row, answer: str | None, steps: list[Step]) -> Outcome:
    try:
        return Outcome(text(head.get("outcome")).lower().replace(" ", "_"))
    except ValueError:
        pass
    if steps and steps[-1].action is not None and steps[-1].action.kind == "report_infeasible":
        return Outcome.INFEASIBLE
    if text(head.get("error")):
        return Outcome.CRASHED
    return Outcome.ANSWERED if answer is not None else Outcome.UNKNOWN


def _score(head: Row) -> float | None:
    value = head.get("score")
    if isinstance(value, bool):
        return float(value)
    found = number(value, None)
    return found if found is not None and 0 <= found <= 1 else None


def _tokens(row: Row) -> tuple[int, int]:
    given = row.get("tokens")
    if isinstance(given, list) and len(cast("list[object]", given)) == 2:
        pair = cast("list[object]", given)
        return max(integer(pair[0], 0), 0), max(integer(pair[1], 0), 0)
    return 0, 0


def _cost(row: Row) -> Cost | None:
    money = number(row.get("cost"), None)
    return Cost(known=money) if money is not None and 0 <= money < 1e6 else None


def _sum_of_costs(steps: list[Step]) -> Cost | None:
    total: Cost | None = None
    for step in steps:
        if step.cost is not None:
            total = step.cost if total is None else total + step.cost
    return total


def _moment(value: object) -> float:
    """Return a time in Unix seconds, given as such or in ISO 8601 (UTC where it names no zone); 0 for none."""
    found = number(value, None)
    if found is not None:
        return found if 0 < found < 1e11 else 0.0
    try:
        moment = datetime.fromisoformat(text(value))
        return max((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def _words(row: Row, name: str) -> str:
    """Return a text, also one that is given as a whole number."""
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value).strip()


def _row(line: bytes) -> Row | None:
    try:
        value: object = orjson.loads(line.lstrip(b"\xef\xbb\xbf"))
    except ValueError:
        return None
    return cast("Row", value) if isinstance(value, dict) else None


def _object(value: object) -> Row:
    return cast("Row", value) if isinstance(value, dict) else {}


RUN_FORMAT = RunFormat(
    name="jsonl",
    title="Generic JSONL (docs/guide/jsonl-runs.md)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
