import pytest

from searx_mcp.searxng.row import instant, words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("2026-02-01T00:46:35+00:00", "2026-02-01T00:46:35+00:00", id="JSON aware"),
        pytest.param("2026-02-05T17:25:32", "2026-02-05T17:25:32", id="JSON naive"),
        pytest.param("2026-02-01 00:46:35+0000", "2026-02-01T00:46:35+00:00", id="HTML"),
        pytest.param("2026-02-01", "2026-02-01", id="date"),
        pytest.param("2019", "2019", id="year"),
        pytest.param("Feb 5, 2026", "2026-02-05", id="until 2023-06"),
        pytest.param("February 5, 2026", "2026-02-05", id="long"),
        pytest.param("Sept. 30, 2026", "2026-09-30", id="abbreviated"),
        pytest.param("5 Feb 2026", "2026-02-05", id="British"),
        pytest.param("30 June 2026", "2026-06-30", id="long British"),
        pytest.param("Feb 30, 2026", None, id="no such day of the month"),
        pytest.param("Foo 5, 2026", None, id="no such month"),
        pytest.param("5 févr. 2026", None, id="French"),
        pytest.param("None", None, id="None in words"),
        pytest.param("5 minute(s) ago", None, id="distance"),
        pytest.param("2026-13-45", None, id="no such day"),
        pytest.param(1767225600, None, id="number"),
        pytest.param("", None, id="empty"),
    ],
)
def test_times_become_iso_or_nothing(value: object, expected: str | None) -> None:
    assert instant(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("3 hour(s), 5 minute(s) ago", "3 hour(s), 5 minute(s) ago", id="distance"),
        pytest.param("5 févr. 2026", "5 févr. 2026", id="French"),
        pytest.param("None", "", id="None in words"),
        pytest.param(5, "", id="number"),
    ],
)
def test_what_cannot_be_read_keeps_its_words(value: object, expected: str) -> None:
    assert words(value) == expected
