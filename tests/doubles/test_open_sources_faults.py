"""How the doubles of the open APIs refuse, fail and complain."""

import json
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest

from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.double import HOSTS, NOW, FakeOpenSources, UnknownHostError

DOCUMENTS = (
    Document("npm/dates", "date-tools", "Parses dates.", version="1.2.0", author="ann"),
    Document("crates/serde", "serde", "A framework.", version="1.0.0"),
    Document(
        "gdelt/quake",
        "Earthquake in Japan",
        url="https://n.example/1",
        site="n.example",
        date="2026-11-22T05:00:00Z",
    ),
)

SE = "https://api.stackexchange.com/2.3/search/excerpts?"
HN = "https://hn.algolia.com/api/v1/search?query=a&"
WIKI = "https://en.wikipedia.org/w/api.php?action=query&generator=search&gsrsearch="
GITHUB = "https://api.github.com/search/repositories?q="
CROSSREF = "https://api.crossref.org/works"
ARXIV_API = "https://export.arxiv.org/api/query?"
OPENVERSE = "https://api.openverse.org/v1/"
IA = "https://archive.org/advancedsearch.php?output=json&fl[]=identifier&q="
PHOTON = "https://photon.komoot.io/api/?q="
MB = "https://musicbrainz.org/ws/2/"
NPM = "https://registry.example/-/v1/search?text="
CRATES = "https://crates.io/api/v1/crates?q="
GDELT = "https://api.gdeltproject.org/api/v2/doc/doc?mode=ArtList&format=json&"


@pytest.mark.parametrize(
    ("url", "status", "said"),
    [
        pytest.param(SE + "q=git", 400, "site is required", id="stackexchange without a site"),
        pytest.param(SE + "q=git&site=nowhere", 400, "No site found", id="an unknown site"),
        pytest.param(HN + "numericFilters=points>2", 400, "points", id="a number without a filter"),
        pytest.param(WIKI + "a" * 301, 200, "query-too-long", id="a long search of a wiki"),
        pytest.param(GITHUB, 422, "Validation Failed", id="github without words"),
        pytest.param(GITHUB + "a" * 257, 422, "Validation Failed", id="github with too many"),
        pytest.param(CROSSREF + "/10.5555/none", 404, "Resource not found", id="an unknown DOI"),
        pytest.param(ARXIV_API + "id_list=x", 400, "api/errors", id="no arXiv id"),
        pytest.param(OPENVERSE + "images/?q=a&page_size=21", 401, "page_size", id="a large page"),
        pytest.param(IA + "(dust", 200, "<!DOCTYPE", id="an archive's error is a page with 200"),
        pytest.param(PHOTON + "a&lang=es", 400, "not supported", id="a language of no map"),
        pytest.param(MB + "artist?query=a", 400, "<?xml", id="musicbrainz without fmt"),
        pytest.param(MB + 'artist?fmt=json&query="a', 400, "parse", id="an open quote"),
        pytest.param(NPM, 400, "required", id="npm without words"),
        pytest.param(CRATES + "a&per_page=101", 400, "100", id="too many crates"),
        pytest.param(GDELT + "query=EU+law", 200, "too short", id="a word under three letters"),
        pytest.param(GDELT + "query=", 200, "too short", id="gdelt without words"),
    ],
)
def test_each_service_complains_in_its_own_words(url: str, status: int, said: str):
    page = FakeOpenSources(DOCUMENTS).respond(url)
    assert page.status == status
    assert said in page.content.decode()


def test_a_host_refuses_hangs_garbles_and_heals():
    web = FakeOpenSources(DOCUMENTS)
    whole = web.respond(NPM + "dates").content
    web.refuse("registry.example", status=503, headers={"Retry-After": "7"})
    refused = web.respond(NPM + "dates")
    assert (refused.status, refused.headers["Retry-After"]) == (503, "7")
    web.hang("registry.example")
    assert web.respond(NPM + "dates").silent
    web.garble("registry.example")
    assert web.respond(NPM + "dates").content == whole[: len(whole) // 2]
    assert web.respond(CRATES + "serde").status == 200
    web.heal("registry.example")
    assert web.respond(NPM + "dates").content == whole


@pytest.mark.parametrize(
    ("host", "said"),
    [
        pytest.param("en.wikipedia.org", "<!DOCTYPE", id="a page of HTML"),
        pytest.param("api.stackexchange.com", "throttle_violation", id="an error of the service"),
        pytest.param("api.gdeltproject.org", "5 seconds", id="plain text"),
    ],
)
def test_a_refusal_says_what_the_service_says(host: str, said: str):
    web = FakeOpenSources(DOCUMENTS)
    web.refuse(host)
    page = web.respond(f"https://{host}/")
    assert page.status == 429
    assert said in page.content.decode()


def test_requests_are_recorded_those_to_nobody_too():
    web = FakeOpenSources(DOCUMENTS)
    urls = [NPM + "dates", "https://nobody.example/?q=a"]
    web.respond(urls[0])
    with pytest.raises(UnknownHostError):
        web.respond(urls[1])
    assert web.requests == urls
    with pytest.raises(UnknownHostError):
        web.hang("nobody.example")


def test_ranges_are_counted_back_from_the_time_given():
    url = GDELT + urlencode({"query": "earthquake", "timespan": "1d"})
    later = FakeOpenSources(DOCUMENTS, now=datetime(2026, 12, 1, tzinfo=UTC))
    assert json.loads(later.respond(url).content) == {}
    assert NOW.year == 2026


@pytest.mark.parametrize("host", HOSTS)
def test_another_path_is_not_found(host: str):
    page = FakeOpenSources(DOCUMENTS).respond(f"https://{host}/nowhere?q=a&text=a")
    assert page.status in {400, 404} or "error" in json.loads(page.content)
