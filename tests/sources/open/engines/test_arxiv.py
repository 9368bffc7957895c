"""arXiv's search and look-up, and their feeds."""

import pytest

from searx_mcp.sources.open.question import Identifier, IdentifierKind

PREPRINT = Identifier(IdentifierKind.ARXIV, "math/0000001")
FEED = (
    '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" '
    'xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
    "<o:totalResults>{}</o:totalResults>{}</feed>"
)
ENTRY = "<entry><id>{}</id><title>{}</title><summary>{}</summary></entry>"


def test_the_last_page_has_no_next(read, answer):
    assert read("arxiv", answer("arxiv.xml"), page=3).has_next is False


def test_a_page_that_came_empty_by_mistake_is_no_empty_answer(read):
    with pytest.raises(ValueError, match="counts entries but has none"):
        read("arxiv", FEED.format(23, "").encode(), page=2)


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param("", id="counted and not there"),
        pytest.param("<entry></entry>", id="an empty entry"),
        pytest.param(
            ENTRY.format("http://arxiv.org/api/errors#incorrect_id_format", "Error", "x"),
            id="an error",
        ),
    ],
)
def test_an_id_that_it_does_not_know_is_empty(read, entries):
    parsed = read("arxiv", FEED.format(1, entries).encode(), identifier=PREPRINT)
    assert parsed.hits == ()


def test_what_it_limits_with_and_what_it_wants_to_be_asked_for_are_its_own(engine):
    row = engine("arxiv")
    assert (row.limits, row.accept) == ({406}, "application/atom+xml, text/xml, */*")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"Rate exceeded.", id="a text"),
        pytest.param(b"<html><body>Busy</body></html>", id="a page"),
        pytest.param(FEED.format(1, "<entry><id>").encode(), id="not closed"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_what_is_no_feed_is_refused(read, body):
    with pytest.raises(ValueError, match="the answer"):
        read("arxiv", body)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE feed [<!ENTITY y "yyyyyyyyyy"><!ENTITY x "&y;&y;&y;&y;&y;&y;">]>',
        '<!DOCTYPE feed SYSTEM "http://dtd.example/feed.dtd">',
    ],
)
def test_a_feed_that_declares_anything_is_refused(read, doctype):
    entry = ENTRY.format("http://arxiv.org/abs/2611.00001", "A panda &amp; more", "")
    feed = FEED.format(1, entry)
    assert read("arxiv", feed.encode()).hits
    body = feed.replace("?>", f"?>{doctype}", 1)
    with pytest.raises(ValueError, match="document type"):
        read("arxiv", body.encode())
