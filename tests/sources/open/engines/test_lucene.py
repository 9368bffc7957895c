"""Keywords in a query that Lucene's parser reads."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.sources.open.engines.lucene import terms


@pytest.mark.parametrize(
    ("keyword", "term"),
    [
        pytest.param("panda", "panda", id="a word"),
        pytest.param("red panda", '"red panda"', id="a phrase"),
        pytest.param("C++", r"C\+\+", id="plus"),
        pytest.param("covid-19", r"covid\-19", id="hyphen"),
        pytest.param("title:x", r"title\:x", id="a field"),
        pytest.param("[x TO y]", '"[x TO y]"', id="a range"),
        pytest.param("(a)", r"\(a\)", id="brackets"),
        pytest.param("a~2*?", r"a\~2\*\?", id="patterns"),
        pytest.param("/re.*/", r"\/re.\*\/", id="a regular expression"),
        pytest.param("a\\", r"a\\", id="backslash"),
        pytest.param('a\\ "b', r'"a\\ b"', id="quote and backslash in a phrase"),
        pytest.param("AND", '"AND"', id="an operator"),
        pytest.param("and", "and", id="a word like an operator"),
        pytest.param('"<vector>"', "vector", id="signs that cannot be escaped"),
    ],
)
def test_a_keyword_is_text_and_no_syntax(keyword, term):
    assert terms([keyword]) == [term]


def test_a_keyword_of_signs_is_left_out():
    assert terms(["red", "&", "<=>", '"', ""]) == ["red"]


@given(st.text(max_size=50))
def test_no_keyword_has_a_sign_that_acts(keyword):
    for term in terms([keyword]):
        plain = re.sub(r"\\.", "", term)
        inner = plain[1:-1] if plain.startswith('"') else plain
        assert '"' not in inner
        if inner == plain:
            assert not re.search(r"[+\-&|!(){}\[\]^~*?:\\/<>=\s]", plain)
