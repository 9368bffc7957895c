"""JSON that people edit: one member changes, and every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.ops.setup.jsonc import parse, with_member, without_member

PATH = ("servers", "searx")

ZED = """\
// Zed settings
//
// For information, see https://zed.dev/docs
{
  "theme": "One", // "dark": {
  /* servers */
  "servers": {
    // mine
    "other": { "command": "a, }" },
  },
  "font": 12, // points
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "servers": {\n    "searx": 1\n  }\n}\n'),
        ("{}", '{\n  "servers": {\n    "searx": 1\n  }\n}'),
        ("// nothing yet", '// nothing yet\n{\n  "servers": {\n    "searx": 1\n  }\n}\n'),
        ('{"a": 1}', '{"a": 1,\n  "servers": {\n    "searx": 1\n  }\n}'),
        ('{"servers": {"a": 1}}', '{"servers": {"a": 1,\n  "searx": 1\n}}'),
        ('{\n\t"servers": {}\n}\n', '{\n\t"servers": {\n\t\t"searx": 1\n\t}\n}\n'),
        (
            '{\r\n    "servers": {\r\n        "a": 1\r\n    }\r\n}\r\n',
            '{\r\n    "servers": {\r\n        "a": 1,\r\n        "searx": 1\r\n    }\r\n}\r\n',
        ),
        (
            '{\n  "servers": {\n    "a": 1 // last\n    // end\n  }\n}',
            '{\n  "servers": {\n    "a": 1, // last\n    // end\n    "searx": 1\n  }\n}',
        ),
        ('{"servers": {"searx": [1, {}], "b": 2}}', '{"servers": {"searx": 1, "b": 2}}'),
    ],
)
def test_a_member_is_added_in_the_style_of_the_file(before, after):
    assert with_member(before, PATH, 1) == after


def test_comments_and_trailing_commas_stay():
    after = with_member(ZED, PATH, {"command": "x", "args": ["stdio"]})
    added = [line for line in after.splitlines() if line not in ZED.splitlines()]
    assert [line.strip() for line in added] == [
        *('"searx": {', '"command": "x",', '"args": [', '"stdio"', "]", "}")
    ]
    kept = iter(after.splitlines())
    assert all(line in kept for line in ZED.splitlines())
    assert parse(after)["servers"]["other"] == {"command": "a, }"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"servers": {"searx": 1}}', '{"servers": {}}'),
        ('{"servers": {"searx": 1, "b": 2}}', '{"servers": { "b": 2}}'),
        ('{"servers": {"a": 1, "searx": 1}}', '{"servers": {"a": 1 }}'),
        (
            '{\n "servers": {\n  "a": 1, // one\n  "searx": {\n  }\n }\n}\n',
            '{\n "servers": {\n  "a": 1 // one\n }\n}\n',
        ),
        (
            '{\r\n "servers": {\r\n  "searx": 1,\r\n  "b": 2,\r\n }\r\n}',
            '{\r\n "servers": {\r\n  "b": 2,\r\n }\r\n}',
        ),
        ('{"servers": {"b": 1}}', '{"servers": {"b": 1}}'),
        ("// empty", "// empty"),
    ],
)
def test_a_member_is_removed_with_its_comma(before, after):
    removed = without_member(before, PATH)
    assert removed.replace(" }", "}") == after.replace(" }", "}")
    assert parse(removed) == parse(after)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a"', "delimiter"),
        ('{"servers": {} "b": 1}', "delimiter"),
        ("{a: 1}", "line 1"),
        ('{\n"a": "x\n}', "line 2"),
        ("{} /* open", "line 1"),
        ("[]", "the file is not a JSON object"),
        ('{"servers": []}', "servers is not a JSON object"),
        ('{"servers": {"searx": 1}, "servers": {"a": ,}}', "line 1"),
    ],
)
def test_what_is_no_json_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        with_member(text, PATH, 1)


def test_a_doubled_name_is_refused_rather_than_brought_back():
    with pytest.raises(ValueError, match="it has a duplicate key"):
        without_member('{"servers": {"searx": 1, "searx": 2}}', PATH)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30)
@given(
    whole=st.dictionaries(st.text() | st.just("servers"), VALUES, max_size=4),
    servers=st.none() | st.dictionaries(st.text() | st.just("searx"), VALUES, max_size=3),
    value=VALUES,
    indent=st.sampled_from([None, 0, 2, "\t"]),
)
def test_whatever_the_file_holds_only_the_member_changes(whole, servers, value, indent):
    whole.pop("servers", None)
    if servers is not None:
        whole["servers"] = servers
    text = json.dumps(whole, indent=indent)
    changed = with_member(text, PATH, value)
    assert parse(changed) == {**whole, "servers": {**(servers or {}), "searx": value}}
    without = {name: kept for name, kept in (servers or {}).items() if name != "searx"}
    assert parse(without_member(changed, PATH)) == {**whole, "servers": without}
