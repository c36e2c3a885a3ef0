"""The rules an edited prompt has to keep, one row a clause, and how a template is filled."""

from __future__ import annotations

import pytest

from app.engine.agent.llm.prompting import Fence, bundled_prompts
from app.engine.core.prompt_rules import MAX_PROMPT, check_prompt, checked_prompt
from app.engine.core.prompt_set import (
    ActionsVersion,
    PromptSet,
    PromptVersion,
    prompt_digest,
    version_words,
)
from app.errors import UsageError

BUNDLED = "Read what stands between {{marker}}.\n{{if click}} Click.\n{{steps}} of {{most}}."


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "it is empty"),
        ("  \n ", "it is empty"),
        ("{{marker}}" + "x" * MAX_PROMPT, "at most 32,000"),
        ("{{marker}} {{steps}} {{most}} {{colour}}", "{{colour}} is no placeholder"),
        ("{{steps}} {{most}}", "{{marker}} is missing"),
        ("{{marker}} {{steps}} {{most}}\n{{if dance}} x", "'dance' is no condition"),
        ("{{marker}} {{steps}} {{most}} {{if click}} in the middle", "neither a placeholder nor a condition"),
        ("{{marker}} {{steps}} {{most}} {{ marker }}", "neither a placeholder nor a condition"),
        ("{{marker}} {{steps}} {{most}} a\u200bb", "people can't see"),
        ("{{marker}} {{steps}} {{most}} a\x07b", "people can't see"),
        ("{{marker}} {{steps}} {{most}} password: hunter2secret9", "a password or key"),
    ],
)
def test_a_text_that_breaks_a_rule_is_refused_with_the_rule(text: str, error: str):
    assert any(error in one for one in check_prompt("operator", text, BUNDLED).errors)
    with pytest.raises(UsageError):
        checked_prompt("operator", text, BUNDLED, ("steps", "most", "marker"))


@pytest.mark.parametrize(
    "text",
    [
        BUNDLED,
        "Short: {{marker}} {{steps}} {{most}}",
        "{{marker}} {{steps}} {{most}}\n{{unless select_option}} Lists are drawn.",
        '{{marker}} {{steps}} {{most}} {"a": {"b": 1}}',
        "{{marker}} {{steps}} {{most}} größer ✓ 👍",
    ],
)
def test_a_text_that_keeps_the_rules_is_taken(text: str):
    assert checked_prompt("operator", text, BUNDLED) == text


def test_a_placeholder_is_dropped_knowingly_or_not_at_all():
    text = "{{marker}} {{steps}}"

    assert check_prompt("operator", text, BUNDLED).missing == ("most",)
    with pytest.raises(UsageError, match=r"lacks \{\{most\}\}"):
        checked_prompt("operator", text, BUNDLED)
    assert checked_prompt("operator", text, BUNDLED, ["most"]) == text


def test_the_marker_is_never_dropped_and_only_needed_where_the_bundled_prompt_has_it():
    with pytest.raises(UsageError, match="marker"):
        checked_prompt("operator", "{{steps}} {{most}}", BUNDLED, ["marker"])
    assert checked_prompt("plain", "Say yes.", "Say no.") == "Say yes."


def test_conditions_on_actions_are_the_operators_and_others_those_of_the_bundled_prompt():
    assert check_prompt("plain", "{{if click}} Say yes.", "Say no.").errors
    assert check_prompt("plain", "{{if click}} Say yes.", "{{if picture}} Look.\nSay no.").errors
    assert not check_prompt("plain", "{{unless picture}} Say yes.", "{{if picture}} Look.\nSay no.").errors


def test_line_ends_and_white_space_around_do_not_make_a_version():
    assert checked_prompt("plain", "\r\nSay  \r\nyes.\n\n", "Say no.") == "Say\nyes."


@pytest.mark.parametrize("name", bundled_prompts().texts)
def test_every_bundled_prompt_keeps_the_rules(name: str):
    text = bundled_prompts().texts[name]
    assert checked_prompt(name, text, text)


@pytest.mark.parametrize("name", bundled_prompts().texts)
def test_every_bundled_prompt_tells_a_sites_words_by_the_marker(name: str):
    assert "{{marker}}" in bundled_prompts().texts[name]


@pytest.mark.parametrize(
    ("given", "filled"),
    [
        ((), "A\nno click\nof 5"),
        (("click",), "A\nclick it\nof 5"),
        (("hover", "click"), "A\nclick it\nof 5"),
    ],
)
def test_lines_with_a_condition_stand_where_it_holds(given: tuple[str, ...], filled: str):
    prompts = PromptSet(texts={"p": "A\n{{if click}} click it\n{{unless click}} no click\nof {{most}}"})
    assert prompts.fill("p", given, most="5") == filled


def test_values_are_not_searched_for_placeholders_or_conditions():
    prompts = PromptSet(texts={"p": "{{a}}"})
    assert prompts.fill("p", a="{{b}}\n{{if click}} x") == "{{b}}\n{{if click}} x"


def test_a_fence_fills_the_prompts_of_its_run_with_its_marker():
    fence = Fence("m1", prompts=PromptSet(texts={"p": "{{marker}} {{n}}"}))
    assert fence.prompt("p", n="7") == "m1 7"


def test_the_own_prompts_have_no_bundled_version_and_every_text_is_a_blob():
    bundled = PromptSet(texts={"a": "A", "b": "B"}, version="1.0")
    mixed = bundled.replaced({"b": "mine"})

    assert mixed.versions() == (
        PromptVersion(name="a", digest=prompt_digest("A"), bundled="1.0"),
        PromptVersion(name="b", digest=prompt_digest("mine")),
    )
    assert mixed.blobs()[prompt_digest("mine")] == b"mine"
    assert bundled.texts["b"] == "B"


@pytest.mark.parametrize(
    ("prompts", "actions", "words"),
    [
        ((), None, ""),
        ((PromptVersion(name="a", digest="1" * 64, bundled="0.1"),), None, "prompts of version 0.1"),
        (
            (
                PromptVersion(name="a", digest="1" * 64, bundled="0.1"),
                PromptVersion(name="b", digest="2" * 64),
            ),
            ActionsVersion(name="compact", digest="3" * 64),
            "own prompts: b 22222222 · actions: compact 33333333",
        ),
    ],
)
def test_versions_are_told_in_a_few_words(prompts, actions, words: str):
    assert version_words(prompts, actions) == words
