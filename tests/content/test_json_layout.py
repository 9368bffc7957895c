"""JSON laid out for reading."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.json_layout import json_text, laid_out

NUMBERS = [*range(1_000, 1_040)]
MEMBERS = {f"member {n}": "word " * 3 for n in range(4)}


@pytest.mark.parametrize(
    ("text", "pretty"),
    [
        ('{"b":[1,{}],"a":[]}', '{"b": [1, {}], "a": []}'),
        ('{"a" : 1 , "a": 2}', '{"a": 1, "a": 2}'),
        ("[1.00,-0,1e400,0.1000000000000000055]", "[1.00, -0, 1e400, 0.1000000000000000055]"),
        ("[NaN,-Infinity]", "[NaN, -Infinity]"),
        ("[" + "9" * 5_000 + "]", "[\n  " + "9" * 5_000 + "\n]"),
        ('["\\u00e9\\n\\"\\/"]', '["é\\n\\"/"]'),
        ('["a,]}:"]', '["a,]}:"]'),
        ('"x"', '"x"'),
        (" null ", "null"),
        (
            "[" + ",".join(map(str, NUMBERS)) + "]",
            f"""[
  {", ".join(map(str, NUMBERS[:17]))},
  {", ".join(map(str, NUMBERS[17:34]))},
  {", ".join(map(str, NUMBERS[34:]))}
]""",
        ),
        (
            json.dumps({"few": {"a": 1}, "many": MEMBERS}),
            """{
  "few": {"a": 1},
  "many": {
    "member 0": "word word word ",
    "member 1": "word word word ",
    "member 2": "word word word ",
    "member 3": "word word word "
  }
}""",
        ),
        (
            json.dumps([1, 2, MEMBERS["member 0"] * 7, [3]]),
            f"""[
  1, 2,
  "{MEMBERS["member 0"] * 7}",
  [3]
]""",
        ),
    ],
)
def test_json_is_laid_out_without_changing_what_it_says(text: str, pretty: str):
    assert json_text(text) == pretty
    assert laid_out(text) == pretty


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
        pytest.param("[" * 60 + "{" + '"":1,' * 30_000 + '"":1}' + "]" * 60, id="would grow"),
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
def test_every_layout_is_the_same_json_in_short_lines(value: object, *, escaped: bool):
    written = laid_out(json.dumps(value, ensure_ascii=escaped))
    assert json.dumps(json.loads(written)) == json.dumps(value)
    assert all(len(line.strip()) <= 130 for line in written.splitlines())
