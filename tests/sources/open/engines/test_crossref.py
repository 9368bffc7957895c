"""Crossref's search and look-up, and their answers."""

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.sources.open.engines import crossref
from searx_mcp.sources.open.question import Identifier, IdentifierKind

DOI = Identifier(IdentifierKind.DOI, "10.5555/example.2026.1(a)<b>")
SEARCH = (
    "https://api.crossref.org/works?query.bibliographic=red%20panda&rows=10&offset=0"
    "&select=DOI%2Ctitle%2Cabstract%2Cauthor%2Cissued%2Ccontainer-title%2Cpublisher%2Ctype%2CURL"
    "%2Cis-referenced-by-count%2Cvolume%2Cissue%2Cpage"
)


def test_a_contact_that_is_no_mail_address_is_not_sent(ask, engine):
    row = engine("crossref")
    assert "mailto" not in row.url(row.ask(ask(contact="https://site.example/@me")))


def test_works_are_read_without_their_components(read, answer):
    parsed = read("crossref", answer("crossref.json"))
    first, second = parsed.hits
    assert (first.title, second.title) == (
        "Foraging of the example panda & its kin",
        "Pandas in enclosures",
    )
    assert first.url == "https://doi.org/10.5555/example.2026.1"
    assert first.description == "We followed example pandas for a year."
    assert (first.template, first.published_at, second.published_at) == (
        "paper",
        "2026-03-09",
        "2019",
    )
    assert first.paper
    assert first.paper.authors == ("Ada Example", "Bob Sample", "The Example Consortium")
    assert (first.paper.journal, first.paper.volume, first.paper.number, first.paper.pages) == (
        "Journal of Examples", "12", "3", "101-119",
    )  # fmt: skip
    assert (first.paper.doi, first.paper.type) == ("10.5555/example.2026.1", "journal-article")
    assert (first.paper.publisher, first.paper.comments) == ("Example Press", "cited 7 times")
    assert (parsed.rows_seen, parsed.has_next) == (4, True)


def test_the_work_of_a_doi_is_the_only_row(read, answer):
    parsed = read("crossref", answer("crossref-work.json"), identifier=DOI)
    assert [hit.title for hit in parsed.hits] == ["Foraging of the example panda"]
    assert parsed.hits[0].published_at == "2026-03"
    assert (parsed.rows_seen, parsed.has_next) == (1, False)


def test_a_work_without_an_address_gets_that_of_its_doi(read):
    work = {"DOI": "10.5555/a<b>#c", "title": ["Signs"]}
    parsed = read("crossref", {"message": work})
    assert parsed.hits[0].url == "https://doi.org/10.5555/a%3Cb%3E%23c"


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


def test_hostile_values_are_text_or_nothing(read):
    works = [
        {"DOI": "10.5555/a", "URL": "javascript:alert(1)", "title": ["A"]},
        {"DOI": ["x"], "URL": 5, "title": "<script>x</script><b>B</b>", "author": ["x"]},
        {"URL": "https://a.example/", "title": [5, "<b>C</b>"], "author": [{"name": ["x"]}]},
        "no work",
    ]
    parsed = read("crossref", {"message": {"items": works}})
    assert [hit.title for hit in parsed.hits] == ["C"]
    assert parsed.rows_seen == 4


def test_a_doi_that_is_not_registered_is_an_empty_answer():
    refusal = crossref.read_refusal(404, {}, b"Resource not found.")
    assert refusal
    assert refusal.verdict is Verdict.EMPTY
    assert crossref.read_refusal(429, {"Retry-After": "5"}, b"") is None
