"""The labelled searches, and how much of them must go right."""

from collections import Counter

import pytest

from searx_mcp.models.request import Category
from searx_mcp.sources.open.table import ENGINES


@pytest.fixture
def measured(load_benchmark):
    return load_benchmark("open_sources")


def test_there_are_two_hundred_searches_in_every_category(measured):
    searches = measured.read_searches()
    counts = Counter(search.query.category for search in searches)
    assert len(searches) == 200
    assert set(counts) == {*Category}
    assert min(counts.values()) >= 8
    assert len({(s.query.text, s.query.category, s.query.language) for s in searches}) == 200
    assert sum(search.query.language != "en" for search in searches) >= 20
    assert sum(search.is_held_out for search in searches) == 100


def test_labels_name_engines_and_documents_that_there_are(measured):
    names = {engine.name for engine in ENGINES}
    for search in measured.read_searches():
        assert search.want <= names
        assert search.avoid <= names
        assert not search.want & search.avoid
        assert 1 <= len(search.want) <= 3


def test_searches_are_routed_right_and_what_comes_back_has_to_do_with_them(measured):
    score = measured.score(measured.measure(measured.read_searches()))
    assert score.routed >= measured.ROUTED
    assert score.precision >= measured.PRECISION
    assert score.answered >= measured.ANSWERED
    assert score.engines <= 3


def test_without_the_gate_much_less_of_it_has_to_do_with_them(measured):
    searches = measured.read_searches()[::4]
    gated = measured.score(measured.measure(searches))
    ungated = measured.score(measured.measure(searches, gate=measured.ungated))
    assert gated.precision > 1.3 * ungated.precision
    assert gated.answered >= ungated.answered
