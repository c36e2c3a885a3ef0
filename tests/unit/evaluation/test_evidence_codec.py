"""The stored form of evidence."""

from __future__ import annotations

import pytest

from app.engine.core.evaluation.run_evidence import RunEvidence, SiteState, TargetEvidence
from app.engine.core.trajectory import Tab
from app.engine.evaluation.evidence_codec import decode_evidence, encode_evidence
from app.errors import InputError

EVIDENCE = RunEvidence(
    answer="é",
    tabs=(Tab(url="http://a/", title="b"),),
    active=0,
    html="<p>x",
    targets=(TargetEvidence(target="2.1", value="v"),),
    before=(SiteState(site="s", output={"b": [1, {"a": None}], "a": 2}),),
    har={"log": {"entries": []}},
)


@pytest.mark.parametrize("evidence", [RunEvidence(), EVIDENCE])
def test_evidence_comes_back_as_it_was_and_has_one_form(evidence: RunEvidence) -> None:
    data = encode_evidence(evidence)
    assert decode_evidence(data) == evidence
    assert encode_evidence(decode_evidence(data)) == data


def test_the_order_of_a_states_keys_does_not_change_its_form() -> None:
    one = RunEvidence(after=(SiteState(site="s", output={"a": 1, "b": 2}),))
    other = RunEvidence(after=(SiteState(site="s", output={"b": 2, "a": 1}),))
    assert encode_evidence(one) == encode_evidence(other)


def test_half_a_character_becomes_a_question_mark() -> None:
    assert decode_evidence(encode_evidence(RunEvidence(answer="x\ud800"))).answer == "x?"


def test_a_state_too_deep_for_json_is_refused() -> None:
    deep: dict[str, object] = {}
    for _ in range(2000):
        deep = {"a": deep}
    with pytest.raises(InputError):
        encode_evidence(RunEvidence(after=(SiteState(site="s", output=deep),)))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "damaged"),
        (b"[]", "no evidence"),
        (b'{"form":"sitelore-evidence","version":2}', "newer Sitelore"),
        (b'{"form":"sitelore-evidence","version":"1"}', "version 1"),
        (b'{"form":"sitelore-evidence","version":1,"tabs":3}', "tabs"),
    ],
)
def test_what_is_no_evidence_is_refused_in_a_sentence(data: bytes, why: str) -> None:
    with pytest.raises(InputError) as refused:
        decode_evidence(data)
    assert why in str(refused.value)
