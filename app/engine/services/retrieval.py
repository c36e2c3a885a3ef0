"""Retrieval and pre-flight over the live knowledge base, kept in step with it; loads the encoder."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.api.engine_api import BehaviourDiff, StepDifference
from app.engine.api.run_rows import RunFilter
from app.engine.core.events import EncoderChanged
from app.engine.jobs import Job
from app.engine.services.core import Core, on_store
from app.engine.services.region_looks import PictureModels, RegionLooks
from app.errors import UsageError
from kb.errors import BadFile, NoSuchTip
from kb.freeze import open_any, refuse_changed
from kb.preflight import PreflightIndex
from kb.retrieval import RetrievalSettings, Retriever, content_key
from kb.retrieval.terms import tip_text
from kb.tip import RETRIEVABLE, Preflight, Query, Retrieval, Scope, Tip, TipDraft, TipRecord

if TYPE_CHECKING:
    from kb.encoder import Encoder
    from kb.store import KnowledgeBase
    from kb.vectors import VectorCache

log = logging.getLogger(__name__)

MAX_EXAMPLES = 50
"""Differing steps listed; the counts cover all."""

ENCODE_BATCH = 64
"""Texts encoded in one go on a worker: 0.1 to 0.5 s."""


class RetrievalService:
    """One retriever and one pre-flight index, rebuilt only when tips or runs have changed.

    Both live on the store thread, as their keyword index is SQLite in memory.
    """

    def __init__(
        self, core: Core, encoder_cache: Path, encoder_model: Path | None, token_budget: int
    ) -> None:
        self._core = core
        self._cache, self._model = encoder_cache, encoder_model
        self._settings = RetrievalSettings(token_budget=token_budget)
        self.encoder: Encoder | None = None
        self.encoder_message = "encoder is loading"
        self._retriever: Retriever | None = None
        self._tips_seen = -1
        self._seen: dict[str, tuple[int, TipRecord]] = {}
        self._hosts: dict[str, tuple[str, ...]] = {}
        self._preflight: PreflightIndex | None = None
        self._runs_seen = -1
        self._encoded = (-1, -1)
        self._goals_of = -1
        self._of_files: dict[str, str] = {}
        self._preparing: asyncio.Task[None] | None = None
        self.picture_models = PictureModels(core)
        self.looks = RegionLooks(core, self.picture_models)

    async def change(self, encoder_model: Path | None, token_budget: int) -> None:
        """Use another budget of tips (tokens), and another encoder where its folder is a different one.

        The encoder in use answers until the other one is loaded.
        """
        if token_budget != self._settings.token_budget:
            self._settings = replace(self._settings, token_budget=token_budget)
            await self._core.on_store(self._forget_retriever)
        if encoder_model != self._model:
            self._model = encoder_model
            await self.load_encoder()

    def _forget_retriever(self) -> None:
        self._retriever = None

    async def load_encoder(self, allow_export: bool = True, ahead: bool = True) -> None:
        """Load the encoder (export it the first time ever) as a job with progress.

        With ``ahead`` stored texts are then encoded in the background; retrieval answers meanwhile.
        """

        async def work(job: Job) -> None:
            job.advance(0, None, "loading the encoder")
            encoder = await self._core.on_worker(self._start_encoder, allow_export)
            if isinstance(encoder, str):
                self.encoder_message = f"no encoder: {encoder}; retrieval uses address and keywords only"
                self._core.bus.publish(EncoderChanged(ready=False, message=self.encoder_message))
                return
            await self._core.on_store(self._use_encoder, encoder)
            self._core.bus.publish(EncoderChanged(ready=True, message=self.encoder_message))

        _, task = self._core.registry.start("Encoder", work, cooperative=False)
        await task
        if ahead and self.encoder is not None:
            self._prepare()

    def encoder_identity(self) -> tuple[str, str] | None:
        """Return the name and hash of the encoder, for a manifest."""
        if self.encoder is None:
            return None
        name, _, digest = self.encoder.id.rpartition("@")
        return (name or self.encoder.id, digest)

    async def retrieve(self, query: Query, k: int | None = None, kb: str = "", budget: int = 0) -> Retrieval:
        """Return the tips for a page and a goal, from the live knowledge base or from a file.

        ``budget`` is in tokens; 0 takes the settings'.
        """
        if not query.url and not query.text.strip():
            raise UsageError("nothing to retrieve by", remedy="give an address, a goal, or both")
        site = self._core.workspace.site_of(query.url) if query.url and not query.site else ""
        if site in self._core.workspace.sites:
            query = replace(query, site=site)
        if not kb:
            await self.catch_up()
            return await self._core.on_store(lambda: self._live().retrieve(query, k, budget=budget or None))
        other = await self._core.on_worker(_read_retrievable_file, kb)
        self._of_files |= {content_key(tip_text(tip)): tip_text(tip) for tip in other.given}
        await self.catch_up()

        def from_file() -> Retrieval:
            vectors = self._core.kb.vectors
            retriever = other.retriever(self.encoder, vectors, self._settings, waits=False)
            found = retriever.retrieve(query, k, budget=budget or None)
            return replace(found, note="; ".join(note for note in (found.note, other.note) if note))

        return await self._core.on_store(from_file)

    async def tips_with_regions(self, kb: str = "") -> list[Tip]:
        """Return the tips an agent may be given that have a region, of the live knowledge base or of a file."""
        if kb:
            given = (await self._core.on_worker(_read_retrievable_file, kb)).given
            return [tip for tip in given if tip.anchor is not None]

        def reading() -> list[Tip]:
            tips = self._live().table.tips_with_anchors
            return [tip for tip in tips if tip.status in RETRIEVABLE]

        return await self._core.on_store(reading)

    @on_store
    def find_tip(self, tip: str) -> Tip | None:
        """Return a tip of the live knowledge base by its id, or ``None``."""
        try:
            return self._core.kb.get(tip)
        except NoSuchTip:
            return None

    async def open_frozen(
        self, path: str, budget: int = 0
    ) -> tuple[Callable[[Query], Awaitable[Retrieval]], Callable[[str], Awaitable[Tip | None]]]:
        """Open a frozen knowledge base for the steps of a run; return its retrieval and its lookup by id.

        All its tips are encoded first: the answers of an evaluation may not depend on timing.

        Raises ``BadFile`` when the file is none, was changed, is of a newer version, or has no tip to give.
        """
        other = await self._core.on_worker(_read_retrievable_file, path)
        if self.encoder is not None:
            await self._encode_missing(self.encoder, other.given)

        def opening() -> Retriever:
            return other.retriever(self.encoder, self._core.kb.vectors, self._settings, waits=True)

        retriever = await self._core.on_store(opening)
        tips = {tip.id: tip for tip in other.tips}

        async def ask(query: Query) -> Retrieval:
            return await self._core.on_store(lambda: retriever.retrieve(query, budget=budget or None))

        async def find(tip: str) -> Tip | None:
            return tips.get(tip)

        return ask, find

    async def preflight(self, draft: TipDraft, tip: str = "") -> Preflight:
        """Count the stored steps in which the draft would have been retrieved, were it active."""
        await self._goals()
        return await self._core.on_store(lambda: self._index().run(draft, self._live(), tip_id=tip))

    async def matching(self, site: str, scope: Scope) -> int:
        """Count the stored steps whose address is in the scope."""
        await self._goals()
        return await self._core.on_store(lambda: self._index().matching(site, scope))

    async def kb_behaviour_diff(self, a: str, b: str) -> BehaviourDiff:
        """Return the stored steps in which ``b`` retrieves other tips than ``a``."""
        left, right = await self._core.on_worker(lambda: (_read_file(a), _read_file(b)))
        if self.encoder is not None:
            await self._goals()
            await self._encode_missing(self.encoder, [*left.given, *right.given])

        def comparing() -> BehaviourDiff:
            vectors = self._core.kb.vectors
            old = left.retriever(self.encoder, vectors, self._settings, waits=True)
            new = right.retriever(self.encoder, vectors, self._settings, waits=True)
            steps = self._core.workspace.index.stored_steps()
            told: dict[Query, tuple[tuple[str, ...], tuple[str, ...]]] = {}
            differences: list[StepDifference] = []
            for step in steps:
                query = Query(url=step.url, text=step.text, site=step.site)
                if query not in told:
                    told[query] = _difference(old.retrieve(query), new.retrieve(query))
                gained, lost = told[query]
                if gained or lost:
                    differences.append(
                        StepDifference(
                            run=step.run, step=step.step, gained=gained, lost=lost, failed=step.failed
                        )
                    )
            return BehaviourDiff(
                steps=len(steps),
                changed=len(differences),
                in_passed_runs=sum(d.failed is False for d in differences),
                examples=tuple(differences[:MAX_EXAMPLES]),
            )

        return await self._core.on_store(comparing)

    async def catch_up(self) -> None:
        """Encode one batch of retrievable texts without a vector; the rest in the background."""
        if self.encoder is None or (self._preparing is not None and not self._preparing.done()):
            return
        texts = await self._core.on_store(self._lacking, self.encoder, False)
        await self._encode(self.encoder, texts[:ENCODE_BATCH])
        if len(texts) > ENCODE_BATCH:
            self._prepare()

    async def wait_until_prepared(self, seconds: float | None = None) -> bool:
        """Wait until all retrievable texts are encoded, or for so many seconds; return whether they are."""
        if self.encoder is None:
            return False
        if self._preparing is None or self._preparing.done():
            if not await self._core.on_store(self._lacking, self.encoder, False):
                return True
            self._prepare(everything=False)
        assert self._preparing is not None
        done, _ = await asyncio.wait({self._preparing}, timeout=seconds)
        return bool(done)

    def _prepare(self, *, everything: bool = True) -> None:
        """Encode in the background, in batches that are stored as they come; one job at a time."""
        encoder = self.encoder
        if encoder is None or (self._preparing is not None and not self._preparing.done()):
            return

        async def work(job: Job) -> None:
            texts = await self._core.on_store(self._lacking, encoder, everything)
            for start in range(0, len(texts), ENCODE_BATCH):
                if job.cancel_requested or self.encoder is not encoder:
                    return
                job.advance(start, len(texts), "encoding tips and goals")
                await self._encode(encoder, texts[start : start + ENCODE_BATCH])
            if texts:
                self._core.bus.publish(EncoderChanged(ready=True, message=self.encoder_message))

        _, self._preparing = self._core.registry.start("Prepare the embedding route", work)

    async def _goals(self) -> None:
        """Encode the goals of all runs, which pre-flight compares with, and one batch of the tips."""
        await self.catch_up()
        encoder, index = self.encoder, self._core.workspace.index
        version = index.data_version
        if encoder is None or version == self._goals_of:
            return

        def lacking() -> list[str]:
            return _without_vector(self._core.kb, encoder, [row.intent for row in index.rows(RunFilter())])

        await self._encode(encoder, await self._core.on_store(lacking))
        self._goals_of = version

    def _lacking(self, encoder: Encoder, everything: bool) -> list[str]:
        """Return texts without a vector: retrievable tips, then goals of runs, then the other tips."""
        kb, index = self._core.kb, self._core.workspace.index
        version = (kb.data_version, len(self._of_files))
        if not everything and version == self._encoded:
            return []
        tips = kb.tips()
        texts = [tip_text(tip) for tip in tips if tip.status in RETRIEVABLE]
        texts += self._of_files.values()
        if everything:
            texts += [row.intent for row in index.rows(RunFilter())]
            texts += [tip_text(tip) for tip in tips if tip.status not in RETRIEVABLE]
        found = _without_vector(kb, encoder, texts)
        if not found:
            self._encoded = version
        return found

    async def _encode_missing(self, encoder: Encoder, tips: Sequence[Tip]) -> None:
        texts = [tip_text(tip) for tip in tips]
        missing = await self._core.on_store(_without_vector, self._core.kb, encoder, texts)
        await self._encode(encoder, missing)

    async def _encode(self, encoder: Encoder, texts: Sequence[str]) -> None:
        """Encode on a worker and store each batch: the store thread never waits, and a kill loses one."""
        for start in range(0, len(texts), ENCODE_BATCH):
            piece = texts[start : start + ENCODE_BATCH]
            vectors = await self._core.on_worker(encoder.encode, piece)
            packed = {
                content_key(text): vector.astype("<f4").tobytes()
                for text, vector in zip(piece, vectors, strict=True)
            }
            await self._core.on_store(self._keep, encoder.id, packed)

    def _keep(self, encoder: str, packed: dict[str, bytes]) -> None:
        self._core.kb.vectors.put_many(encoder, packed)
        if self._retriever is not None:
            self._retriever.take_vectors()

    def _start_encoder(self, allow_export: bool) -> Encoder | str:
        """Load the encoder; return the reason where there is none."""
        from kb.encoder import EncoderUnavailable, load_encoder

        try:
            return load_encoder(self._cache, self._model, allow_export)
        except EncoderUnavailable as error:
            return str(error)

    def _use_encoder(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.encoder_message = f"encoder ready: {encoder.id.split('@')[0]}"
        self._retriever = self._preflight = None
        self._encoded, self._goals_of = (-1, -1), -1

    def _live(self) -> Retriever:
        """Return the up-to-date retriever; only changed tips are indexed again."""
        kb = self._core.kb
        version = kb.data_version
        if self._retriever is not None and version == self._tips_seen:
            return self._retriever
        tips, hosts = kb.tips(), kb.hosts()
        if self._retriever is None or hosts != self._hosts:
            self._retriever = Retriever(
                tips, hosts, self.encoder, kb.vectors, self._settings, kb.withheld, waits=False
            )
        else:
            self._retriever.update(
                tip for tip in tips if self._seen.get(tip.id) != (tip.revision, tip.record)
            )
        self._seen = {tip.id: (tip.revision, tip.record) for tip in tips}
        self._hosts, self._tips_seen = hosts, version
        return self._retriever

    def _index(self) -> PreflightIndex:
        version = self._core.workspace.index.data_version
        if self._preflight is None or version != self._runs_seen:
            steps = self._core.workspace.index.stored_steps()
            self._preflight = PreflightIndex(
                steps, self._core.kb.hosts(), self.encoder, self._core.kb.vectors
            )
            self._runs_seen = version
        return self._preflight


@dataclass(frozen=True, slots=True)
class _KnowledgeFile:
    """The contents of a knowledge base file, read once; ``note`` says that nothing vouches for them."""

    tips: list[Tip]
    hosts: dict[str, tuple[str, ...]]
    withheld: Callable[[Tip], str]
    note: str = ""

    @property
    def given(self) -> list[Tip]:
        """Tips that an agent may be given by their status."""
        return [tip for tip in self.tips if tip.status in RETRIEVABLE]

    def retriever(
        self, encoder: Encoder | None, vectors: VectorCache, settings: RetrievalSettings, *, waits: bool
    ) -> Retriever:
        return Retriever(self.tips, self.hosts, encoder, vectors, settings, self.withheld, waits)


def _read_file(path: str) -> _KnowledgeFile:
    with open_any(Path(path).expanduser()) as other:
        return _KnowledgeFile(other.tips(), other.hosts(), other.withheld)


def _read_retrievable_file(path: str) -> _KnowledgeFile:
    """Read a file for retrieval.

    One that was changed since it was frozen is refused, and one without a tip to give: a run would seem to have
    knowledge.
    """
    note = refuse_changed(Path(path).expanduser())
    found = replace(_read_file(path), note=note)
    if not any(not found.withheld(tip) for tip in found.given):
        counts = Counter(tip.status.value for tip in found.tips)
        held = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no tips"
        raise BadFile(
            f"{path}: it has no tip that an agent could be given ({held}); activate tips and freeze again,"
            " or run without tips by --kb none"
        )
    return found


def _without_vector(kb: KnowledgeBase, encoder: Encoder, texts: Iterable[str]) -> list[str]:
    by_key = {content_key(text): text for text in texts if text.strip()}
    known = kb.vectors.get_many(encoder.id, list(by_key))
    return [text for key, text in by_key.items() if key not in known]


def _difference(old: Retrieval, new: Retrieval) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tips gained and lost; a tip whose text changed is both."""
    before = {(found.tip.id, found.tip.text) for found in old.results}
    after = {(found.tip.id, found.tip.text) for found in new.results}
    return tuple(sorted(tip for tip, _ in after - before)), tuple(sorted(tip for tip, _ in before - after))
