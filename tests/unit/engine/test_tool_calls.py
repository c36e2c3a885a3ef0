"""Tool calls, their results and aria snapshots of other programs, read for all importers alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.core.ax_tree import parse_tree
from app.engine.imports.aria_snapshot import tree_of_snapshot
from app.engine.imports.tool_calls import read_tool_call
from app.engine.imports.tool_results import read_tool_result
from tests.support.foreign_runs import PNG
from tests.support.laws import examples

CALLS = [
    ("browser_navigate", {"url": "http://a/"}, "goto", {"url": "http://a/"}),
    ("mcp__playwright__browser_click", {"ref": "e4"}, "click", {"bid": "e4"}),
    ("browser_click", {"target": "e4", "doubleClick": True}, "dblclick", {"bid": "e4"}),
    ("browser_click", {"ref": "e4", "button": "right"}, "click", {"bid": "e4", "button": "right"}),
    ("browser_type", {"ref": "e4", "text": "x"}, "fill", {"bid": "e4", "value": "x"}),
    ("browser_fill_form", {"fields": [{"ref": "e4", "value": "x"}]}, "fill", {"bid": "e4", "value": "x"}),
    ("browser_press_key", {"key": "Enter"}, "keyboard_press", {"key": "Enter"}),
    (
        "browser_select_option",
        {"ref": "e4", "values": ["a"]},
        "select_option",
        {"bid": "e4", "options": ["a"]},
    ),
    ("browser_tabs", {"action": "select", "index": 1}, "tab_focus", {"index": 1}),
    ("browser_tabs", {"action": "list"}, "browser_tabs", {"action": "list"}),
    ("browser_wait_for", {"time": 2}, "noop", {"wait_ms": 2000}),
    ("browser_handle_dialog", {"accept": True}, "answer_dialog", {"accept": True}),
    ("computer", {"action": "left_click", "coordinate": [3, 4]}, "mouse_click", {"x": 3, "y": 4}),
    ("computer", {"type": "keypress", "keys": ["CTRL", "A"]}, "keyboard_press", {"key": "CTRL+A"}),
    ("done", {"text": "24.50"}, "send_msg_to_user", {"text": "24.50"}),
    ("search_docs", {"query": {"a": 1}}, "search_docs", {"query": '{"a":1}'}),
    ("browser_click", {}, "browser_click", {}),
]


@pytest.mark.parametrize(("name", "args", "kind", "recorded"), CALLS)
def test_a_call_with_an_equal_gets_its_name_and_any_other_keeps_its_own(name, args, kind, recorded):
    action, _ = read_tool_call(name, args)
    assert (action.kind, action.args) == (kind, recorded)


def test_a_form_with_a_password_keeps_it_to_itself():
    fields = [{"name": "Name", "value": "ann"}, {"name": "Password", "value": "hunter2222"}]
    action, _ = read_tool_call("browser_fill_form", {"fields": fields})
    assert action.args == {"fields": ["Name=ann", "Password=REDACTED"]}


@pytest.mark.parametrize(
    ("said", "role", "name"),
    [
        ("link Catalogue", "link", "Catalogue"),
        ("Submit button", "button", "Submit"),
        ("the blue thing", "", "the blue thing"),
    ],
)
def test_the_described_element_is_the_target(said, role, name):
    _, target = read_tool_call("browser_click", {"ref": "e4", "element": said})
    assert target is not None
    assert (target.role, target.name, target.bid) == (role, name, "e4")


SNAPSHOTS = [
    ('- link "Home" [ref=e4] [cursor=pointer]', "[e4] link 'Home'"),
    ('- checkbox "All" [checked] [ref=e4]', "[e4] checkbox 'All', checked"),
    ('- heading "Shop" [level=2] [ref=e4]', "[e4] heading 'Shop', level='2'"),
    ("- textbox [active] [ref=e4]: words", "[e4] textbox '', value='words', focused"),
    ("- text: plain words", "StaticText 'plain words'"),
    ("- 'button \"It''s: here\" [ref=e4]'", '[e4] button "It\'s: here"'),
    ('- img "Logo"', "image 'Logo'"),
]


@pytest.mark.parametrize(("line", "node"), SNAPSHOTS)
def test_a_line_of_a_snapshot_is_a_node(line, node):
    assert tree_of_snapshot(line, "T").splitlines() == ["RootWebArea 'T'", f"\t{node}"]


def test_an_address_belongs_to_the_link_above_and_words_are_below():
    tree = tree_of_snapshot(
        '- list:\n  - listitem [ref=e2]: one\n  - link "a" [ref=e3]:\n    - /url: b.html', "T"
    )
    assert tree.splitlines()[1:] == [
        "\tlist ''",
        "\t\t[e2] listitem ''",
        "\t\t\tStaticText 'one'",
        "\t\t[e3] link 'a', url='b.html'",
    ]


@settings(max_examples=examples(200), deadline=None)
@given(st.text("- '\":[]=ab\n/", max_size=80))
def test_any_text_is_read_as_a_snapshot(text):
    parse_tree(tree_of_snapshot(text))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["url", "title", "content", "type", "text", "screenshot", "error", "isError", "source"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=examples(200), deadline=None)
@given(json_values)
def test_any_result_and_any_arguments_are_read(value):
    read_tool_result(value)
    for name in ("browser_click", "browser_fill_form", "browser_tabs", "computer", "click", "done", "x"):
        read_tool_call(
            name, value if isinstance(value, dict) else {"ref": value, "fields": value, "url": value}
        )


def test_a_picture_is_found_in_every_form():
    url = f"data:image/png;base64,{PNG}"
    for result in (
        {"screenshot": PNG},
        {"screenshot": url},
        {"content": [{"type": "image", "data": PNG}]},
        [{"type": "image_url", "image_url": {"url": url}}],
        {"content": [{"type": "image", "source": {"type": "base64", "data": PNG}}]},
    ):
        assert read_tool_result(result).picture.startswith(b"\x89PNG"), result
    assert not read_tool_result({"screenshot": "data:image/svg+xml;base64,PHN2Zz4="}).picture
