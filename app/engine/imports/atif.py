"""Importer of ATIF (harbor's Agent Trajectory Interchange Format, RFC 0001): one trajectory a JSON file.

Minor versions newer than the last known one are read as far as they go, with a note; a new major version is refused.
Pictures are files beside the trajectory. Steps of embedded sub-agents follow the call that started them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.engine.core.cost import Cost
from app.engine.core.redaction import redact_text
from app.engine.core.sites import SiteTable
from app.engine.core.trajectory import Outcome, Run
from app.engine.imports.atif_steps import MAX_WORDS, TrajectorySteps
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.page_contents import ForeignContents, sites_of
from app.engine.imports.picture_files import PictureFiles, urls_of
from app.engine.imports.run_format import FoundPart, RunFormat, SourceFolder
from app.engine.imports.source_files import MAX_JSON_BYTES, ReadRun, read_bytes, read_json_object
from app.engine.imports.step_records import integer, number, text
from app.engine.store.run_files import make_run_id
from app.errors import InputError, printable

SOURCE = "atif"
LAST_KNOWN = (1, 8)

_MARK = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
_VERSION = re.compile(r"ATIF-v(\d{1,4})\.(\d{1,4})")
_SCORES = ("reward", "score", "success")
_OUTCOMES = {outcome.value for outcome in Outcome} - {Outcome.RUNNING.value}


@dataclass(frozen=True, slots=True)
class AtifFile:
    """The bytes of a trajectory file; ``content_hash`` hashes them."""

    path: Path
    root: Path
    data: bytes
    content_hash: str


def _find(folder: SourceFolder) -> Iterator[FoundPart]:
    for name in folder.names:
        if name.lower().endswith(".json") and _MARK.search(folder.head(name)):
            yield FoundPart(folder.path / name)


def load(path: Path, root: Path, part: str) -> AtifFile:
    """Read a trajectory's bytes; its pictures are read when it is parsed.

    Raises:
        InputError: it can't be read.
    """
    data = read_bytes(path, MAX_JSON_BYTES)
    return AtifFile(path, root, data, hashlib.sha256(data).hexdigest())


def parse(raw: AtifFile, sites: SiteTable) -> ReadRun:
    """Make a run of a trajectory.

    Raises:
        InputError: it is not JSON, of a newer major version, or has no steps.
    """
    document = read_json_object(raw.data, raw.path)
    notes = _version_notes(document, raw.path)
    if not items_of(document.get("steps")):
        raise InputError("an ATIF trajectory without steps", path=str(raw.path))
    contents = ForeignContents()
    files = PictureFiles(raw.path.parent, contents, ("", "images"))
    read = TrajectorySteps(contents, files)
    read.read(document)
    steps, final = tuple(read.steps), read.final()
    pages = [*steps, final] if final is not None else list(steps)
    urls = urls_of(pages)
    site, visited = sites_of(urls, sites)
    extra = fields_of(document.get("extra"))
    own = fields_of(extra.get("sitelore"))
    agent = fields_of(document.get("agent"))
    answer, outcome = _end(read, own)
    notes += [f"{sentence}: {count}" for sentence, count in read.counts.items()]
    if len(read.said) > 1:
        notes.append(f"later messages of the user are no part of the goal: {len(read.said) - 1}")
    if document.get("continued_trajectory_ref"):
        notes.append("it goes on in another file, which is a run of its own")
    task = redact_text(text(extra.get("task_id")) or text(own.get("task_id")))[:200]
    run = Run(
        id=make_run_id(f"{SOURCE}-{task or raw.path.stem}", raw.content_hash[:8]),
        source=SOURCE,
        suite=redact_text(text(own.get("suite")))[:200],
        task_id=task,
        site=site,
        sites=visited,
        intent=redact_text(next(filter(None, read.said), "")[:MAX_WORDS]),
        start_url=redact_text(text(own.get("start_url"))) or (urls[0] if urls else ""),
        score=_score(document, extra),
        outcome=outcome,
        error=redact_text(text(own.get("error"))),
        answer=contents.said(redact_text(answer[:MAX_WORDS])) if answer else None,
        step_count=len(steps),
        final=final,
        started_at=read.first_at,
        source_path=printable(str(raw.path)),
        content_hash=raw.content_hash,
        notes=(*notes, *files.note()),
        policy=redact_text(text(agent.get("name"))[:200]),
        model=redact_text(text(agent.get("model_name"))[:200]),
        tokens=_tokens(document, read),
        cost=_cost(document, read),
    )
    return ReadRun(run=run, steps=steps, blobs=contents.blobs, problems=tuple(files.problems))


def _version_notes(document: dict[str, Any], path: Path) -> list[str]:
    found = _VERSION.match(text(document.get("schema_version")))
    if found is None:
        raise InputError(f"no version of ATIF: {document.get('schema_version')!r}"[:200], path=str(path))
    version = (int(found[1]), int(found[2]))
    if version[0] > LAST_KNOWN[0]:
        raise InputError(
            f"made by a newer version of ATIF ({found[0]}); this program reads up to ATIF-v1.x",
            path=str(path),
            remedy="update the program",
        )
    return [f"{found[0]} is newer than ATIF-v1.8: what it adds is left out"] if version > LAST_KNOWN else []


def _end(read: TrajectorySteps, own: dict[str, Any]) -> tuple[str, Outcome]:
    last = read.steps[-1].action if read.steps else None
    answer = read.answer
    infeasible = False
    if last is not None and not answer and last.kind in ("send_msg_to_user", "report_infeasible"):
        answer, infeasible = str(next(iter(last.args.values()), "")), last.kind == "report_infeasible"
    said = own.get("outcome")
    if isinstance(said, str) and said in _OUTCOMES:
        return answer, Outcome(said)
    if infeasible:
        return answer, Outcome.INFEASIBLE
    return answer, Outcome.ANSWERED if answer else Outcome.UNKNOWN


def _score(document: dict[str, Any], extra: dict[str, Any]) -> float | None:
    """Return the reward that the environment gave, where the file holds one in [0, 1]."""
    for place in (extra, fields_of(fields_of(document.get("final_metrics")).get("extra"))):
        for name in _SCORES:
            value = place.get(name)
            if isinstance(value, bool):
                return float(value)
            score = number(value, None)
            if score is not None and 0 <= score <= 1:
                return score
    return None


def _tokens(document: dict[str, Any], read: TrajectorySteps) -> tuple[int, int]:
    final = fields_of(document.get("final_metrics"))
    sums = (sum(step.tokens[0] for step in read.steps), sum(step.tokens[1] for step in read.steps))
    return (
        max(integer(final.get("total_prompt_tokens"), sums[0]), 0),
        max(integer(final.get("total_completion_tokens"), sums[1]), 0),
    )


def _cost(document: dict[str, Any], read: TrajectorySteps) -> Cost | None:
    total = number(fields_of(document.get("final_metrics")).get("total_cost_usd"), None)
    if total is not None and total >= 0:
        return Cost(known=total)
    known = [step.cost.known for step in read.steps if step.cost is not None]
    return Cost(known=sum(known)) if known else None


RUN_FORMAT = RunFormat(
    name="atif", title="ATIF (harbor; 1.0 to 1.8)", new_finder=lambda: _find, load=load, parse=parse
)
