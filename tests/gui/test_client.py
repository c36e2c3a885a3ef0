"""The window's end of the channel, with a real engine host in a child process."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from app.engine.api.run_rows import RunFilter
from app.errors import InputError, NotFound, StoreError
from app.models.common.engine_client import EngineClient
from kb.tip import TipDraft


@pytest.fixture
def client(run, tmp_path):
    client = EngineClient()
    run(client.spawn(tmp_path / "workspace"), timeout=60)
    yield client
    run(client.aclose(), timeout=60)


def test_a_call_and_its_typed_answer_cross_the_channel(client, run):
    saved = run(client.api.save_tip(TipDraft(site="gitlab", text="The menu opens on hover only.")))
    tip = run(client.api.tip(saved.id))
    assert (tip.id, tip.text, tip.revision) == (saved.id, "The menu opens on hover only.", 1)
    assert run(client.api.list_runs(RunFilter())) == []


def test_expected_errors_arrive_as_their_own_type_with_their_sentence(client, run, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        run(client.api.import_runs([str(tmp_path / "nowhere")]))
    with pytest.raises(NotFound):
        run(client.api.tip("gitlab-0000000000"))


def test_changes_are_told_to_the_window_as_signals(client, run, qtbot):
    with qtbot.waitSignal(client.knowledge_changed):
        asyncio.get_running_loop().create_task(
            client.api.save_tip(TipDraft(site="map", text="Zoom with the wheel."))
        )


def test_a_host_that_is_killed_is_replaced_and_nothing_saved_is_lost(client, run, qtbot):
    saved = run(client.api.save_tip(TipDraft(site="gitlab", text="The menu opens on hover only.")))
    told: list[str] = []
    client.host_changed.connect(told.append)
    assert client.host_pid is not None
    os.kill(client.host_pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: told[-1:] == [""])
    assert "restarting" in told[0]
    assert run(client.api.tip(saved.id)).id == saved.id


def test_a_workspace_of_a_newer_version_is_refused_with_the_hosts_own_words(run, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "workspace.json").write_text('{"format": "sitelore-workspace", "version": 99}')
    client = EngineClient()
    with pytest.raises((StoreError, InputError), match="newer"):
        run(client.spawn(workspace), timeout=60)
    run(client.aclose(), timeout=60)
