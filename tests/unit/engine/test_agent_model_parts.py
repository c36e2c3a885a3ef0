"""The parts of the model client that need no connection: parsing, capabilities, retries, budget."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.model.capabilities import EndpointCapabilities, SchemaSupport, SentParameters, is_strict
from app.engine.agent.model.chat_format import estimate_tokens, to_chat_messages
from app.engine.agent.model.client import open_model
from app.engine.agent.model.limits import (
    Budget,
    Meter,
    Price,
    RetryPolicy,
    known_price,
    parse_price,
    retry_after,
)
from app.engine.agent.model.streamed_answer import StreamedAnswer
from app.engine.agent.model.structured import read_json
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.model_api import AgentRole, ModelError, ModelErrorKind
from app.errors import UsageError
from app.settings import Settings


def text_part(text: str) -> MessagePart:
    return MessagePart(kind=PartKind.TEXT, text=text)


def say(role: ChatRole, text: str) -> ChatMessage:
    return ChatMessage(role=role, parts=(text_part(text),))


# a streamed answer


def test_a_streamed_answer_is_put_together_from_its_chunks():
    answer = StreamedAnswer(100)
    for chunk in (
        {"choices": [{"delta": {"reasoning_content": "Hm, "}}]},
        {"choices": [{"delta": {"content": [{"type": "text", "text": "clíck("}]}}]},
        {"choices": []},
        {"choices": [{"delta": {"content": '"3")'}, "finish_reason": "stop"}], "model": "m"},
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None}},
    ):
        answer.add(chunk)
    assert (answer.text, answer.thinking, answer.finish, answer.model) == ('clíck("3")', "Hm, ", "stop", "m")
    assert (answer.tokens, answer.cut, answer.events) == ((7, 3), False, 5)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["choices", "delta", "content", "usage", "model", "text"]), inner)
    ),
    max_leaves=8,
)


@given(_JSON)
def test_no_chunk_breaks_an_answer(chunk: object):
    answer = StreamedAnswer(10)
    try:
        answer.add(chunk)
    except ValueError:
        assert not isinstance(chunk, dict)
    assert isinstance(answer.text, str)


def test_an_answer_without_end_is_cut_off_with_what_it_had():
    answer = StreamedAnswer(10)
    while not answer.cut:
        answer.add({"choices": [{"delta": {"content": "x" * 1000}}]})
    assert len(answer.text) == 10 * 32 + 10_000


# reading JSON

SCHEMA = {"type": "object", "required": ["verdict"], "properties": {"verdict": {"type": "string"}}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"verdict": "yes"}', {"verdict": "yes"}),
        ('Here it is:\n```json\n{"verdict": "yes"}\n```\nAnything else?', {"verdict": "yes"}),
        ('<think>{"verdict": "no"}?</think> {"verdict": "yes"}', {"verdict": "yes"}),
        ('{"verdict": "yes", "list": [1, 2,],}', {"verdict": "yes", "list": [1, 2]}),
        ('{"verdict": True, "why": None}', {"verdict": True, "why": None}),
        ('{"verdict": "None of these, True,}"', {"verdict": "None of these, True,}"}),
        ('{"verdict": "yes", "why": "it sa', {"verdict": "yes", "why": "it sa"}),
        ('{"verdict": "yes", "why": ', {"verdict": "yes"}),
        ('{"verdict": "yes", "boxes": [{"a": 1}, {"a"', {"verdict": "yes", "boxes": [{"a": 1}]}),
        ('{"note": "{"} {"verdict": "a } b"}', {"verdict": "a } b"}),
        ('I weigh {"verdict": "no"} first, then {"verdict": "yes"} and {"x": 1}', {"verdict": "yes"}),
        ('{"verdict": "two\nlines"}', {"verdict": "two\nlines"}),
        ("no object at all", None),
        ("[1, 2]", None),
        ("", None),
        ("}{", None),
    ],
)  # fmt: skip
def test_objects_are_found_and_mended(answer: str, expected: dict[str, object] | None):
    assert read_json(answer, SCHEMA) == expected


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(st.text(max_size=9) | st.integers() | st.booleans() | st.none(), st.lists, max_leaves=5),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["{}", "```json\n{}\n```", "Well: {} so.", "<think>hm</think>{}"]),
)
def test_any_object_is_read_from_within_its_wrapping(data: dict[str, object], wrapping: str):
    assert read_json(wrapping.replace("{}", json.dumps(data))) == data


@given(st.text(alphabet='{}[]",:\\ab1 \n', max_size=60))
def test_no_text_breaks_the_reading(text: str):
    assert read_json(text) is None or isinstance(read_json(text), dict)


@pytest.mark.timeout(120)  # a bound against growth with the square
def test_nonsense_of_ten_megabytes_is_read_to_an_end():
    for nonsense in (
        "{" * 10_000_000,
        '{"a": ' * 1_600_000,
        "{ x " * 2_500_000,
        "{" * 200_000 + "}" * 200_000,
        "word " * 2_000_000,
    ):
        found = read_json(nonsense, SCHEMA)
        assert found is None or isinstance(found, dict)


# prompts


def test_neighbours_of_one_role_become_one_message_and_only_the_first_is_the_systems():
    sent = to_chat_messages(
        [
            say(ChatRole.SYSTEM, "rules"),
            say(ChatRole.SYSTEM, "ledger"),
            say(ChatRole.USER, "page"),
            say(ChatRole.ASSISTANT, "click"),
            say(ChatRole.TOOL, "it changed"),
            say(ChatRole.SYSTEM, "late word"),
        ]
    )
    assert sent == [
        {"role": "system", "content": "rules\nledger"},
        {"role": "user", "content": "page"},
        {"role": "assistant", "content": "click"},
        {"role": "user", "content": "it changed\nlate word"},
    ]


@given(
    st.lists(st.sampled_from([ChatRole.USER, ChatRole.ASSISTANT, ChatRole.TOOL]), max_size=12),
    st.integers(0, 12),
)
def test_messages_added_leave_the_beginning_alone(roles: list[ChatRole], cut: int):
    messages = [say(ChatRole.SYSTEM, "rules"), *(say(role, f"word {at}") for at, role in enumerate(roles))]
    whole = "".join(f"{one['role']}:{one['content']}\n" for one in to_chat_messages(messages))
    part = "".join(f"{one['role']}:{one['content']}\n" for one in to_chat_messages(messages[: cut + 1]))
    assert whole.startswith(part.removesuffix("\n"))


def test_a_request_is_never_guessed_smaller_than_a_token_for_four_bytes():
    assert estimate_tokens([say(ChatRole.USER, "é" * 400)]) >= 200


# capabilities

STRICT = {**SCHEMA, "additionalProperties": False}


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (
            "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'",
            EndpointCapabilities(completion_limit=True),
        ),
        ("temperature does not support 0", EndpointCapabilities(temperature=False)),
        ("unknown field stream_options", EndpointCapabilities(usage=False)),
        ("response_format.type must be text", EndpointCapabilities(schema=SchemaSupport.OBJECT)),
        ("this model is not multimodal", EndpointCapabilities(pictures=False)),
        ("System role not supported", EndpointCapabilities(system=False)),
        ("bad request", EndpointCapabilities(schema=SchemaSupport.OBJECT)),
        ("maximum context length exceeded, max_tokens too many", None),
    ],
)
def test_a_refusal_says_what_to_leave_out(refusal: str, expected: EndpointCapabilities | None):
    assert (
        EndpointCapabilities().without_rejected(refusal, SentParameters(schema=True, pictures=True))
        == expected
    )


@given(st.text(max_size=30), st.booleans(), st.booleans())
def test_leaving_out_comes_to_an_end(refusal: str, had_schema: bool, had_pictures: bool):
    capabilities: EndpointCapabilities | None = EndpointCapabilities()
    for _ in range(8):
        capabilities = (
            capabilities.without_rejected(refusal, SentParameters(schema=had_schema, pictures=had_pictures))
            if capabilities
            else None
        )
    assert capabilities is None


def test_strict_mode_is_asked_for_only_where_a_schema_keeps_its_rules():
    assert is_strict(STRICT)
    assert not is_strict(SCHEMA)
    nested = {**STRICT, "properties": {"verdict": {"type": "array", "items": SCHEMA}}}
    assert not is_strict(nested)
    assert not is_strict({**STRICT, "required": []})


# waiting


def test_retry_after_is_read_as_number_milliseconds_or_date():
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after-ms": "250"}) == 0.25
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT"}, now=1445412480.0) == 10
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT"}, now=2e9) == 0
    for nonsense in ("", "soon", "-1", "nan", "1e99"):
        assert retry_after({"retry-after": nonsense}) is None
    assert retry_after({}) is None


@given(st.integers(1, 40), st.none() | st.floats(0, 100), st.integers())
def test_a_pause_is_bounded_and_never_shorter_than_asked(attempt: int, asked: float | None, seed: int):
    retries = RetryPolicy()
    seconds = retries.delay(attempt, asked, random.Random(seed))
    assert seconds >= 0
    assert seconds <= retries.longest + (asked or 0)
    assert asked is None or seconds >= asked


# counting


def test_prices_are_parsed_and_wrong_ones_rejected():
    assert parse_price("2.50/10") == Price(tokens_in=2.5, tokens_out=10)
    assert parse_price("2/0.5/8") == Price(tokens_in=2, cached=0.5, tokens_out=8)
    assert parse_price(" ") is None
    for nonsense in ("2", "a/b", "1/2/3/4", "-1/2", "nan/1"):
        with pytest.raises(UsageError, match="US dollars"):
            parse_price(nonsense)


def test_listed_prices_go_by_the_models_own_name():
    assert known_price("gpt-4o-mini") != known_price("gpt-4o")
    assert known_price("openai/gpt-4o-2024-08-06") == known_price("gpt-4o")
    assert known_price("gpt-4o-extra") is None
    assert known_price("llama") is None


def test_tokens_from_the_cache_cost_their_own_price():
    price = Price(tokens_in=10, cached=1, tokens_out=100)
    assert price.of(1_000_000, 1_000_000, 500_000) == pytest.approx(5 + 0.5 + 100)
    assert Price(tokens_in=10, tokens_out=0).of(1_000_000, 0, 500_000) == pytest.approx(10)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 500)), max_size=20), st.integers(1, 3000))
def test_what_is_allowed_never_passes_the_bound(calls: list[tuple[int, int]], bound: int):
    meter = Meter(Budget(tokens=bound))
    for wanted, most in calls:
        try:
            with meter.reserve(wanted, most, None) as allowed:
                assert 1 <= allowed <= most
                meter.count(AgentRole.OPERATOR, calls=1, tokens=(wanted, allowed))
        except ModelError:
            continue
    used = meter.total()
    assert used.tokens_in + used.tokens_out <= bound


def test_money_without_a_price_is_refused_before_anything_is_spent():
    with pytest.raises(ModelError, match="price"), Meter(Budget(money=1)).reserve(10, 10, None):
        pass
    with pytest.raises(UsageError, match="SITELORE_MODEL_PRICE"):
        open_model(Settings(model_url="http://127.0.0.1:1/v1", model_name="mine", run_money=1.0), "")


def test_without_an_endpoint_the_way_out_is_named():
    with pytest.raises(ModelError, match="SITELORE_MODEL_URL") as caught:
        open_model(Settings(), "")
    assert caught.value.kind is ModelErrorKind.NO_MODEL
