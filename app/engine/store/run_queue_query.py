"""The review queue's question to the index: conditions and orders of runs, and the verdicts a reader may see.

A second look is blind: of a run in the queues of two annotators or more, such an annotator sees no verdict of another
person before one of their own is in force.  Readers with no such run in their queue see all verdicts; nothing on
one's own disk is secret, it is about not being influenced.
"""

from __future__ import annotations

from app.engine.api.run_filter_words import ME
from app.engine.api.run_rows import RunFilter
from app.engine.store.run_search_text import fts_query

ORDERS = {
    "risk": "run.risk DESC, run.steps DESC, run.id",
    "teach": "run.risk DESC, run.steps DESC, run.id",  # the service puts the runs that teach most in between
    "date": "run.started_at DESC, run.id",
    "site": "run.site, run.risk DESC, run.id",
    "steps": "run.steps DESC, run.id",
    "id": "run.id",
}
BLIND = """
  SELECT mine.run FROM review.assignment AS mine WHERE mine.annotator = ?
  AND EXISTS (SELECT 1 FROM review.assignment AS other WHERE other.run = mine.run AND other.annotator != mine.annotator)
  AND NOT EXISTS (SELECT 1 FROM standing WHERE standing.run = mine.run AND standing.author = ?)"""
"""Runs that the reader, given twice, is to judge without seeing the verdicts of others."""
JUDGED = f"""
WITH standing AS MATERIALIZED (
  SELECT seq, run, label, author, at, settles FROM review.verdict AS v
  WHERE (SELECT standing FROM review.mark WHERE verdict = v.id ORDER BY seq DESC LIMIT 1) = 1
), seen AS MATERIALIZED (
  SELECT * FROM standing WHERE run NOT IN ({BLIND})
), said AS (
  SELECT run, max(CASE place WHEN 1 THEN label END) AS label, count(*) AS verdicts,
    json_group_array(DISTINCT author) AS people
  FROM (SELECT *, row_number() OVER (PARTITION BY run ORDER BY settles DESC, at DESC, seq DESC) AS place FROM seen)
  GROUP BY run
)"""
"""Tables of verdicts in force (``standing``), those the reader may see (``seen``), and by run (``said``): an
adjudication, else the newest, counts.  Takes the reader twice.
"""
_DISPUTED = """run.id IN (
  SELECT run FROM (
    SELECT run, label, row_number() OVER (PARTITION BY run, author ORDER BY at DESC, seq DESC) AS place
    FROM seen WHERE NOT settles
  ) WHERE place = 1 GROUP BY run HAVING count(DISTINCT label) > 1
) AND run.id NOT IN (SELECT run FROM seen WHERE settles)"""


def conditions(which: RunFilter, reader: str) -> tuple[str, list[object]]:
    """Return the condition of a filter in SQL over ``run`` and the tables of ``JUDGED``, and its values.

    ``unjudged`` means: by anybody; together with ``assigned``: by that person.
    """
    wanted: list[str] = []
    values: list[object] = []

    def want(condition: str, *parameters: str) -> None:
        wanted.append(condition)
        values.extend(_storable(value) for value in parameters)

    def name(person: str) -> str:
        return reader if person == ME and reader else person

    if which.site:
        want("run.site = ?", which.site)
    if which.suite:
        want("run.suite = ?", which.suite)
    if which.task:
        want("run.task_id = ?", which.task)
    if which.failed:
        want("run.score < 1")
    if which.passed:
        want("run.score >= 1")
    if which.assigned:
        want("run.id IN (SELECT run FROM review.assignment WHERE annotator = ?)", name(which.assigned))
    if which.unjudged and which.assigned:
        want("run.id NOT IN (SELECT run FROM standing WHERE author = ?)", name(which.assigned))
    elif which.unjudged:
        want("said.label IS NULL")
    if which.judged_by:
        want("run.id IN (SELECT run FROM seen WHERE author = ?)", name(which.judged_by))
    if which.disputed:
        want(_DISPUTED)
    if which.needs:
        want("run.needs != ''")
    if which.label:
        want("said.label = ?", which.label)
    if which.detector:
        want("run.id IN (SELECT run FROM flag WHERE detector = ?)", which.detector)
    if which.search.strip():
        want(
            "run.id IN (SELECT run FROM page WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?))",
            fts_query(which.search) or '""',
        )
    return " AND ".join(f"({one})" for one in wanted) or "1", values


def _storable(text: str) -> str:
    """Replace lone surrogates, which SQLite does not take, by question marks."""
    return text.encode("utf-8", "replace").decode()
