"""The workspace's prompts and sets of actions: show, save, put back; and those that a run is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.agent.llm.prompting import bundled_prompts
from app.engine.api.prompt_api import (
    ActionRow,
    ActionSetRow,
    ActionSets,
    PromptDetail,
    PromptRow,
    PromptSaved,
)
from app.engine.api.run_api import RunRequest
from app.engine.core.actions.action_sets import (
    BUILT_IN,
    ENDINGS,
    OfferedActions,
    action_help,
    all_calls,
    make_set,
)
from app.engine.core.events import PromptsChanged
from app.engine.core.prompt_rules import check_prompt, checked_prompt
from app.engine.core.prompt_set import (
    ActionsVersion,
    PromptSet,
    placeholders,
    prompt_digest,
    text_tokens,
)
from app.engine.core.trajectory import Run
from app.engine.services.core import Core, on_store
from app.engine.store.workspace import Workspace
from app.errors import InputError, NotFound, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPrompts:
    """The prompts and actions that a run is given."""

    prompts: PromptSet
    actions: OfferedActions

    @property
    def actions_version(self) -> ActionsVersion:
        """The set of actions as a run stores it."""
        return ActionsVersion(name=self.actions.name, digest=self.actions.digest, calls=self.actions.calls)


def prompts_in_force(workspace: Workspace) -> PromptSet:
    """Return the bundled prompts with the workspace's own in their place; store thread only.

    Raises:
        InputError: one of the workspace's own, which anyone may have edited, can't be used.
    """
    bundled = bundled_prompts()
    own = workspace.prompts.texts(tuple(bundled.texts))
    for name, text in own.items():
        if errors := check_prompt(name, text, bundled.texts[name]).errors:
            raise InputError(
                f"the prompt can't be used: {'; '.join(errors)}",
                path=str(workspace.prompts.folder / f"{name}.md"),
                remedy=f"mend it, or: sitelore prompts reset {name}",
            )
    return bundled.replaced({name: text for name, text in own.items() if text != bundled.texts[name]})


def sets_in_force(workspace: Workspace) -> dict[str, OfferedActions]:
    """Return the built-in sets of actions and the workspace's own by name; store thread only.

    Raises:
        StoreError: the file can't be read.  UsageError: a set in it breaks a rule.
    """
    own = workspace.prompts.action_sets()
    return BUILT_IN | {name: make_set(name, calls, own=True) for name, calls in own.items()}


def run_prompts(workspace: Workspace, request: RunRequest, resumed: str = "") -> RunPrompts | None:
    """Return the prompts and actions of a model's run, ``None`` for another policy; store thread only.

    A run that is ``resumed`` keeps what it began with; one that recorded nothing is given what is in force.

    Raises:
        UsageError: there is no such set of actions.  InputError: a prompt of the workspace can't be used.
    """
    if request.policy != "llm":
        return None
    begun = workspace.runs.load(resumed)[0] if resumed else None
    if begun is not None and begun.prompts:
        return _recorded(workspace, begun)
    sets, actions = sets_in_force(workspace), request.llm.actions
    if actions not in sets:
        raise UsageError(f"there is no set of actions '{actions[:80]}'", remedy=f"use {', '.join(sets)}")
    return RunPrompts(prompts=prompts_in_force(workspace), actions=sets[actions])


def _recorded(workspace: Workspace, run: Run) -> RunPrompts:
    texts = {one.name: workspace.prompts.text_of(one.digest) for one in run.prompts}
    bundled = bundled_prompts()
    own = frozenset(one.name for one in run.prompts if not one.bundled)
    version = next((one.bundled for one in run.prompts if one.bundled), bundled.version)
    known = run.actions
    chosen = make_set(known.name, known.calls) if known is not None else BUILT_IN["all"]
    return RunPrompts(
        prompts=PromptSet(texts={**bundled.texts, **texts}, own=own, version=version), actions=chosen
    )


class PromptService:
    """Use cases of the workspace's prompts and sets of actions."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @on_store
    def list_prompts(self) -> list[PromptRow]:
        """Return every prompt of the program."""
        own = self._core.workspace.prompts.texts(tuple(bundled_prompts().texts))
        return [_row(name, text, own.get(name)) for name, text in bundled_prompts().texts.items()]

    @on_store
    def open_prompt(self, name: str, version: str = "") -> PromptDetail:
        """Return a prompt as it is in force, or a version of it by the beginning of its digest.

        Raises:
            NotFound: there is no such prompt or version.
        """
        return self._detail(name, version)

    async def save_prompt(self, name: str, text: str, dropped: Sequence[str] = ()) -> PromptDetail:
        """Put a text in place of the bundled prompt; undo takes it back.

        Args:
            dropped: placeholders that are left out knowingly.

        Raises:
            NotFound: there is no such prompt.  UsageError: the text breaks a rule.
        """
        bundled = _bundled(name)
        text = checked_prompt(name, text, bundled, dropped)
        return await self._save(name, "" if text == bundled else text)

    async def reset_prompt(self, name: str) -> PromptDetail:
        """Put the bundled prompt back; undo takes that back."""
        _bundled(name)
        return await self._save(name, "")

    @on_store
    def action_sets(self) -> ActionSets:
        """Return all sets of actions, and all actions."""
        return self._sets()

    async def save_action_set(self, name: str, calls: Sequence[str]) -> ActionSets:
        """Add or change a set of the workspace; undo takes it back.

        Raises:
            UsageError: the name is taken or unusable, or the set breaks a rule.
        """
        made = make_set(name, calls, own=True)
        return await self._save_set(made.name, made.calls)

    async def remove_action_set(self, name: str) -> ActionSets:
        """Remove a set of the workspace; undo brings it back.  Raises ``NotFound``."""
        if name not in await self._core.on_store(self._core.workspace.prompts.action_sets):
            raise NotFound(f"the workspace has no set of actions '{name[:80]}'")
        return await self._save_set(name, None)

    async def _save(self, name: str, text: str) -> PromptDetail:
        def saving() -> PromptDetail:
            self._core.workspace.save_prompt(name, text, self._core.author)
            return self._detail(name)

        saved = await self._core.do_in_review(saving)
        self._core.bus.publish(PromptsChanged())
        return saved

    async def _save_set(self, name: str, calls: tuple[str, ...] | None) -> ActionSets:
        def saving() -> ActionSets:
            self._core.workspace.save_action_set(name, calls, self._core.author)
            return self._sets()

        saved = await self._core.do_in_review(saving)
        self._core.bus.publish(PromptsChanged())
        return saved

    def _detail(self, name: str, version: str = "") -> PromptDetail:
        bundled, store = _bundled(name), self._core.workspace.prompts
        own, history = store.texts([name]).get(name), store.history(name)
        text = bundled if own is None else own
        if version:
            known = [prompt_digest(bundled), prompt_digest(text), *(saved.digest for saved in history)]
            digest = next((one for one in known if one.startswith(version)), version)
            text = {prompt_digest(bundled): bundled, prompt_digest(text): text}.get(digest) or store.text_of(
                digest
            )
        return PromptDetail(
            row=_row(name, bundled, own),
            text=text,
            bundled=bundled,
            history=tuple(PromptSaved(digest=one.digest, at=one.at, author=one.author) for one in history),
        )

    def _sets(self) -> ActionSets:
        prompts = prompts_in_force(self._core.workspace)
        rows = tuple(
            ActionSetRow(
                name=one.name,
                calls=one.calls,
                digest=one.digest,
                tokens=operator_tokens(prompts, one.calls),
                why=one.why,
                own=one.own,
            )
            for one in sets_in_force(self._core.workspace).values()
        )
        return ActionSets(sets=rows, actions=tuple(action_rows()))


def operator_tokens(prompts: PromptSet, calls: Sequence[str]) -> int:
    """Estimate the tokens of the operator's system prompt with these actions, everything of them offered."""
    filled = dict.fromkeys(placeholders(prompts.texts["operator"]), "")
    return text_tokens(prompts.fill("operator", calls, **{**filled, "actions": action_help(calls)}))


def action_rows() -> list[ActionRow]:
    """Return every call that an agent may be offered."""
    return [
        ActionRow(
            name=form.shown,
            usage=form.usage,
            help=form.help,
            group=form.set.value if form.set is not None else "",
            ends=form.shown in ENDINGS,
            tokens=text_tokens(f"{form.usage}: {form.help}\n"),
        )
        for form in all_calls()
    ]


def _bundled(name: str) -> str:
    texts = bundled_prompts().texts
    if name not in texts:
        raise NotFound(f"there is no prompt '{name[:80]}'; there are {', '.join(texts)}")
    return texts[name]


def _row(name: str, bundled: str, own: str | None) -> PromptRow:
    text = bundled if own is None else own
    return PromptRow(
        name=name,
        title=name.replace("_", " ").capitalize(),
        about=" ".join(bundled.split())[:400].partition(". ")[0].rstrip(".") + ".",
        own=own is not None and own != bundled,
        digest=prompt_digest(text),
        tokens=text_tokens(text),
        placeholders=placeholders(bundled),
    )
