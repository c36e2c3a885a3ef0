"""Tips go out to files and come back; what a file claims is believed only as far as it is harmless."""

import csv
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.compiler import procedure_of
from kb.content import clean
from kb.errors import BadFile, BadTip, KbError
from kb.exchange import FORMATS as EXCHANGE
from kb.exchange import import_file, read, write
from kb.procedure import Choice, Procedure, ProcedureOrigin, ProcedureStep, StepKind
from kb.store import KnowledgeBase
from kb.tip import Anchor, Kind, Provenance, Scope, Status, TipDraft
from tests.support.laws import examples

SHARED = Path(os.environ.get("SITELORE_SHARED", Path(__file__).parents[4] / "shared")) / "data"
TIPS = SHARED / "colorbrowseragent" / "agent" / "tips"
HINTS = SHARED / "agentlab" / "src" / "agentlab" / "agents" / "tool_use_agent" / "hint_db.csv"

real_tips = pytest.mark.skipif(not TIPS.is_dir(), reason="the run collection is not beside the checkout")
FORMATS = ["jsonl", "csv", "txt"]


@pytest.fixture
def kb(tmp_path: Path):
    with KnowledgeBase.open(tmp_path / "knowledge.akb", author="ada") as kb:
        yield kb


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# what a store accepts, with all that has a meaning in one of the formats

_awkward = st.sampled_from(
    [
        *"=@-+\t \u2028🛒",
        "\n",
        "\n\n",
        "\n    ",
        "1. ",
        "\n2. x",
        "{",
        "}",
        "{{",
        "{WA_GITLAB}",
        "}}",
        '"',
        "'",
        ",",
        ";",
        "\\",
        "e\u0301",
        "**a**:",
        "Here are tips for using this website (x):",
    ]
)
_characters = st.characters(exclude_categories=["Cs", "Cc"])
_texts = st.lists(st.one_of(_awkward, st.text(_characters, max_size=5)), max_size=6).map("".join)


def _storable(draft: TipDraft) -> bool:
    try:
        clean(draft)
    except BadTip:
        return False
    return True


_lists = st.lists(_texts, max_size=3).map(tuple)
_drafts = st.builds(
    TipDraft,
    site=st.sampled_from(["gitlab", "shopping_admin", "a.b-c"]),
    text=_texts.map(lambda text: text + "x"),
    scope=st.builds(Scope, host=st.sampled_from(["", "*:8023"]), path=_texts, query=_lists),
    kind=st.sampled_from(Kind),
    when=_texts,
    do=_texts,
    before=_texts,
    why=_texts,
    keywords=_lists,
    status=st.sampled_from(Status),
    provenance=st.builds(
        Provenance, run=_texts, step=st.none() | st.integers(0, 99), author=_texts, verdict=_texts
    ),
    taint=_lists,
).filter(_storable)


@pytest.mark.parametrize("format", FORMATS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drafts=st.lists(_drafts, max_size=4))
def test_export_import_export_gives_the_same_bytes(format: str, drafts: list[TipDraft]):
    drafts = [clean(draft) for draft in drafts]
    first = EXCHANGE[format].serialise(drafts)
    back = [parsed.draft for parsed in EXCHANGE[format].parse(first, "gitlab")]
    if format != "txt":
        assert back == list(dict.fromkeys(replace(draft, status=Status.DRAFT) for draft in drafts))
    elif len({draft.site for draft in drafts}) > 1:
        assert {(d.site, d.text) for d in back} == {(d.site, d.text) for d in drafts}
    else:
        assert [d.text for d in back] == list(dict.fromkeys(d.text for d in drafts))
    assert EXCHANGE[format].serialise(back) == first


@pytest.mark.parametrize("format", FORMATS)
@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=10)
@given(drafts=st.lists(_drafts, max_size=4))
def test_export_import_export_through_two_knowledge_bases_gives_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, format: str, drafts: list[TipDraft]
):
    folder = tmp_path_factory.mktemp("kb")
    first, second = folder / f"first.{format}", folder / f"second.{format}"
    with KnowledgeBase.open(folder / "a.akb", author="ada") as kb:
        for draft in drafts:  # as drafts: a made-up text with a lint error can't be active
            kb.add(replace(draft, status=Status.DRAFT) if draft.status is Status.ACTIVE else draft)
        write(kb.tips(), first, format)
    with KnowledgeBase.open(folder / "b.akb", author="bob") as kb:
        report = import_file(kb, first, format, "gitlab")
        assert report.failed == ()
        assert {tip.status for tip in kb.tips()} <= {Status.DRAFT}
        write(kb.tips(), second, format)
        assert import_file(kb, first, format, "gitlab").added == ()
    assert second.read_bytes() == first.read_bytes()


def test_all_that_a_tip_says_survives_jsonl_and_csv(tmp_path: Path):
    tip = TipDraft(
        site="gitlab",
        text="=SUM(A1)\n1. 'quoted', \"twice\"; {WA_GITLAB} {x}",
        scope=Scope(host="*:8023", path="/**/issues", query=("scope", "state=opened")),
        kind=Kind.NAVIGATION,
        when="-1",
        do="@do",
        before="'=before",
        why="+why",
        keywords=("a;b", "c\\", "d, e"),
        provenance=Provenance(
            run="r1", step=0, screenshot="ab12", author="ada", detector="loop", verdict="x"
        ),
        taint=("webarena.21", "webarena.22"),
    )
    for format in ("jsonl", "csv"):
        write([tip], tmp_path / "out", format)
        assert read(tmp_path / "out", format) == [replace(tip, procedure=procedure_of(tip))]


CORRECTED = Procedure(
    entries=(
        ProcedureStep(kind=StepKind.OPEN, target="/search?q={words}", when="no search box"),
        Choice(
            ways=(
                (ProcedureStep(kind=StepKind.PRESS, target="a;=1+1", role="link", near="“x”", where="in"),),
                (
                    ProcedureStep(
                        kind=StepKind.FILL, target="Title", value="=SUM(A1)\n-2", locator='{"id":1}'
                    ),
                ),
            )
        ),
    ),
    never=("Delete", "/logout"),
    origin=ProcedureOrigin.PERSON,
)
ANCHOR = Anchor(
    screenshot="ab" * 32,
    box=(0, 12, 300, 40),
    words="Sort by: Hot",
    role="button",
    neighbours=("a", "+b"),
    page="/f/*",
)


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_corrected_steps_and_an_anchor_survive(tmp_path: Path, format: str):
    tip = TipDraft(site="gitlab", text="Sort first", procedure=CORRECTED, anchor=ANCHOR)
    write([tip], tmp_path / "out", format)
    assert read(tmp_path / "out", format) == [tip]


@pytest.mark.parametrize("format", ["jsonl", "csv"])
@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("procedure", "[[[", "'procedure' is not JSON"),
        ("procedure", "[" * 100_000, "'procedure' is not JSON"),
        ("procedure", '{"steps": [{"kind": "shout", "target": "x"}]}', "'shout' is no kind of step"),
        ("anchor", '{"box": [1, 2]}', "an anchor's box must be four whole numbers"),
    ],
)
def test_a_row_with_hostile_steps_is_named_in_one_sentence(
    kb: KnowledgeBase, tmp_path: Path, format: str, column: str, cell: str, message: str
):
    path = tmp_path / f"t.{format}"
    if format == "csv":
        quoted = cell.replace('"', '""')
        path.write_text(f'text,{column}\n"t","{quoted}"\ngood,\n')
    else:
        path.write_text(json.dumps({"text": "t", column: cell}) + '\n{"text": "good"}\n')
    report = import_file(kb, path, format, "gitlab")
    assert len(report.added) == 1
    assert message in report.failed[0]
    assert "\n" not in report.failed[0]


def test_no_csv_cell_can_run_as_a_formula(tmp_path: Path):
    for start in "=+-@":
        write([TipDraft(site="x", text=f"{start}cmd|'/c calc'!A0")], tmp_path / "t.csv")
        assert f"'{start}cmd" in (tmp_path / "t.csv").read_text()


def test_every_csv_cell_is_quoted(tmp_path: Path):
    write([TipDraft(site="x", text="plain words"), TipDraft(site="y", text="a;=1+1")], tmp_path / "t.csv")
    for line in (tmp_path / "t.csv").read_text().splitlines()[1:]:
        assert re.fullmatch(r'(?:"(?:[^"]|"")*",){20}"(?:[^"]|"")*"', line)


@pytest.mark.parametrize("parting", [",", ";", "\t"])
@pytest.mark.parametrize("start", [*"=+-@＝＋－＠", "\t=", "\r=", "\n="])
@pytest.mark.parametrize("before", ["", "a;", "a; ", 'a;"', "a\t", "a\n", "x;y;'"])
def test_no_csv_cell_is_a_formula_whatever_parts_the_cells(
    tmp_path: Path, before: str, start: str, parting: str
):
    tip = TipDraft(site="x", text="t", when=f"{before}{start}HYPERLINK(1)", do=f"{before}{start}cmd;more")
    write([tip], tmp_path / "t.csv")
    data = (tmp_path / "t.csv").read_text(encoding="utf-8")
    for row in list(csv.reader(io.StringIO(data, newline=""), delimiter=parting)):
        assert not [cell for cell in row if cell.lstrip(' "\t\r\n').startswith(tuple("=+-@＝＋－＠"))]


@given(
    st.lists(
        st.text(alphabet=st.sampled_from([*"=+-@＝;'\"\\, a", "\t", "\n", "b"]), min_size=1).filter(
            lambda text: text.strip()
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(
    deadline=None, max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_guarded_cells_come_back_as_they_were(tmp_path: Path, texts: list[str]):
    drafts = (TipDraft(site="x", text=text, when=text[::-1], why=text * 2) for text in texts)
    tips = list({repr(draft): draft for draft in map(clean, drafts)}.values())
    write(tips, tmp_path / "t.csv", "csv")
    assert sorted(map(repr, read(tmp_path / "t.csv", "csv"))) == sorted(map(repr, tips))


def test_placeholders_are_kept_and_other_braces_are_doubled(tmp_path: Path):
    text = "goto('{WA_GITLAB}/search?q={name}') {}"
    write([TipDraft(site="gitlab", text=text)], tmp_path / "gitlab.txt")
    written = (tmp_path / "gitlab.txt").read_text()
    assert written == (
        "Here are tips for using this website:\n1. goto('{WA_GITLAB}/search?q={{name}}') {{}}\n"
    )
    assert written.format(WA_GITLAB="http://host").endswith("goto('http://host/search?q={name}') {}\n")
    assert read(tmp_path / "gitlab.txt")[0].text == text


def test_several_sites_in_one_text_file_stand_under_headings_of_their_own(tmp_path: Path):
    tips = [TipDraft(site="shopping", text="b"), TipDraft(site="gitlab", text="a")]
    write(tips, tmp_path / "tips.txt")
    assert [(d.site, d.text) for d in read(tmp_path / "tips.txt")] == [("gitlab", "a"), ("shopping", "b")]


def test_a_folder_gets_one_text_file_a_site_and_is_read_back_whole(tmp_path: Path):
    folder = tmp_path / "tips"
    folder.mkdir()
    write([TipDraft(site="shopping", text="b"), TipDraft(site="gitlab", text="a")], folder, "txt")
    assert sorted(path.name for path in folder.iterdir()) == ["gitlab.txt", "shopping.txt"]
    assert [(d.site, d.text) for d in read(folder)] == [("gitlab", "a"), ("shopping", "b")]


def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path: Path):
    folder = tmp_path / "tips"
    folder.mkdir()
    put(folder / "gitlab.txt", "1. a")
    (folder / "secret.txt").symlink_to(put(tmp_path / "secret.txt", "1. secret"))
    assert [d.text for d in read(folder)] == ["a"]


@real_tips
@pytest.mark.shared_data
def test_the_papers_tips_are_read_whole(kb: KnowledgeBase, tmp_path: Path):
    report = import_file(kb, TIPS, "txt")
    assert report.failed == ()
    assert len(report.added) == 13 + 7 + 5 + 9 + 18 + 2
    assert kb.stats().by_site == {
        "cross": 2,
        "gitlab": 13,
        "map": 7,
        "reddit": 5,
        "shopping": 9,
        "shopping_admin": 18,
    }
    address = next(tip for tip in kb.tips("map") if "ADDRESS questions" in tip.text)
    assert "\n- Street number" in address.text
    assert "\n- ZIP code\n" in address.text
    assert address.text.endswith("complete address")
    forum = next(tip for tip in kb.tips("cross") if "Forum" in tip.text)
    assert forum.text.startswith("**Community Forum**:\nBrowse discussions")
    assert "{WA_REDDIT}/forums/all" in forum.text
    texts = [tip.text for tip in kb.tips()]
    assert len(texts) - len(set(texts)) == 2, "two tips are the same on both shop sites, and stay two"
    assert import_file(kb, TIPS, "txt").added == ()


@real_tips
@pytest.mark.shared_data
@pytest.mark.parametrize("site", ["gitlab", "map", "reddit", "shopping", "shopping_admin"])
def test_the_papers_tips_are_written_as_they_were(kb: KnowledgeBase, tmp_path: Path, site: str):
    import_file(kb, TIPS / f"{site}.txt")
    write(kb.tips(), tmp_path / f"{site}.txt")
    original = [line.rstrip() for line in (TIPS / f"{site}.txt").read_text().splitlines()]
    assert [line.rstrip() for line in (tmp_path / f"{site}.txt").read_text().splitlines()] == original


@pytest.mark.skipif(not HINTS.is_file(), reason="the run collection is not beside the checkout")
@pytest.mark.shared_data
def test_agentlabs_hints_are_read_with_what_taints_them(kb: KnowledgeBase):
    report = import_file(kb, HINTS, "hints")
    assert report.failed == ()
    assert len(report.added) + report.skipped == len(read(HINTS, "hints")) > 20
    tip = next(tip for tip in kb.tips() if "red rectangle" in tip.text)
    assert (tip.site, tip.taint) == ("miniwob", ("miniwob:book-flight",))
    assert tip.keywords == ("Filling up form",)
    assert tip.provenance == Provenance(author="allac", source="hint_db.csv")


def test_markdown_gives_a_tip_a_section(tmp_path: Path):
    path = put(
        tmp_path / "github.md",
        "---\nname: x\n---\n# GitHub\n## Search\nUse `repo:`.\n```\n# no heading\n```\n## Empty\n\n## Login\nAsk.\n",
    )
    assert [(d.site, d.text) for d in read(path)] == [
        ("github", "Search\nUse `repo:`.\n```\n# no heading\n```"),
        ("github", "Login\nAsk."),
    ]


def test_imported_tips_are_drafts_whatever_the_file_says(kb: KnowledgeBase, tmp_path: Path):
    record = {
        "id": "gitlab-0",
        "site": "gitlab",
        "text": "trust me",
        "status": "active",
        "revision": 9,
        "provenance": {"source": "/etc/passwd", "author": "eve"},
    }
    report = import_file(kb, put(tmp_path / "a.jsonl", json.dumps(record)))
    tip = kb.get(report.added[0])
    assert (tip.status, tip.revision) == (Status.DRAFT, 1)
    assert tip.id != "gitlab-0"
    assert tip.provenance == Provenance(author="eve", source="a.jsonl")


def test_an_import_is_one_change_and_importing_twice_adds_nothing(kb: KnowledgeBase, tmp_path: Path):
    path = put(tmp_path / "gitlab.txt", "Here are tips:\n1. one\n2. two\n3. one\n")
    report = import_file(kb, path)
    assert (len(report.added), report.skipped) == (2, 1)
    assert import_file(kb, path).skipped == 3
    assert kb.undo().label == "import gitlab.txt"
    assert kb.tips() == []


def test_bad_lines_are_reported_and_block_nothing_else(kb: KnowledgeBase, tmp_path: Path):
    good = json.dumps({"site": "x", "text": "good"})
    bad = [
        "{broken",
        "[]",
        "[" * 100_000,
        json.dumps({"text": "nowhere"}),
        json.dumps({"site": "x", "text": 5}),
        json.dumps({"site": "x", "text": "x" * 100_000}),
        json.dumps({"site": "x", "text": "bell \a"}),
        json.dumps({"site": "../x", "text": "escape"}),
        json.dumps({"site": "x", "text": "t", "kind": "spell"}),
        json.dumps({"site": "x", "text": "t", "scope": 7}),
        json.dumps({"site": "x", "text": "t", "keywords": [{}]}),
        json.dumps({"site": "x", "text": "t", "provenance": []}),
    ]
    report = import_file(kb, put(tmp_path / "a.jsonl", "\n".join([*bad, "", good])))
    assert len(report.added) == 1
    assert len(report.failed) == len(bad)
    assert [failure.split(":")[0] for failure in report.failed] == [
        f"a.jsonl, line {n}" for n in range(1, len(bad) + 1)
    ]
    assert "unknown kind 'spell'; use one of navigation" in report.failed[8]
    assert "100,000 characters" in report.failed[5]


def test_many_bad_lines_are_summarized(kb: KnowledgeBase, tmp_path: Path):
    report = import_file(kb, put(tmp_path / "a.jsonl", "nonsense\n" * 5000))
    assert len(report.failed) == 201
    assert report.failed[-1] == "and 4,800 more unreadable lines"


def test_reading_stops_at_the_first_bad_line_and_names_it(tmp_path: Path):
    with pytest.raises(BadFile, match=r"a\.jsonl, line 1: this is not JSON"):
        read(put(tmp_path / "a.jsonl", "nonsense"))


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", b"name,hint\nx,y\n", "no column 'text' .it has: name, hint"),
        ("a.csv", b"", "no column 'text' .it has: nothing"),
        ("a.jsonl", b'{"site": "x", "text": "caf\xe9"}', "not UTF-8 text .byte 27 is 0xe9"),
        ("a.txt", b"\xff\xfe1\x00", "not UTF-8 text"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_reason(
    kb: KnowledgeBase, tmp_path: Path, name: str, content: bytes, complaint: str
):
    with pytest.raises(BadFile, match=complaint):
        import_file(kb, put(tmp_path / name, content))


def test_a_missing_file_and_an_unknown_format_are_named(kb: KnowledgeBase, tmp_path: Path):
    with pytest.raises(BadFile, match="can't be read: No such file"):
        import_file(kb, tmp_path / "none.csv")
    with pytest.raises(KbError, match="unknown format 'xml'; there are jsonl, csv, txt"):
        import_file(kb, tmp_path / "none", "xml")
    with pytest.raises(KbError, match="its suffix gives no format"):
        import_file(kb, tmp_path / "none.xyz")


def test_a_huge_file_is_refused_before_it_is_read(kb: KnowledgeBase, tmp_path: Path):
    with (tmp_path / "huge.jsonl").open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(BadFile, match="larger than 64 MB"):
        import_file(kb, tmp_path / "huge.jsonl")


def test_spreadsheets_in_other_dialects_are_read(tmp_path: Path):
    path = put(tmp_path / "a.csv", '\ufeffText;Site;Scope;Colour\r\n"two\r\nlines";shop;/a/*?q;red\r\n')
    [draft] = read(path)
    assert (draft.text, draft.site) == ("two\r\nlines", "shop")
    assert draft.scope == Scope(path="/a/*", query=("q",))


def test_an_export_never_overwrites_a_knowledge_base(kb: KnowledgeBase):
    with pytest.raises(BadFile, match="not overwritten"):
        write([], kb.path, "jsonl")


def test_exporting_nothing_gives_a_file_that_is_read_as_nothing(tmp_path: Path):
    for format in FORMATS:
        write([], tmp_path / f"empty.{format}", format)
        assert read(tmp_path / f"empty.{format}", format) == []
