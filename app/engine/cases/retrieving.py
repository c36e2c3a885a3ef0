"""Retrieval and pre-flight over the live knowledge base, kept in step with it; the encoder's life."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.api import BehaviourDiff, RunFilter, StepDifference
from app.engine.cases.core import Core
from app.engine.errors import UsageError
from app.engine.events import EncoderChanged
from app.engine.jobs import Job
from kb.errors import NoSuchTip
from kb.freeze import open_any
from kb.preflight import PreflightIndex
from kb.retrieval import RetrievalSettings, Retriever, content_key
from kb.retrieval.terms import tip_text
from kb.tip import Preflight, Query, Retrieval, Scope, Tip, TipDraft

if TYPE_CHECKING:
    from kb.encoder import Encoder

log = logging.getLogger(__name__)

EXAMPLES = 50
"""Differing steps listed; the counts cover all."""

PIECE = 64
"""Texts encoded in one go on a worker: 0.1 to 0.5 s."""


class Retrieving:
    """Holds one retriever and one pre-flight index, rebuilt only when tips or runs have changed.

    Both live on the store thread, as their keyword index is SQLite in memory.
    """

    def __init__(
        self, core: Core, encoder_cache: Path, encoder_model: Path | None, token_budget: int
    ) -> None:
        self._core = core
        self._cache, self._model = encoder_cache, encoder_model
        self._settings = RetrievalSettings(token_budget=token_budget)
        self.encoder: Encoder | None = None
        self.encoder_message = "encoder is starting"
        self._retriever: Retriever | None = None
        self._tips_seen = -1
        self._revisions: dict[str, int] = {}
        self._hosts: dict[str, tuple[str, ...]] = {}
        self._preflight: PreflightIndex | None = None
        self._runs_seen = -1
        self._encoded = (-1, -1)

    async def load_encoder(self, allow_export: bool = True) -> None:
        """Load the encoder (the first time ever: export it) and encode what is stored; a job with progress."""

        async def work(job: Job) -> None:
            job.advance(0, None, "starting the encoder")
            encoder = await self._core.on_worker(self._start_encoder, allow_export)
            if isinstance(encoder, str):
                self.encoder_message = f"no encoder: {encoder}; retrieval uses address and keywords only"
                self._core.bus.publish(EncoderChanged(ready=False, message=self.encoder_message))
                return
            await self._encode_ahead(encoder, job)
            await self._core.on_store(self._use_encoder, encoder)
            self._core.bus.publish(EncoderChanged(ready=True, message=self.encoder_message))

        _, task = self._core.registry.start("Encoder", work, cooperative=False)
        await task

    def encoder_identity(self) -> tuple[str, str] | None:
        """Name and hash of the encoder, for a manifest."""
        if self.encoder is None:
            return None
        name, _, digest = self.encoder.id.rpartition("@")
        return (name or self.encoder.id, digest)

    async def retrieve(self, query: Query, k: int = 8, kb: str = "") -> Retrieval:
        """The tips for a page and a goal, from the live knowledge base or from a file."""
        if not query.url and not query.text.strip():
            raise UsageError("nothing to retrieve by", remedy="give an address, a goal, or both")
        await self.catch_up()
        site = self._core.workspace.site_of(query.url) if query.url and not query.site else ""
        if site in self._core.workspace.sites:
            query = replace(query, site=site)
        if not kb:
            return await self._core.on_store(lambda: self._live().retrieve(query, k))

        def from_file() -> Retrieval:
            with open_any(Path(kb).expanduser()) as other:
                retriever = Retriever(
                    other.tips(), other.hosts(), self.encoder, self._core.kb.vectors, self._settings
                )
                return retriever.retrieve(query, k)

        return await self._core.on_store(from_file)

    async def known(self, tip: str) -> Tip | None:
        """A tip of the live knowledge base by its id; ``None`` where there is none."""

        def finding() -> Tip | None:
            try:
                return self._core.kb.get(tip)
            except NoSuchTip:
                return None

        return await self._core.on_store(finding)

    async def frozen(
        self, path: str
    ) -> tuple[Callable[[Query, int], Awaitable[Retrieval]], Callable[[str], Awaitable[Tip | None]]]:
        """A frozen knowledge base, opened once and asked many times, at each step of a run; and its tips by id.

        Raises ``InputError`` when the file is none, or of a newer version.
        """
        await self.catch_up()

        def opening() -> tuple[Retriever, dict[str, Tip]]:
            with open_any(Path(path).expanduser()) as other:
                tips = other.tips()
                retriever = Retriever(
                    tips, other.hosts(), self.encoder, self._core.kb.vectors, self._settings
                )
                return retriever, {tip.id: tip for tip in tips}

        retriever, tips = await self._core.on_store(opening)

        async def ask(query: Query, k: int) -> Retrieval:
            return await self._core.on_store(retriever.retrieve, query, k)

        async def find(tip: str) -> Tip | None:
            return tips.get(tip)

        return ask, find

    async def preflight(self, draft: TipDraft, tip: str = "") -> Preflight:
        """In how many stored steps the draft would have been retrieved, were it active."""
        await self.catch_up()
        return await self._core.on_store(lambda: self._index().run(draft, self._live(), tip_id=tip))

    async def matching(self, site: str, scope: Scope) -> int:
        """Stored steps whose address lies in the scope."""
        await self.catch_up()
        return await self._core.on_store(lambda: self._index().matching(site, scope))

    async def behaviour_diff(self, a: str, b: str) -> BehaviourDiff:
        """In which stored steps ``b`` would tell the agent something else than ``a``."""

        def comparing() -> BehaviourDiff:
            vectors = self._core.kb.vectors
            with open_any(Path(a).expanduser()) as left, open_any(Path(b).expanduser()) as right:
                old = Retriever(left.tips(), left.hosts(), self.encoder, vectors, self._settings)
                new = Retriever(right.tips(), right.hosts(), self.encoder, vectors, self._settings)
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
                examples=tuple(differences[:EXAMPLES]),
            )

        return await self._core.on_store(comparing)

    async def catch_up(self) -> None:
        """Encode on a worker what tips and runs have come since, so that the store thread never waits for it."""
        if self.encoder is not None:
            await self._encode_ahead(self.encoder)

    async def _encode_ahead(self, encoder: Encoder, job: Job | None = None) -> None:
        core = self._core

        def missing() -> tuple[tuple[int, int], list[str]]:
            versions = (core.kb.data_version, core.workspace.index.data_version)
            if versions == self._encoded:
                return versions, []
            texts = [tip_text(tip) for tip in core.kb.tips()]
            texts += [row.intent for row in core.workspace.index.rows(RunFilter())]
            by_key = {content_key(text): text for text in texts if text.strip()}
            known = core.kb.vectors.get_many(encoder.id, list(by_key))
            return versions, [text for key, text in by_key.items() if key not in known]

        versions, texts = await core.on_store(missing)
        for start in range(0, len(texts), PIECE):
            piece = texts[start : start + PIECE]
            vectors = await core.on_worker(encoder.encode, piece)
            packed = {
                content_key(text): vector.astype("<f4").tobytes()
                for text, vector in zip(piece, vectors, strict=True)
            }
            await core.on_store(core.kb.vectors.put_many, encoder.id, packed)
            if job is not None:
                job.advance(start + len(piece), len(texts), "encoding tips and goals")
        self._encoded = versions

    def _start_encoder(self, allow_export: bool) -> Encoder | str:
        """The encoder, or why there is none."""
        from kb.encoder import EncoderUnavailable, load_encoder

        try:
            return load_encoder(self._cache, self._model, allow_export)
        except EncoderUnavailable as error:
            return str(error)

    def _use_encoder(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.encoder_message = f"encoder ready: {encoder.id.split('@')[0]}"
        self._retriever = self._preflight = None

    def _live(self) -> Retriever:
        """The retriever, brought up to date; only tips that changed are indexed again."""
        kb = self._core.kb
        version = kb.data_version
        if self._retriever is not None and version == self._tips_seen:
            return self._retriever
        tips, hosts = kb.tips(), kb.hosts()
        if self._retriever is None or hosts != self._hosts:
            self._retriever = Retriever(tips, hosts, self.encoder, kb.vectors, self._settings)
        else:
            self._retriever.update(tip for tip in tips if self._revisions.get(tip.id) != tip.revision)
        self._revisions = {tip.id: tip.revision for tip in tips}
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


def _difference(old: Retrieval, new: Retrieval) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the second answer has more and less than the first; a tip whose text changed is both."""
    before = {(found.tip.id, found.tip.text) for found in old.results}
    after = {(found.tip.id, found.tip.text) for found in new.results}
    return tuple(sorted(tip for tip, _ in after - before)), tuple(sorted(tip for tip, _ in before - after))
