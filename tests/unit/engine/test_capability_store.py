"""Capabilities of endpoints on disk: shared by processes, versioned, aged, without secrets."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.agent.model import capability_store
from app.engine.agent.model.capabilities import (
    EffortSupport,
    EndpointCapabilities,
    SchemaSupport,
    SentParameters,
    context_size,
    prompt_size,
)
from app.engine.agent.model.capability_store import MAX_AGE, CapabilityStore
from app.engine.store.locks import FileLock

URL = "https://user:secret@models.test/v1?api-version=1"
LEARNT = EndpointCapabilities(
    schema=SchemaSupport.OBJECT,
    effort=EffortSupport.OBJECT,
    refused_efforts=("minimal",),
    room=8000,
    context=32_768,
    temperature=False,
)


def test_what_was_learnt_is_read_back_without_credentials(tmp_path: Path):
    path = tmp_path / "endpoints.json"
    CapabilityStore(path).save(URL, "m", LEARNT)
    assert CapabilityStore(path).load("https://models.test/v1", "m") == LEARNT
    assert CapabilityStore(path).load(URL, "other") == EndpointCapabilities()
    assert "secret" not in path.read_text()


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path):
    path = tmp_path / "endpoints.json"
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda at: CapabilityStore(path).save(URL, f"m{at % 8}", replace(LEARNT, room=at)), range(40)
            )
        )
    assert [CapabilityStore(path).load(URL, f"m{at}").room for at in range(8)] == list(range(32, 40))


def test_a_lock_file_that_a_dead_process_left_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(capability_store, "LOCK_SECONDS", 0.0)
    path = tmp_path / "endpoints.json"
    path.with_suffix(".lock").touch()
    CapabilityStore(path).save(URL, "m", LEARNT)
    assert CapabilityStore(path).load(URL, "m") == LEARNT


def test_while_another_process_writes_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(capability_store, "LOCK_SECONDS", 0.0)
    path = tmp_path / "endpoints.json"
    with FileLock(path.with_suffix(".lock")) as other, caplog.at_level(logging.WARNING):
        assert other.take()
        CapabilityStore(path).save(URL, "m", LEARNT)
    assert not path.exists()
    assert [record.message for record in caplog.records] == [
        f"{path} can't be written: another process is writing it"
    ]


def test_an_entry_ages_from_its_first_day_and_can_be_dropped(tmp_path: Path):
    path, now = tmp_path / "endpoints.json", [1000.0]
    store = CapabilityStore(path, lambda: now[0])
    store.save(URL, "m", LEARNT)
    now[0] += MAX_AGE - 1
    store.save(URL, "m", replace(LEARNT, room=9000))
    assert store.load(URL, "m").room == 9000
    now[0] += 2
    assert store.load(URL, "m") == EndpointCapabilities()
    store.save(URL, "m", LEARNT)
    store.drop(URL, "m")
    assert store.load(URL, "m") == EndpointCapabilities()


def test_a_newer_file_is_neither_used_nor_overwritten(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "endpoints.json"
    path.write_text(newer := json.dumps({"format": 2, "endpoints": {}}))
    store = CapabilityStore(path)
    with caplog.at_level(logging.WARNING):
        store.save(URL, "m", LEARNT)
        assert store.load(URL, "m") == EndpointCapabilities()
    assert path.read_text() == newer
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "[]",
        "{",
        '{"format": 1, "endpoints": []}',
        '{"format": 1, "endpoints": {"https://models.test/v1": 7}}',
    ],
)
def test_a_broken_file_is_begun_anew(tmp_path: Path, stored: str):
    path = tmp_path / "endpoints.json"
    path.write_text(stored)
    CapabilityStore(path).save(URL, "m", LEARNT)
    assert CapabilityStore(path).load(URL, "m") == LEARNT


ALL = SentParameters(
    schema=True, pictures=True, tools=True, cache_marks=True, detail=True, effort="minimal", limit=64_000
)
DEFAULT = EndpointCapabilities()


@pytest.mark.parametrize(
    ("refusal", "sent", "expected"),
    [
        (
            "max_tokens is too large: 64000. This model supports at most 16384",
            ALL,
            replace(DEFAULT, output=16_384),
        ),
        ("Use max_completion_tokens instead of max_tokens", ALL, replace(DEFAULT, completion_limit=True)),
        ("temperature is not supported", ALL, replace(DEFAULT, temperature=False)),
        ("reasoning_effort is unknown", ALL, replace(DEFAULT, effort=EffortSupport.OBJECT)),
        (
            "Unsupported value: 'minimal' for reasoning_effort",
            ALL,
            replace(DEFAULT, refused_efforts=("minimal",)),
        ),
        (
            "reasoning.effort is unknown",
            replace(ALL, responses=True),
            replace(DEFAULT, effort=EffortSupport.NONE),
        ),
        (
            "Encrypted content is not supported",
            replace(ALL, effort="", responses=True),
            replace(DEFAULT, sealed=False),
        ),
        ("cache_control: extra field", ALL, replace(DEFAULT, cache_marks=False)),
        ("tools are not supported", ALL, replace(DEFAULT, tools=False)),
        ("unknown field detail", ALL, replace(DEFAULT, detail=False)),
        ("no image input", ALL, replace(DEFAULT, pictures=False)),
        ("maximum context length is 4096 tokens", ALL, None),
    ],
)
def test_a_refusal_leaves_out_what_it_names(
    refusal: str, sent: SentParameters, expected: EndpointCapabilities | None
):
    assert DEFAULT.without_rejected(refusal, sent) == expected


@pytest.mark.parametrize(
    ("refusal", "context", "prompt"),
    [
        (
            "maximum context length is 4096 tokens. However, you requested 5000 tokens (3500 in the messages",
            4096,
            3500,
        ),
        (
            "maximum context length is 8,192 tokens. However, your messages resulted in 9001 tokens",
            8192,
            9001,
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000),
        ("the request exceeds the available context size", None, None),
    ],
)
def test_the_sizes_in_a_refusal_for_length_are_read(refusal: str, context: int | None, prompt: int | None):
    assert (context_size(refusal), prompt_size(refusal)) == (context, prompt)
