"""JSON with a member on each line, and as it was written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.formats.data import fenced, json_text


@pytest.mark.parametrize(
    ("text", "pretty"),
    [
        ('{"b":[1,{}],"a":[]}', '{\n  "b": [\n    1,\n    {}\n  ],\n  "a": []\n}'),
        ('{"a" : 1 , "a": 2}', '{\n  "a": 1,\n  "a": 2\n}'),
        (
            "[1.00,-0,1e400,0.1000000000000000055]",
            "[\n  1.00,\n  -0,\n  1e400,\n  0.1000000000000000055\n]",
        ),
        ("[NaN,-Infinity]", "[\n  NaN,\n  -Infinity\n]"),
        ("[" + "9" * 5_000 + "]", "[\n  " + "9" * 5_000 + "\n]"),
        ('["\\u00e9\\n\\"\\/"]', '[\n  "é\\n\\"/"\n]'),
        ('["a,]}:"]', '[\n  "a,]}:"\n]'),
        ('"x"', '"x"'),
        (" null ", "null"),
    ],
)
def test_json_is_printed_without_changing_what_it_says(text: str, pretty: str):
    assert json_text(text) == pretty


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("no json", id="no JSON"),
        pytest.param('{"a":1}\n{"a":2}\n', id="lines of JSON"),
        pytest.param('{"a":', id="cut"),
        pytest.param(')]}\'\n{"a":1}', id="guarded"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("[" * 65 + "]" * 65, id="deep and valid"),
        pytest.param("[" * 60 + "1," * 90_000 + "1" + "]" * 60, id="would grow"),
        pytest.param(json.dumps(["x" * 210_000]), id="long"),
        pytest.param('"' * 199_999, id="quotes"),
        pytest.param("\\" * 199_999, id="backslashes"),
    ],
)
def test_what_is_no_good_to_print_stays_as_it_came(text: str):
    assert json_text(text) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
)


@given(value=JSON, escaped=st.booleans())
def test_it_looks_as_the_standard_library_prints_it(value: object, *, escaped: bool):
    text = json.dumps(value, ensure_ascii=escaped)
    assert json_text(text) == json.dumps(value, indent=2, ensure_ascii=False)


def test_data_stands_in_a_fence_it_cannot_leave():
    assert fenced(" a\n```\n", language="xml") == "````xml\na\n```\n````"
    assert fenced(" \n", language="xml") == ""
