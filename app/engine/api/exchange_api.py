"""Use cases of exchanges: what each role of a model was sent at a step, and its answer.  Part of ``EngineApi``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

EXCHANGE_FORMAT = 2
"""Format number of a recorded exchange.  1 has no parameters, no money, and no parts of their own for tips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRow:
    """One exchange of a run in a list.

    Attributes:
        step: the step it belongs to; ``None`` for those of the whole run (a judge's, the last answers of a run that
            broke off).
        at: Unix seconds of the request.
        money: US dollars at the price of that time; ``None`` where no price was known or none was recorded.
        truncated: the answer ended at the token limit.
        error: why no answer came, or why the record can't be read; "" otherwise.
        size: bytes of the record.
    """

    digest: str
    step: int | None
    role: str = ""
    model: str = ""
    at: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    seconds: float = 0.0
    money: float | None = None
    truncated: bool = False
    error: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangePart:
    """One part of a message: its kind (``chat_messages.PartKind``), its text, the picture's digest or the tip's id.

    ``stored`` is False for a picture whose bytes were not kept.
    """

    kind: str
    text: str = ""
    digest: str = ""
    tip: str = ""
    stored: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeMessage:
    """One message that was sent, by the role of its author."""

    role: str
    parts: tuple[ExchangePart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request to a model and its answer, as recorded: without secrets.

    Attributes:
        row: its figures.
        format: of the record; 1 has no parameters, no money, and tips only within texts.
        parameters: what was sent beside the messages, by name: model, effort, limits.
        most: tokens that the role asked for at most.
        schema: title of the answer's schema, "" where free text was asked for.
        data: the answer as indented JSON where it could be read as such.
        pictures_dropped: the endpoint took no pictures, and words were sent in their place.
        previous: digest of the same role's request before it; "" for the first.
    """

    row: ExchangeRow
    format: int = 1
    messages: tuple[ExchangeMessage, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    most: int = 0
    schema: str = ""
    text: str = ""
    thinking: str = ""
    data: str = ""
    first: float = 0.0
    pictures_dropped: bool = False
    previous: str = ""


MOST_TIMES = 5
"""How often one exchange is asked again at most, to see how steady the answer is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgainRequest:
    """An exchange of the operator or planner that is sent again with changes; nothing is done in a browser.

    Attributes:
        model, effort: "" as the settings say for the role.
        without: ids of tips of the prompt that are left out.
        edited: texts that take the place of tips, by id.
        tips: ids of tips of the knowledge base that are added; ``texts`` are tips in words.
        times: how often it is asked, 1 to ``MOST_TIMES``.
    """

    run: str
    digest: str
    model: str = ""
    effort: str = ""
    without: tuple[str, ...] = ()
    edited: dict[str, str] = field(default_factory=dict[str, str])
    tips: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgainEstimate:
    """Estimated tokens and cost of asking again, for all times together.

    Attributes:
        tokens_in: estimated, rather too high.  tokens_out: at most, without a model's reasoning.
        money: US dollars at most; ``None`` where the price is not known.
        notes: what differs from the request of then besides the changes.
    """

    model: str
    tokens_in: int
    tokens_out: int
    money: float | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAnswer:
    """One answer: its decision in words, and whether it is the one of then.

    ``digest`` names its exchange; ``error`` says why there is no answer.
    """

    digest: str = ""
    decision: str = ""
    same: bool = False
    text: str = ""
    model: str = ""
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    money: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain:
    """An exchange that was asked again; stored beside the run, which stays as it is.

    Attributes:
        at: Unix seconds.  author: who asked.
        decision: the original's, in words.  text: its answer.
    """

    request: AskAgainRequest
    role: str = ""
    step: int | None = None
    at: float = 0.0
    author: str = ""
    decision: str = ""
    text: str = ""
    answers: tuple[AskedAnswer, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> int:
        """How many answers decide as the original."""
        return sum(answer.same for answer in self.answers)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        answered = [answer for answer in self.answers if not answer.error]
        word = "action" if self.role == "operator" else "decision"
        if not answered:
            return f"no answer: {self.answers[0].error}" if self.answers else "no answer"
        others = list(dict.fromkeys(answer.decision for answer in answered if not answer.same))
        count = f" ({self.same} of {len(answered)} the same)" if len(answered) > 1 else ""
        if not others:
            return f"same {word}{count}: {self.decision}"
        return f"other {word}{count}: {'; '.join(others)} instead of {self.decision}"


class ExchangeApi(Protocol):
    """Use cases of exchanges with a model."""

    async def exchanges(self, run: str, step: int | None = None) -> tuple[ExchangeRow, ...]: ...
    async def exchange(self, run: str, digest: str) -> Exchange: ...
    async def ask_again_estimate(self, request: AskAgainRequest) -> AskAgainEstimate: ...
    async def ask_again(self, request: AskAgainRequest) -> AskedAgain: ...
    async def asked_again(self, run: str, digest: str = "") -> tuple[AskedAgain, ...]: ...
