"""Tables of the review state."""

from __future__ import annotations

import sqlite3

from app.engine.store.password_migration import remove_passwords

APPEND_ONLY = (
    "person_request",
    "person_decision",
    "person_closing",
    "person_hint",
    "person_hint_taken",
    "intervention",
    "flag_reaction",
    "tip_leaning",
    "standing_answer",
)
"""Tables whose rows are never changed: later facts are rows of their own."""


def create_supervision_tables(connection: sqlite3.Connection) -> None:
    """Create the tables; a migration of the review state."""
    for statement in (
        "CREATE TABLE person_request (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
        " run TEXT NOT NULL, document TEXT NOT NULL)",
        "CREATE INDEX person_request_run ON person_request (run)",
        "CREATE TABLE person_decision (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
        " request TEXT NOT NULL REFERENCES person_request (id), document TEXT NOT NULL)",
        "CREATE INDEX person_decision_request ON person_decision (request)",
        "CREATE TABLE person_closing (request TEXT PRIMARY KEY REFERENCES person_request (id), at REAL NOT NULL,"
        " why TEXT NOT NULL)",
        "CREATE TABLE person_hint (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
        " run TEXT NOT NULL, document TEXT NOT NULL)",
        "CREATE INDEX person_hint_run ON person_hint (run)",
        "CREATE TABLE person_hint_taken (hint TEXT PRIMARY KEY REFERENCES person_hint (id), at REAL NOT NULL)",
        "CREATE TABLE intervention (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL,"
        " document TEXT NOT NULL)",
        "CREATE INDEX intervention_run ON intervention (run)",
        "CREATE TABLE flag_reaction (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL,"
        " step INTEGER NOT NULL, detector TEXT NOT NULL, document TEXT NOT NULL)",
        "CREATE INDEX flag_reaction_run ON flag_reaction (run, step, detector)",
        "CREATE TABLE tip_leaning (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, tip TEXT NOT NULL,"
        " kind TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL)",
        "CREATE INDEX tip_leaning_run ON tip_leaning (run, kind)",
        "CREATE TABLE standing_answer (seq INTEGER PRIMARY KEY AUTOINCREMENT, reach TEXT NOT NULL,"
        " run TEXT NOT NULL, site TEXT NOT NULL, risk TEXT NOT NULL, answer TEXT NOT NULL, at REAL NOT NULL)",
        # The tables below hold current state: their rows are replaced.
        "CREATE TABLE live_note (run TEXT PRIMARY KEY, state TEXT NOT NULL, document TEXT NOT NULL,"
        " request TEXT NOT NULL, at REAL NOT NULL)",
        "CREATE TABLE wish (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, what TEXT NOT NULL,"
        " text TEXT NOT NULL, at REAL NOT NULL)",
    ):
        connection.execute(statement)
    for table in APPEND_ONLY:
        for deed in ("DELETE", "UPDATE"):
            connection.execute(
                f"CREATE TRIGGER {table}_no_{deed.lower()} BEFORE {deed} ON {table}"
                " BEGIN SELECT RAISE(ABORT, 'what a person did is kept for ever'); END"
            )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE verdict (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, run TEXT NOT NULL,"
        " label TEXT NOT NULL, step INTEGER, detector TEXT NOT NULL, note TEXT NOT NULL, author TEXT NOT NULL,"
        " at REAL NOT NULL, guideline TEXT NOT NULL, lead_seconds REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX verdict_run ON verdict (run)")
    connection.execute(
        "CREATE TABLE mark (seq INTEGER PRIMARY KEY AUTOINCREMENT, verdict TEXT NOT NULL REFERENCES verdict (id),"
        " standing INTEGER NOT NULL, at REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX mark_verdict ON mark (verdict, seq)")
    for table in ("verdict", "mark"):
        for deed in ("DELETE", "UPDATE"):
            connection.execute(
                f"CREATE TRIGGER {table}_no_{deed.lower()} BEFORE {deed} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, 'verdicts are kept for ever'); END"
            )
    connection.execute("CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL)")


def _opinions(connection: sqlite3.Connection) -> None:
    # A model's opinion costs money, so it is stored with people's verdicts and not in the index.
    connection.execute(
        "CREATE TABLE opinion (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, at REAL NOT NULL,"
        " model TEXT NOT NULL, document TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX opinion_run ON opinion (run, seq)")


def _annotators(connection: sqlite3.Connection) -> None:
    """Add the origin of verdicts, adjudications, queues of annotators and versions of the guideline."""
    connection.execute("ALTER TABLE verdict ADD COLUMN origin TEXT NOT NULL DEFAULT ''")
    connection.execute("ALTER TABLE verdict ADD COLUMN settles INTEGER NOT NULL DEFAULT 0")
    # Queues are current state: assigning again replaces the rows of these annotators.
    connection.execute(
        "CREATE TABLE assignment (annotator TEXT NOT NULL, run TEXT NOT NULL, place INTEGER NOT NULL,"
        " shared INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (annotator, run))"
    )
    connection.execute("CREATE INDEX assignment_run ON assignment (run)")
    connection.execute(
        "CREATE TABLE guideline (version INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, author TEXT NOT NULL,"
        " at REAL NOT NULL)"
    )
    for action in ("DELETE", "UPDATE"):
        connection.execute(
            f"CREATE TRIGGER guideline_no_{action.lower()} BEFORE {action} ON guideline"
            " BEGIN SELECT RAISE(ABORT, 'versions of the guideline are kept for ever'); END"
        )


def _schedules(connection: sqlite3.Connection) -> None:
    """Add the schedule, which is current state, and the results of its work, which are kept for ever."""
    connection.execute(
        "CREATE TABLE schedule (id TEXT PRIMARY KEY, document TEXT NOT NULL, at REAL NOT NULL,"
        " claim TEXT NOT NULL DEFAULT '', claimed_at REAL NOT NULL DEFAULT 0)"
    )
    connection.execute(
        "CREATE TABLE schedule_result (seq INTEGER PRIMARY KEY AUTOINCREMENT, schedule TEXT NOT NULL,"
        " document TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX schedule_result_schedule ON schedule_result (schedule, seq)")
    for action in ("DELETE", "UPDATE"):
        connection.execute(
            f"CREATE TRIGGER schedule_result_no_{action.lower()} BEFORE {action} ON schedule_result"
            " BEGIN SELECT RAISE(ABORT, 'results of scheduled work are kept for ever'); END"
        )


def _batches(connection: sqlite3.Connection) -> None:
    """Add batches: the batch, its tasks, runs and retries are kept for ever, the rest is current state."""
    for statement in (
        "CREATE TABLE batch (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL)",
        "CREATE TABLE batch_task (batch TEXT NOT NULL REFERENCES batch (id), number INTEGER NOT NULL,"
        " request TEXT NOT NULL, PRIMARY KEY (batch, number))",
        "CREATE TABLE batch_run (seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL UNIQUE,"
        " batch TEXT NOT NULL REFERENCES batch (id), number INTEGER NOT NULL, at REAL NOT NULL)",
        "CREATE INDEX batch_run_batch ON batch_run (batch, seq)",
        "CREATE TABLE batch_retry (seq INTEGER PRIMARY KEY AUTOINCREMENT, batch TEXT NOT NULL REFERENCES batch (id),"
        " number INTEGER NOT NULL, at REAL NOT NULL)",
        "CREATE INDEX batch_retry_batch ON batch_retry (batch, number)",
        # The tables below hold current state: their rows are replaced.
        "CREATE TABLE batch_state (batch TEXT PRIMARY KEY REFERENCES batch (id), document TEXT NOT NULL,"
        " at REAL NOT NULL)",
        "CREATE TABLE batch_run_state (run TEXT PRIMARY KEY REFERENCES batch_run (run), document TEXT NOT NULL)",
    ):
        connection.execute(statement)
    for table in ("batch", "batch_task", "batch_run", "batch_retry"):
        for action in ("DELETE", "UPDATE"):
            connection.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table}"
                " BEGIN SELECT RAISE(ABORT, 'what a batch consists of is kept for ever'); END"
            )


MIGRATIONS = (
    _create,
    _opinions,
    create_supervision_tables,
    remove_passwords,
    _annotators,
    _schedules,
    _batches,
)
PURGING = (remove_passwords,)
