"""Workers in a cluster, on a stand-in for Ray that runs actors in this process: what crosses, what a death costs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from app.engine.api.evaluation_api import EpisodeRequest
from app.engine.core.evaluation.episode import Arm, EpisodeKey, EpisodeRecord, TipInEpisode
from app.engine.core.evaluation.task_score import ScoreVerdict
from app.engine.evaluation.scale import ray_engine
from app.engine.evaluation.scale.engine_port import EpisodeResult, EpisodeWorkerDied, EpisodeWorkerLost
from app.engine.evaluation.scale.ray_engine import RayEngine
from app.errors import InputError, SiteloreError, UsageError

REQUEST = EpisodeRequest(
    suite="shop",
    dialect="sitelore",
    task="t",
    arm=Arm(name="akb", kb="kbs/1/june.akb", tips=3),
    repeat=2,
    renew=("a",),
)
RECORD = EpisodeRecord(
    key=EpisodeKey(task="t", repeat=2, arm="akb"),
    cluster="shop:t",
    verdict=ScoreVerdict.PASS,
    score=1.0,
    money=None,
    tips=(TipInEpisode(tip="shop-1", shown=2, followed=1),),
)


class RayError(Exception):
    """Ray's own base of errors."""


class FakeRay:
    """Actors in this process; ``broken`` makes the next calls of an actor's method fail as if its process were gone."""

    def __init__(self, room: int) -> None:
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.room, self.started, self.killed = room, 0, 0
        self.broken: dict[str, int] = {}
        self.options: dict[str, Any] = {}
        self.is_shut_down = False

    def init(self, **options: Any) -> None:
        if options.get("address") == "nowhere:1":
            raise ConnectionError("no answer\nmore")
        self.options = options

    def cluster_resources(self) -> dict[str, float]:
        return {"browser": float(self.room)}

    def remote(self, kind: type) -> Any:
        def make(*given: Any) -> Any:
            self.started += 1
            return _FakeActor(self, kind(*given))

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=make))

    def kill(self, _actor: object) -> None:
        self.killed += 1

    def shutdown(self) -> None:
        self.is_shut_down = True


class _FakeActor:
    def __init__(self, ray: FakeRay, inner: object) -> None:
        self._ray, self._inner = ray, inner

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Awaitable[Any]] = getattr(self._inner, name)

        async def call(*given: Any) -> Any:
            if self._ray.broken.get(name, 0):
                self._ray.broken[name] -= 1
                raise RayError("the actor died")
            return await method(*given)

        return SimpleNamespace(remote=call)


class FakeWorker:
    """A worker that answers at once."""

    pid = 1
    error: SiteloreError | None = None
    asked: list[EpisodeRequest]

    def __init__(self, bundle: bytes, _folder: object) -> None:
        assert bundle == b"bundle"

    async def start(self) -> None:
        pass

    async def run(self, request: EpisodeRequest) -> EpisodeResult:
        type(self).asked.append(request)
        if self.error is not None:
            raise self.error
        return EpisodeResult(record=RECORD, run=b"run")

    async def close(self) -> None:
        pass


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    fake = FakeRay(room=2)
    monkeypatch.setattr(ray_engine, "_imported_ray", lambda: fake)
    monkeypatch.setattr(ray_engine, "EpisodeWorker", FakeWorker)
    monkeypatch.setattr(FakeWorker, "asked", [], raising=False)
    monkeypatch.setattr(FakeWorker, "error", None)
    return fake


async def test_a_request_and_its_record_cross_the_cluster_as_they_are(ray: FakeRay):
    engine = RayEngine(2, "127.0.0.2:6399")
    await engine.start(b"bundle")
    assert await engine.run(1, REQUEST) == EpisodeResult(record=RECORD, run=b"run")
    assert FakeWorker.asked == [REQUEST]
    assert ray.options["address"] == "127.0.0.2:6399"
    await engine.close()
    assert (ray.started, ray.killed, ray.is_shut_down) == (2, 2, True)


async def test_an_actor_that_died_costs_its_episode_and_is_started_again(ray: FakeRay):
    engine = RayEngine(1)
    await engine.start(b"bundle")
    ray.broken = {"run": 1}
    with pytest.raises(EpisodeWorkerDied):
        await engine.run(0, REQUEST)
    assert (await engine.run(0, REQUEST)).record == RECORD
    assert ray.started == 2
    ray.broken = {"run": 1, "start": 1}
    with pytest.raises(EpisodeWorkerDied):
        await engine.run(0, REQUEST)
    with pytest.raises(EpisodeWorkerLost, match="worker 0 can't be started"):
        await engine.run(0, REQUEST)
    await engine.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EpisodeWorkerDied("the worker ended in the middle"), EpisodeWorkerDied),
        (EpisodeWorkerLost("it can't be started"), EpisodeWorkerLost),
        (InputError("the suite is damaged"), SiteloreError),
    ],
)
async def test_a_workers_error_keeps_its_kind_and_its_words(ray: FakeRay, monkeypatch, error, kind):
    monkeypatch.setattr(FakeWorker, "error", error)
    engine = RayEngine(1)
    await engine.start(b"bundle")
    with pytest.raises(kind, match=str(error)) as raised:
        await engine.run(0, replace(REQUEST, task="u"))
    assert type(raised.value) is kind
    await engine.close()


async def test_a_cluster_without_room_or_answer_is_told(ray: FakeRay):
    ray.room = 1
    with pytest.raises(UsageError, match="room for 1 workers, and 2 were asked for"):
        await RayEngine(2).start(b"bundle")
    with pytest.raises(UsageError, match="at nowhere:1 can't be reached: no answer"):
        await RayEngine(1, "nowhere:1").start(b"bundle")
