"""Crossref's search and look-up, and their answers."""

import pytest


@pytest.mark.parametrize(
    ("parts", "date"),
    [
        pytest.param([[2026, 3, 9]], "2026-03-09", id="a day"),
        pytest.param([[2026, 3]], "2026-03", id="a month"),
        pytest.param([[2026, 12, 31]], "2026-12-31", id="the last day"),
        pytest.param([[2026]], "2026", id="a year"),
        pytest.param([[2026, 2, 31]], "2026-02", id="no such day"),
        pytest.param([[2026, 2, 10**400]], "2026-02", id="a huge day"),
        pytest.param([[2026, 13, 1]], "2026", id="no such month"),
        pytest.param([[2026, None]], "2026", id="no month"),
        pytest.param([[None]], None, id="nothing"),
        pytest.param([[True]], None, id="no number"),
        pytest.param([[10**400]], None, id="a huge number"),
        pytest.param([], None, id="no parts"),
        pytest.param("2026", None, id="a text"),
    ],
)
def test_a_date_is_read_as_far_as_it_is_one(read, parts, date):
    work = {"DOI": "10.5555/a", "title": ["A"], "issued": {"date-parts": parts}}
    assert read("crossref", {"message": work}).hits[0].published_at == date
