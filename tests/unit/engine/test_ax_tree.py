"""Names of a tree are shown as a person would read them, without the escapes they were written with."""

from __future__ import annotations

import pytest

from app.engine.core.ax_tree import parse_line


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (r"[1] link '\ue604 DASHBOARD'", "DASHBOARD"),
        (r"[2] StaticText '\ue604'", ""),
        (r"[3] link 'a\xa0b \u200bc'", "a b c"),
        (r"[4] link 'C:\users'", r"C:\users"),
        (r"[5] link 'first\nsecond'", "first second"),
        (r"[6] button 'x\U000f0415y', focused", "xy"),
        ("[7] link '日本'", "日本"),
    ],
)
def test_escapes_of_a_name_are_read(line, name):
    node = parse_line(line)
    assert node is not None
    assert node.name == name
