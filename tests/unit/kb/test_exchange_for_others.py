"""Tips written for other agents: AgentLab's table of hints and markdown notes, read back as they were."""

from __future__ import annotations

import csv
import fnmatch
from dataclasses import replace
from pathlib import Path

import pytest

from kb.exchange import read, write
from kb.tip import Kind, Provenance, Scope, TipDraft

TIP = TipDraft(
    site="shop", text="Hover the category; a click leaves the page.", keywords=("menu", "category")
)
TEXTS = (
    "one line",
    "two\nlines",
    "a paragraph\n\nand another",
    "# not a heading",
    "x\n  ## nor this",
    "```\ncode # x\n```\nbehind",
    "``` never closed",
    "~~~",
    "- **When:** not a part",
    "\\# with its own backslash",
    "1. first\n2. second",
    "=SUM(A1)",
    '{WA_GITLAB} {x} | a "quoted" word',
    "Tip 1",
    "---\nno front matter\n---",
)


def written(drafts: list[TipDraft], path: Path, format: str) -> list[TipDraft]:
    write(drafts, path, format)
    return read(path, format)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("format", ["hints", "markdown"])
def test_a_text_is_read_back_as_it_was(tmp_path: Path, format: str, text: str):
    drafts = [
        replace(TIP, text=text),
        replace(TIP, text=f"after {text}"),
        replace(TIP, site="other", text=text),
    ]
    first = tmp_path / "first"
    back = written(drafts, first, format)
    assert sorted((one.site, one.text) for one in back) == sorted((one.site, one.text) for one in drafts)
    write(back, tmp_path / "second", format)
    assert (tmp_path / "second").read_bytes() == first.read_bytes()


def test_markdown_holds_the_parts_of_a_tip(tmp_path: Path):
    tip = replace(
        TIP,
        kind=Kind.NAVIGATION,
        when="the list is open",
        do="hover the category",
        before="sorting",
        why="a click leaves",
        scope=Scope(host="*:8023", path="/a/**", query=("page",)),
    )
    assert written([tip], tmp_path / "shop.md", "markdown") == [tip]
    assert (tmp_path / "shop.md").read_text().startswith("# Tips for shop\n\n## Tip 1\n\nHover the category;")


def test_a_folder_gets_a_markdown_file_for_each_site(tmp_path: Path):
    write([TIP, replace(TIP, site="forum")], tmp_path, "markdown")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["forum.md", "shop.md"]


def test_markdown_of_others_is_read_as_before(tmp_path: Path):
    file = tmp_path / "shop.md"
    file.write_text("---\ndomains: [x]\n---\n# Search\n\nPress Enter.\n\n## Tips\n\n- **When:** always\n")
    assert [one.text for one in read(file, "markdown")] == [
        "Search\nPress Enter.",
        "Tips\n- **When:** always",
    ]


def test_an_unknown_kind_is_an_error_with_its_line(tmp_path: Path):
    file = tmp_path / "shop.md"
    file.write_text("# Tips for shop\n\n## Tip 1\n\ntext\n\n- **Kind:** magic\n")
    with pytest.raises(Exception, match="line 3: unknown kind 'magic'"):
        read(file, "markdown")


def test_agentlab_finds_the_hints_of_a_task_and_stumbles_over_no_row(tmp_path: Path):
    """AgentLab compares ``fnmatch(row, task)`` for every row, and skips the hints whose author saw the task."""
    tips = [replace(TIP, taint=("own:1", "webarena:7", "webarena:9")), replace(TIP, text="another")]
    write(tips, tmp_path / "hint_db.csv", "hints")
    with (tmp_path / "hint_db.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [list(row) for row in table[:1]] == [
        ["time_stamp", "task_name", "task_seed", "base_llm", "agent_name", "domain_name", "user_name", "source",
         "semantic_keys", "hint"]
    ]  # fmt: skip
    assert [row["hint"] for row in table if fnmatch.fnmatch(row["task_name"], "webarena.9")] == [TIP.text]
    assert all(row["task_name"] and row["semantic_keys"] and row["hint"] for row in table)
    assert read(tmp_path / "hint_db.csv", "hints") == tips


def test_the_author_of_a_hint_is_kept(tmp_path: Path):
    tip = replace(TIP, provenance=Provenance(author="ada"), keywords=())
    (back,) = written([tip], tmp_path / "h.csv", "hints")
    assert back.provenance.author == "ada"
    assert back.keywords == ("shop",), "a hint without a topic would be in no list that a model chooses from"


def test_a_csv_with_agentlabs_columns_is_read_as_hints_without_being_told(tmp_path: Path):
    write([TIP], tmp_path / "hint_db.csv", "hints")
    assert [one.text for one in read(tmp_path / "hint_db.csv")] == [TIP.text]
    write([TIP], tmp_path / "own.csv", "csv")
    assert read(tmp_path / "own.csv") == read(tmp_path / "own.csv", "csv")
