"""The supervisor's desk: what runs ask a person, what the person decided, said and did, and where each run stands.

Requests, decisions, hints, deeds and reactions are rows that are never changed; a request's state follows from the
rows about it.  The file is that of the review state, so one transaction and one undo history hold for both.  What
returned is on the disk.  Another process (the command line) may write at any time: nothing is held in memory.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.engine.errors import Conflict, NotFound, UsageError
from app.engine.hand_back import Said, end_said
from app.engine.intervention_policy import Answer, RiskClass
from app.engine.store.database import explained, transaction
from app.engine.store.desk_rows import check_words, known, read, read_all, written
from app.engine.store.desk_state import DeskState
from app.engine.supervision import (
    FlagReaction,
    Intervention,
    PersonDecision,
    PersonHint,
    PersonRequest,
    RequestState,
    Verb,
    misfit,
)

_STANDING = {Verb.APPROVE: Answer.ALLOW, Verb.DENY: Answer.DENY}


@dataclass(frozen=True, slots=True)
class _Closing:
    at: float
    why: str


class DeskStore(DeskState):
    """Requests, hints, deeds and reactions of a workspace, and all that ``DeskState`` remembers of its runs.

    Every method raises ``StoreError`` where the disk is full, read-only or damaged; then nothing was changed.
    """

    # requests

    def open_request(self, request: PersonRequest) -> PersonRequest:
        """Keep a request, as open.

        Raises:
            Conflict: there is one of this id.
        """
        request = replace(request, state=RequestState.OPEN, decision=None, closed_at=0.0)
        with explained(self.path), transaction(self.connection):
            if self._request(request.id) is not None:
                raise Conflict(f"request {request.id} is there already")
            self.connection.execute(
                "INSERT INTO person_request (id, run, document) VALUES (?,?,?)",
                (request.id, request.run, written(request)),
            )
        return request

    def request(self, id: str) -> PersonRequest:
        """A request as it stands.

        Raises:
            NotFound: there is none of this id, or it can't be read.
        """
        with explained(self.path):
            return self._asked(id)

    def requests(self, run: str = "", closed: bool = False) -> list[PersonRequest]:
        """Requests in the order they came, of one run or of all; without the closed ones unless asked for."""
        left = "" if closed else " AND id NOT IN (SELECT request FROM person_closing)"
        with explained(self.path):
            rows = self.connection.execute(
                f"SELECT seq, document FROM person_request WHERE (? = '' OR run = ?){left} ORDER BY seq",
                (run, run),
            ).fetchall()
            return [self._as_it_stands(one) for one in read_all(PersonRequest, rows, "request")]

    def decide(self, id: str, decision: PersonDecision) -> PersonRequest:
        """Decide an open request; of two who do it at once, in whatever process, one does.

        An approval or a denial that reaches beyond the one action holds from then on (``standing``).

        Raises:
            NotFound: there is none of this id.
            Conflict: it was decided already, or nobody waits for it any more.
            UsageError: it is none for what is asked, or lacks its words or its action, or they are too long.
        """
        _check(decision)
        with explained(self.path), transaction(self.connection):
            asked = self._asked(id)
            if wrong := misfit(asked.need, decision.verb):
                raise UsageError(wrong)
            if asked.decision is not None:
                by = asked.decision.author or "somebody"
                raise Conflict(f"request {id} was decided already by {by}: {asked.decision.verb.value}")
            if asked.state is RequestState.CLOSED:
                raise Conflict(f"request {id} is closed: {asked.void or 'nobody waits for it any more'}")
            self.connection.execute(
                "INSERT INTO person_decision (request, document) VALUES (?,?)", (id, written(decision))
            )
            risk, answer = known(RiskClass, asked.risk), _STANDING.get(decision.verb)
            if risk is not None and answer is not None:
                self.add_standing(decision.reach, asked.run, asked.site, risk, answer, decision.author)
            return self._asked(id)

    def close_requests(self, ids: Iterable[str], at: float) -> list[PersonRequest]:
        """Close those that are decided, for the step that goes by the decision has begun; those closed by this."""
        closed: list[PersonRequest] = []
        with explained(self.path), transaction(self.connection):
            for id in ids:
                asked = self._request(id)
                if asked is not None and asked.state is RequestState.DECIDED:
                    self._close(id, at, "")
                    closed.append(self._asked(id))
        return closed

    def void_request(self, id: str, why: str) -> PersonRequest:
        """Close a request that nobody waits for any more, decided or not; one that is closed stays as it is.

        Raises:
            NotFound: there is none of this id.
        """
        with explained(self.path), transaction(self.connection):
            if self._asked(id).state is not RequestState.CLOSED:
                self._close(id, time.time(), why or "nobody waits for it any more")
            return self._asked(id)

    # hints

    def add_hint(self, hint: PersonHint) -> PersonHint:
        """Keep a person's words to a run.

        Raises:
            UsageError: they are empty or too long; nothing is ever cut.  Conflict: there is a hint of this id.
        """
        if not check_words(hint.text, "the hint").strip():
            raise UsageError("the hint has no words")
        hint = replace(hint, taken_at=0.0)
        with explained(self.path), transaction(self.connection):
            if self.connection.execute("SELECT 1 FROM person_hint WHERE id = ?", (hint.id,)).fetchone():
                raise Conflict(f"hint {hint.id} is there already")
            self.connection.execute(
                "INSERT INTO person_hint (id, run, document) VALUES (?,?,?)",
                (hint.id, hint.run, written(hint)),
            )
        return hint

    def hints(self, run: str = "") -> list[PersonHint]:
        """Hints in the order they came, of one run or of all."""
        with explained(self.path):
            rows = self.connection.execute(
                "SELECT seq, document, at FROM person_hint LEFT JOIN person_hint_taken ON hint = id"
                " WHERE ? = '' OR run = ? ORDER BY seq",
                (run, run),
            ).fetchall()
        found = ((row, read(PersonHint, row["document"], f"hint {row['seq']}")) for row in rows)
        return [replace(hint, taken_at=row["at"] or 0.0) for row, hint in found if hint is not None]

    def take_hints(self, run: str, at: float) -> list[PersonHint]:
        """Mark the hints of a run that no step was given before as given now; which they are."""
        with explained(self.path), transaction(self.connection):
            new = [hint for hint in self.hints(run) if not hint.taken_at]
            for hint in new:
                self.connection.execute(
                    "INSERT INTO person_hint_taken (hint, at) VALUES (?,?)", (hint.id, at)
                )
        return [replace(hint, taken_at=at) for hint in new]

    # deeds and reactions

    def add_deed(self, deed: Intervention) -> Intervention:
        """Put a deed on a run's time line; it comes back with its ``order``."""
        with explained(self.path), transaction(self.connection):
            cursor = self.connection.execute(
                "INSERT INTO intervention (run, document) VALUES (?,?)", (deed.run, written(deed))
            )
        return replace(deed, order=int(cursor.lastrowid or 0))

    def deeds(self, run: str = "") -> list[Intervention]:
        """The time line, oldest first, of one run or of all."""
        with explained(self.path):
            rows = self.connection.execute(
                "SELECT seq, document FROM intervention WHERE ? = '' OR run = ? ORDER BY seq", (run, run)
            ).fetchall()
        found = ((row, read(Intervention, row["document"], f"deed {row['seq']}")) for row in rows)
        return [replace(deed, order=row["seq"]) for row, deed in found if deed is not None]

    def add_reaction(self, reaction: FlagReaction) -> FlagReaction:
        """Keep what an operator made of a flag; the newest word on a flag counts."""
        with explained(self.path), transaction(self.connection):
            self.connection.execute(
                "INSERT INTO flag_reaction (run, step, detector, document) VALUES (?,?,?,?)",
                (reaction.run, reaction.step, reaction.detector, written(reaction)),
            )
        return reaction

    def reactions(self, run: str = "") -> list[FlagReaction]:
        """The newest reaction to each flag, oldest first, of one run or of all."""
        with explained(self.path):
            rows = self.connection.execute(
                "SELECT seq, document FROM flag_reaction WHERE ? = '' OR run = ? ORDER BY seq", (run, run)
            ).fetchall()
        newest: dict[tuple[str, int, str], FlagReaction] = {}
        for one in read_all(FlagReaction, rows, "reaction"):
            flag = (one.run, one.step, one.detector)
            newest.pop(flag, None)
            newest[flag] = one
        return list(newest.values())

    def word(self, run: str) -> Said:
        """What a person has said of a run as a whole."""
        decided = [one for one in self.requests(run, closed=True) if one.decision is not None and one.wall]
        none = (one.wall for one in decided if one.decision and one.decision.verb is Verb.NO_WALL)
        return Said(no_walls=frozenset(none), end=end_said(self.deeds(run)))

    # inside

    def _request(self, id: str) -> PersonRequest | None:
        row = self.connection.execute(
            "SELECT seq, document FROM person_request WHERE id = ?", (id,)
        ).fetchone()
        asked = read(PersonRequest, row["document"], f"request {row['seq']}") if row is not None else None
        return self._as_it_stands(asked) if asked is not None else None

    def _asked(self, id: str) -> PersonRequest:
        asked = self._request(id)
        if asked is None:
            raise NotFound(f"no request {id[:80]!r} on the desk of this workspace")
        return asked

    def _as_it_stands(self, asked: PersonRequest) -> PersonRequest:
        rows = self.connection.execute(
            "SELECT seq, document FROM person_decision WHERE request = ? ORDER BY seq", (asked.id,)
        ).fetchall()
        decision = next(iter(read_all(PersonDecision, rows, "decision")), None)
        closing = self._closing(asked.id)
        state = RequestState.DECIDED if decision is not None else RequestState.OPEN
        if closing is not None:
            state = RequestState.CLOSED
        return replace(
            asked,
            state=state,
            decision=decision,
            closed_at=closing.at if closing is not None else 0.0,
            void=closing.why if closing is not None else "",
        )

    def _closing(self, id: str) -> _Closing | None:
        row: sqlite3.Row | None = self.connection.execute(
            "SELECT at, why FROM person_closing WHERE request = ?", (id,)
        ).fetchone()
        return _Closing(row["at"], row["why"]) if row is not None else None

    def _close(self, id: str, at: float, why: str) -> None:
        self.connection.execute("INSERT INTO person_closing (request, at, why) VALUES (?,?,?)", (id, at, why))


def _check(decision: PersonDecision) -> None:
    check_words(decision.text, "the answer" if decision.verb is Verb.ANSWER else "the reason")
    check_words(decision.command, "the action")
    if decision.verb is Verb.EDIT and not decision.command.strip():
        raise UsageError("there is no action to do instead", remedy='give one like click("12")')
    if decision.verb is Verb.ANSWER and not decision.text.strip():
        raise UsageError("the answer has no words", remedy="deny the request to give none")
