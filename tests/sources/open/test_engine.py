"""What an engine is asked."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.request import TimeRange
from searx_mcp.sources.open.engine import fitting, lies_on, lucene_terms


@pytest.mark.parametrize(
    ("age", "first"),
    [
        (TimeRange.ANY, None),
        (TimeRange.DAY, date(2026, 11, 21)),
        (TimeRange.WEEK, date(2026, 11, 15)),
        (TimeRange.MONTH, date(2026, 10, 23)),
        (TimeRange.YEAR, date(2025, 11, 22)),
    ],
)
def test_an_age_is_the_first_day_that_a_result_may_be_of(ask, age, first):
    assert ask(time_range=age).since == first


@pytest.mark.parametrize(("most", "line"), [(3, ""), (4, "aaaa"), (8, "aaaa"), (9, "aaaa bbbb")])
def test_words_are_taken_while_they_fit(most, line):
    assert fitting(["aaaa", "bbbb", "c"], most) == line


@pytest.mark.parametrize(
    ("host", "lies"), [("a.org", True), ("b.a.org", True), ("ba.org", False), ("a.org.b", False)]
)
def test_a_host_lies_on_its_domain_and_those_above(host, lies):
    assert lies_on(host, "a.org") is lies


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
    assert lucene_terms([keyword]) == [term]


def test_a_keyword_of_signs_is_left_out():
    assert lucene_terms(["red", "&", "<=>", '"', ""]) == ["red"]


@given(st.text(max_size=50))
def test_no_keyword_has_a_sign_that_acts(keyword):
    for term in lucene_terms([keyword]):
        plain = re.sub(r"\\.", "", term)
        inner = plain[1:-1] if plain.startswith('"') else plain
        assert '"' not in inner
        if inner == plain:
            assert not re.search(r"[+\-&|!(){}\[\]^~*?:\\/<>=\s]", plain)
