"""What the rows of answers have in common."""

import pytest

from searx_mcp.sources.open.rows import address, cited, names

MAX_NAMES = 100


def test_names_are_clean_bounded_and_not_empty():
    assert names([" Ada\n Example", "", "\u202e", "B" * 200]) == ("Ada Example", "B" * 99 + "…")
    assert len(names(["A"] * 5_000)) == MAX_NAMES


@pytest.mark.parametrize("url", ["", "javascript:alert(1)", "/paper.pdf", "http://[::1"])
def test_what_is_no_web_address_is_none(url):
    assert address(url) is None


def test_works_that_nobody_cites_say_nothing_of_it():
    assert (cited(7), cited(0), cited(None)) == ("cited 7 times", "", "")
