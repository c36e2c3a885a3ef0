"""Compares the records of an evaluation with the runs beside them: a journal is a text file, and anyone may edit it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from app.engine.core.evaluation.episode import EpisodeRecord
from app.engine.store.run_files import RUN_FILE
from app.errors import InputError


def check_records(folder: Path, runs: Path, records: Sequence[EpisodeRecord]) -> None:
    """Refuse records that say another score than their run does; runs that are not there are not asked.

    Raises:
        InputError: one differs.
    """
    for record in records:
        if not record.run or record.error or Path(record.run).name != record.run:
            continue
        try:
            run: Any = orjson.loads((runs / record.run / RUN_FILE).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(run, dict) and run.get("score") != record.score:  # pyright: ignore[reportUnknownMemberType]
            key = record.key
            raise InputError(
                f"the record of task {key.task}, arm {key.arm} says {_words(record.score)}, and its run"
                f" {record.run} says {_words(run.get('score'))}",  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
                path=str(folder),
                remedy="one of them was changed by hand; put it back, or run the evaluation again in another folder",
            )


def _words(score: object) -> str:
    return "that it is undecided" if score is None else f"a score of {score}"
