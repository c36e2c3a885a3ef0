"""Importer of WebArena's ``render_N.html``: the task, then for each step the page and the predicted action.

``[Result] (PASS)`` lines of logs beside or above the files give the scores. Forks write an action without its object or
its words; what is there is read.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.ax_tree import find_node
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.sites import CROSS, SiteTable
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step, Tab
from app.engine.imports.page_contents import ForeignContents, clean_args, sites_of
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import ReadRun, read_bytes
from app.engine.store.run_files import make_run_id
from app.errors import InputError, PathError, printable

SOURCE = "webarena-html"
MAX_BYTES = 512 * 2**20
"""Longest file that is read; a step with a picture has about 1 MB."""
MAX_LOG = 64 * 2**20
MAX_STEPS = 2000

_VERIFIED = (
    "a result of WebArena-Verified: an answer and its evaluation, without steps; import the run itself"
)
_NAME = re.compile(r"render_(.{1,80})\.html")
_TASK = re.compile(rb"<pre>\s*(?:sites|task_id|intent|require_login)\b")
_CONFIG = re.compile(r"^(\w+): ?(.*)$", re.MULTILINE)
_RESULT = re.compile(r"\[Result\] \((PASS|FAIL)\) (\S+)")
_CALL = re.compile(r"```\s*(.*?)\s*```", re.DOTALL)
_LAYOUT = frozenset({"pre", "div", "a", "html", "head", "body", "style", "h3", "br", "img"})
"""Tags that RenderHelper writes itself; others are part of a text."""
_SUITES = ("visualwebarena", "webchorearena", "webarena")


@dataclass(slots=True)
class _Shown:
    """One ``New Page`` of the file, as text."""

    url: str = ""
    observation: str = ""
    picture: str = ""
    before: str = ""
    predicted: str = ""
    raw: str = ""
    object: str = ""
    parsed: str = ""


@dataclass(slots=True)
class RenderedRun:
    """One file, and what logs beside it say of its task."""

    path: Path
    data: bytes
    content_hash: str
    passed: bool | None = None
    problems: list[PathError] = field(default_factory=list[PathError])


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    if "agent_response.json" in folder.names and "eval_result.json" in folder.names:
        folder.problems.append(PathError(path=str(folder.path), error=_VERIFIED))
    for name in folder.names:
        if name.endswith((".html", ".htm")) and _is_rendered(folder.head(name)):
            yield FoundPart(folder.path / name)


def _is_rendered(head: bytes) -> bool:
    return _TASK.search(head) is not None and (b"task_id:" in head or b"class='state_obv'" in head)


def load(path: Path, root: Path, part: str) -> RenderedRun:
    """Read a file and the result of its task.

    Raises:
        InputError: it can't be read.
    """
    data = read_bytes(path, MAX_BYTES)
    passed = _passed(path, root)
    digest = hashlib.sha256(data)
    digest.update({None: b"", True: b"\1", False: b"\0"}[passed])
    return RenderedRun(path, data, digest.hexdigest(), passed)


def parse(raw: RenderedRun, sites: SiteTable) -> ReadRun:
    """Make a run of a file.

    Raises:
        InputError: it holds neither a task nor a page.
    """
    reader = _Reader()
    reader.feed(raw.data.decode("utf-8", "replace"))
    reader.close()
    task, pages = _task(reader.config), reader.pages[: MAX_STEPS + 1]
    if not task and not pages:
        raise InputError("no task and no page of WebArena could be read in it", path=str(raw.path))
    contents = ForeignContents()
    steps, stop = _steps(pages, contents)
    notes = [f"only the first {MAX_STEPS} pages are read"] if len(reader.pages) > MAX_STEPS else []
    if not raw.data.rstrip().endswith(b"</html>"):
        notes.append("the file is cut off: the last steps may be missing")
    if not pages:
        notes.append("the run has no page: it ended before its first step")
    final, outcome, answer = None, Outcome.UNKNOWN, None
    if stop is not None:
        final, steps = replace(steps[-1], action=None, target=None, executed=False), steps[:-1]
        answer = redact_text(stop)
        outcome = (
            Outcome.INFEASIBLE if stop.strip().lower() in ("n/a", "not achievable") else Outcome.ANSWERED
        )
        steps = [*steps, _stop_step(final, stop, pages[len(steps)])]
        final = replace(final, index=len(steps), reason="", raw_output="")
    name = _NAME.fullmatch(raw.path.name)
    task_id = redact_text(task.get("task_id", "") or (name[1] if name else raw.path.stem))[:100]
    suite = _suite(raw.path)
    site, visited = _sites(task, [step.url for step in steps if step.url], sites)
    start = task.get("start_url", "").split(" |AND| ")[0].strip()
    run = Run(
        id=make_run_id(f"{suite}-{task_id}", raw.content_hash[:8]),
        source=SOURCE,
        suite=suite,
        task_id=task_id,
        site=site,
        sites=visited,
        intent=redact_text(task.get("intent", "")),
        start_url=redact_url(start) or (steps[0].url if steps else ""),
        score=None if raw.passed is None else float(raw.passed),
        outcome=outcome,
        answer=answer,
        step_count=len(steps),
        final=final,
        source_path=printable(str(raw.path)),
        content_hash=raw.content_hash,
        notes=tuple(notes),
    )
    return ReadRun(run=run, steps=tuple(steps), blobs=contents.blobs, problems=tuple(raw.problems))


def _stop_step(page: Step, answer: str, shown: _Shown) -> Step:
    action = RecordedAction(kind="send_msg_to_user", args=clean_args({"text": answer}))
    raw = redact_text(shown.raw or shown.predicted)
    return replace(page, action=action, executed=True, reason=_reason(raw), raw_output=raw)


def _steps(pages: list[_Shown], contents: ForeignContents) -> tuple[list[Step], str | None]:
    """Return a step for each page, and the answer if the last action was to stop."""
    steps: list[Step] = []
    stop: str | None = None
    for index, shown in enumerate(pages):
        url = redact_url(shown.url.strip().removeprefix("URL:").strip())
        raw = redact_text(shown.raw or shown.predicted)
        tree = _tree(shown.observation)
        step = Step(
            index=index,
            url=url,
            title=_title(tree),
            tabs=(Tab(url=url, title=_title(tree)),) if url else (),
            raw_output=raw,
            reason=_reason(raw),
            screenshot=contents.encoded_picture(shown.picture) if shown.picture else "",
        )
        step = contents.with_tree(step, tree)
        action, answer = read_action(shown)
        if answer is not None:
            return [*steps, step], answer
        target = _target(action, tree, shown.parsed)
        error = _error_after(pages[index + 1].before) if index + 1 < len(pages) else ""
        if action is None or action.kind == "none":
            error_class, action = ErrorClass.HARNESS, None
            error = error or "the prediction holds no action"
        else:
            error_class = ErrorClass.HARD if error else ErrorClass.NONE
        step = replace(step, error=redact_text(error), error_class=error_class)
        step = replace(step, executed=error_class is not ErrorClass.HARNESS)
        steps.append(contents.acted(step, action, target))
    return steps, stop


def _error_after(said: str) -> str:
    """Return the error that the next page's history tells of the action before it."""
    said = said.strip()
    if said.startswith(("Attempt to perfom", "Attempt to perform")):
        return said
    return said if "the format was incorrect" in said else ""


def read_action(shown: _Shown) -> tuple[RecordedAction | None, str | None]:
    """Return the action of a page, and the answer where it is to stop."""
    words = (
        shown.parsed or next(iter(_CALL.findall(shown.raw or shown.predicted)[::-1]), "") or shown.predicted
    )
    words = words.partition(" where [")[0].strip()
    head, _, rest = words.partition("[")
    kind = head.split("(")[0].strip().lower()
    args = re.findall(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]", "[" + rest) if rest else list[str]()
    first = args[0] if args else ""
    raw_text = _typed_text(shown)
    match kind:
        case "stop":
            return None, first or _stop_answer(shown)
        case "click" | "hover" | "check":
            return _recorded(kind, bid=first), None
        case "type":
            value = raw_text if raw_text is not None else args[1] if len(args) > 1 else ""
            enter = value.endswith("\n") or (raw_text is None and args[2:3] != ["0"] and not shown.parsed)
            return _recorded(
                "fill", bid=first, value=value.rstrip("\n"), **({"enter": True} if enter else {})
            ), None
        case "press":
            return _recorded("keyboard_press", key=first), None
        case "scroll":
            return _recorded("scroll", direction="up" if "up" in (first or words) else "down"), None
        case "goto":
            return _recorded("goto", url=first), None
        case "tab_focus" | "page_focus":
            return _recorded(
                "tab_focus", index=int(first) if first.isdecimal() and len(first) < 6 else 0
            ), None
        case "new_tab" | "go_back" | "go_forward":
            return _recorded(kind), None
        case "close_tab":
            return _recorded("tab_close"), None
        case "" | "none":
            return None, None
        case _:
            return _recorded(kind[:100], **{f"arg{place}": one for place, one in enumerate(args[:10])}), None


def _recorded(kind: str, **args: object) -> RecordedAction:
    return RecordedAction(kind=kind, args=clean_args(args))


def _typed_text(shown: _Shown) -> str | None:
    """Return the text of a ``type`` call as the agent wrote it: the rendered action has no line break left."""
    for call in reversed(_CALL.findall(shown.raw)):
        found = re.fullmatch(r"type ?\[(\d+)\] ?\[(.*?)\](?: ?\[([01])\])?", call, re.DOTALL)
        if found is not None:
            return found[2] + ("" if found[3] == "0" else "\n")
    return None


def _stop_answer(shown: _Shown) -> str:
    """Return the answer as the action object has it; reading it never runs it."""
    found = re.search(r"'answer': ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", shown.object)
    try:
        return str(ast.literal_eval(found[1])) if found is not None else ""
    except (ValueError, SyntaxError):
        return ""


def _reason(raw: str) -> str:
    """Return the words before the call."""
    return raw[: raw.rfind("```", 0, raw.rfind("```"))].strip() if raw.count("```") > 1 else ""


def _tree(observation: str) -> str:
    """Return the observation as BrowserGym writes trees: tabs for depth, ``key=value`` for a property."""
    lines: list[str] = []
    for line in observation.replace("\r\n", "\n").split("\n"):
        stripped = line.lstrip("\t")
        if not stripped.strip() or (not lines and stripped.startswith("Tab ")):
            continue
        found = re.match(
            r"(\[[^\]\s]+\] [A-Za-z][\w-]* (?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))(.*)", stripped
        )
        if found is not None and found[2]:
            marks = re.sub(r" ([a-zA-Z]+): ", r", \1=", found[2])
            stripped = found[1] + marks.replace(", focused=True", ", focused")
        lines.append(line[: len(line) - len(line.lstrip("\t"))] + stripped)
    return "\n".join(lines)


def _title(tree: str) -> str:
    found = re.search(r"RootWebArea ('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")", tree[:5000])
    return redact_text(found[1][1:-1]) if found is not None else ""


def _target(action: RecordedAction | None, tree: str, parsed: str) -> ActionTarget | None:
    if action is None or not action.bid:
        return None
    node = find_node(tree, action.bid) or find_node(
        parsed.partition(" where [")[2].partition(" is ")[2], action.bid
    )
    return (
        ActionTarget(role=node.role, name=redact_text(node.name), bid=node.bid) if node is not None else None
    )


def _task(config: str) -> dict[str, str]:
    """Return the task's fields; a value may go on over lines."""
    found = list(_CONFIG.finditer(config))
    ends = [*(one.start() for one in found[1:]), len(config)] if found else []
    return {one[1]: config[one.start(2) : end].strip() for one, end in zip(found, ends, strict=True)}


def _suite(path: Path) -> str:
    return next(
        (suite for part in path.parts[-4:][::-1] for suite in _SUITES if suite in part.lower()), "webarena"
    )


def _sites(task: dict[str, str], urls: list[str], sites: SiteTable) -> tuple[str, tuple[str, ...]]:
    """Return the sites that the task names, else those of the pages."""
    named = tuple(dict.fromkeys(re.findall(r"'([\w.-]{1,60})'", task.get("sites", ""))))[:10]
    if named:
        return (named[0] if len(named) == 1 else CROSS), named
    return sites_of(urls, sites)


def _passed(path: Path, root: Path) -> bool | None:
    """Return the last result of the file's task in the logs beside it, or in the folder above, of the chosen folder."""
    name = _NAME.fullmatch(path.name)
    folders = (path.parent, path.parent / "log_files", path.parent.parent)
    for folder in folders if name is not None else ():
        if not folder.is_relative_to(root) or folder.is_symlink() or not folder.is_dir():
            continue
        for log in _logs(folder):
            found = _results(*log).get(name[1]) if name is not None else None
            if found is not None:
                return found
    return None


def _logs(folder: Path) -> list[tuple[Path, int, int]]:
    """Return the logs of a folder, the newest first, with their size and time of change."""
    found: list[tuple[Path, int, int]] = []
    try:
        for path in folder.iterdir():
            if "log" in path.name and path.suffix in (".log", ".txt"):
                facts = path.lstat()
                found.append((path, facts.st_size, facts.st_mtime_ns))
    except OSError:
        return []
    return sorted(found, key=lambda one: (one[2], one[0].name), reverse=True)


@lru_cache(maxsize=64)
def _results(log: Path, size: int, changed: int) -> dict[str, bool]:
    """Return the results by task that a log names; of several of a task the last counts."""
    try:
        text = read_bytes(log, MAX_LOG).decode("utf-8", "replace")
    except InputError:
        return {}
    return {Path(config).stem: verdict == "PASS" for verdict, config in _RESULT.findall(text)}


class _Reader(HTMLParser):
    """Reads the file. Predictions are not escaped in it, so a prediction with tags loses only these."""

    _FIELDS = {
        "prev_action": "before",
        "raw_parsed_prediction": "raw",
        "action_object": "object",
        "parsed_action": "parsed",
        "predict_action": "predicted",
        "state_obv": "observation",
        "url": "url",
    }

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.config = ""
        self.pages: list[_Shown] = []
        self._into = ""
        self._heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the field that begins here; a tag inside of one is its text."""
        values = dict(attrs)
        kind = self._FIELDS.get(values.get("class") or "")
        if tag == "h2":
            self._heading = True
        elif tag == "pre" and not self.pages:
            self._into = "config"
        elif kind is not None and self.pages and tag in ("div", "h3"):
            self._into = kind
        elif tag == "img" and self.pages and (values.get("src") or "").startswith("data:image/"):
            self.pages[-1].picture = values["src"] or ""
        elif tag not in _LAYOUT:
            self._add(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        """End a heading; text after a field's end is no part of it."""
        if tag == "h2":
            self._heading = False
        elif tag in ("pre", "h3") and self._into != "predicted":
            self._into = ""
        elif tag not in _LAYOUT:
            self._add(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Add text to the field that is open."""
        if self._heading:
            if data.strip() == "New Page":
                self.pages.append(_Shown())
                self._into = ""
            return
        self._add(data)

    def handle_entityref(self, name: str) -> None:
        """Keep a reference as it is written: the file is not escaped."""
        self._add(f"&{name};")

    def handle_charref(self, name: str) -> None:
        """As ``handle_entityref``."""
        self._add(f"&#{name};")

    def _add(self, text: str) -> None:
        if not self._into:
            return
        if self._into == "config":
            self.config += text
            return
        page = self.pages[-1]
        setattr(page, self._into, getattr(page, self._into) + text)


RUN_FORMAT = RunFormat(
    name="webarena-html",
    title="WebArena (render_N.html)",
    new_finder=lambda: _find,
    load=load,
    parse=parse,
)
