"""Run without its secrets: every text is redacted again, and what is no part of its pages stays behind.

A run was redacted when it was stored, perhaps by an older version that knew fewer secrets. Exchanges with a model,
the evidence of a score (with its network records) and prompts are never handed to an exporter: they hold what the model
was told, and the site's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.engine.core.actions.recorded import RecordedAction
from app.engine.core.redaction import (
    MARK,
    redact_html,
    redact_text,
    redact_tree,
    redact_url,
    typed_secret,
    without_typed,
)
from app.engine.core.trajectory import Run, Step, Tab
from app.engine.core.verdicts import Flag, Verdict
from app.engine.exports.run_export import ExportSource
from app.errors import NotFound

_MIN_SECRET = 4
"""Length from which a typed password is searched for elsewhere; a shorter one occurs in other words, too."""


def redacted(source: ExportSource) -> ExportSource:
    """Return the source of an export without secrets; contents that no page of the run names can't be read."""
    pages = [*source.steps, *([source.run.final] if source.run.final is not None else [])]
    secrets = [secret for step in pages if (secret := typed_secret(step.action, step.target))]
    return _Redaction([secret for secret in secrets if len(secret) >= _MIN_SECRET]).source(source, pages)


class _Redaction:
    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets

    def source(self, source: ExportSource, pages: Sequence[Step]) -> ExportSource:
        return replace(
            source,
            run=self._run(source.run),
            steps=tuple(map(self._step, source.steps)),
            flags=[self._flag(flag) for flag in source.flags],
            verdicts=[self._verdict(verdict) for verdict in source.verdicts],
            tips={name: replace(tip, text=self._said(tip.text)) for name, tip in source.tips.items()},
            read_blob=self._reader(source.read_blob, pages),
        )

    def _reader(self, read: Callable[[str], bytes], pages: Sequence[Step]) -> Callable[[str], bytes]:
        trees = {page.tree for page in pages}
        html = {page.html for page in pages}
        others = {digest for page in pages for digest in (page.screenshot, page.boxes)}

        def reading(digest: str) -> bytes:
            if digest in trees:
                return self._bytes(redact_tree(read(digest).decode("utf-8", "replace")))
            if digest in html:
                return self._bytes(redact_html(read(digest).decode("utf-8", "replace")))
            if digest not in others:
                raise NotFound("this content is not part of an export")
            return read(digest)

        return reading

    def _bytes(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret.encode(), MARK.encode())
        return data

    def _said(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MARK)
        return redact_text(text)

    def _run(self, run: Run) -> Run:
        return replace(
            run,
            intent=self._said(run.intent),
            start_url=redact_url(run.start_url),
            error=self._said(run.error),
            answer=self._said(run.answer) if run.answer is not None else None,
            source_path="",
            notes=tuple(map(self._said, run.notes)),
            final=self._step(run.final) if run.final is not None else None,
            calls=(),
            evidence="",
        )

    def _step(self, step: Step) -> Step:
        return replace(
            step,
            url=redact_url(step.url),
            title=self._said(step.title),
            tabs=tuple(Tab(url=redact_url(tab.url), title=self._said(tab.title)) for tab in step.tabs),
            reason=self._said(step.reason),
            raw_output=self._said(step.raw_output),
            action=self._action(step),
            error=self._said(step.error),
            notices=tuple(map(self._said, step.notices)),
            summary=self._said(step.summary),
            output=self._said(step.output),
            calls=(),
        )

    def _action(self, step: Step) -> RecordedAction | None:
        action = step.action
        if action is None:
            return None
        if own := typed_secret(action, step.target):
            action = without_typed(action, own)
        args = {
            name: self._said(value)
            if isinstance(value, str)
            else [self._said(item) if isinstance(item, str) else item for item in value]
            if isinstance(value, list)
            else value
            for name, value in action.args.items()
        }
        return replace(action, args=args)

    def _flag(self, flag: Flag) -> Flag:
        evidence = {
            key: self._said(value) if isinstance(value, str) else value
            for key, value in flag.evidence.items()
        }
        return replace(flag, message=self._said(flag.message), evidence=evidence)

    def _verdict(self, verdict: Verdict) -> Verdict:
        return replace(verdict, note=self._said(verdict.note))
