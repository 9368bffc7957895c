"""The doubles of the open APIs, asked and read by the engines of this package."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.engine import OpenQuery, Parsed
from searx_mcp.sources.open.question import Identifier, IdentifierKind
from searx_mcp.sources.open.table import ENGINES
from tests.doubles.open_sources.addresses import NPM_HOST, address_of
from tests.doubles.open_sources.documents import ENGINES as DOUBLED
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.double import NOW, FakeOpenSources

ROWS = {row.name: row for row in ENGINES}
ROWS["npm"] = replace(ROWS["npm"], endpoint=f"https://{NPM_HOST}")
DOCUMENTS = (
    Document("wikipedia/tcp", "Transmission Control Protocol", "Sends bytes. In order. Again. More."),
    Document("wikipedia/udp", "User Datagram Protocol", "Sends packets.", tags=("Protocol",)),
    Document("wikipedia/de-tcp", "Transmission Control Protocol", "Überträgt.", language="de"),
    Document("stackexchange/undo", "Undo a <commit>", "Use reset.", tags=("git",), comments=2, points=9),
    Document("stackexchange/redo", "Redo a commit", "Use reflog.", date="2026-11-20"),
    Document("stackexchange/pan", "Rust on a pan", "Scrub it.", site="cooking"),
    Document("github/grep", "tools/grep", "Finds lines.", kind="repository", container="Rust", date="2026-11-01"),
    Document("github/old", "tools/old-grep", "Finds lines.", kind="repository", date="2019-01-01"),
    Document("github/bug", "grep: it crashes", "Finds lines, then not.", kind="issue", container="tools/grep"),
    Document("hackernews/story", "A fast grep", url="https://a.example/", date="2026-11-20", points=50),
    Document("hackernews/ask", "Ask HN: Which grep?", "I &c.", date="2020-05-05", points=60),
    Document("crossref/full", "Light and leaves", "A study.", doi="10.5555/a.1", date="2021-03", author="Ann Lee; Bo Ek", points=4),
    Document("crossref/bare", "Roots", doi="10.5555/B.2"),
    Document("arxiv/gr", "Waves & holes", "Two black holes merge. " * 6, identifier="1602.03837v2", date="2016-02-11", author="Ann Lee", tags=("gr-qc",), doi="10.1/x", container="J. 1"),
    Document("arxiv/ml", "Waves in nets", "Networks.", identifier="2603.00001v1", date="2026-03-01", tags=("cs.LG",)),
    Document("europepmc/a", "Walking and bones.", "A trial.", identifier="90000001", doi="10.5555/c", date="2026-03-30", author="Lee A.", container="Bones"),
    Document("europepmc/b", "Walking uphill.", "Hearts.", identifier="90000002", date="2011-01-01"),
    Document("openverse/panda", "Red panda", author="Mei", licence="CC BY-SA 4.0", kind="image", width=800, height=600),
    Document("openverse/car", "Red car", licence="CC BY-NC 4.0", kind="image"),
    Document("openverse/bird", "Red bird song", licence="CC0 1.0", kind="audio", seconds=9),
    Document("commons/logo", "Fox logo", "Logo of a fox.", kind="drawing", author="Fox & co", licence="CC BY-SA 4.0", width=300, height=200),
    Document("commons/film", "Fox film", "A fox runs.", kind="video", seconds=12, width=640, height=480, licence="CC0 1.0"),
    Document("internetarchive/film", "Dust film", "About dust and farms.", kind="movies", author="Unit", date="1936"),
    Document("internetarchive/book", "Dust", "Farms.", kind="texts", date="2026-11-05"),
    Document("photon/cam-uk", "Cambridge", kind="place/city", latitude=52.2, longitude=0.1, address={"country": "United Kingdom"}),
    Document("photon/cam-us", "Cambridge", kind="place/city", latitude=42.4, longitude=-71.1, address={"state": "Massachusetts"}),
    Document("photon/street", "Cambridge Street", kind="highway/residential", latitude=1.0, longitude=1.0),
    Document("musicbrainz/band", "Radiohead", "rock band", kind="artist"),
    Document("musicbrainz/album", "OK Computer", kind="release-group", author="Radiohead", date="1997-05-21"),
    Document("musicbrainz/other", "Computer World", kind="release-group", author="Kraftwerk"),
    Document("musicbrainz/song", "Karma Police", kind="recording", author="Radiohead", seconds=264),
    Document("npm/dates", "date-tools", "Parses dates.", version="1.2.0", author="ann", date="2026-01-01", points=90_000),
    Document("npm/pads", "left-pad", "Pads.", version="1.0.0", author="bo"),
    Document("crates/serde", "serde", "A framework.", version="1.0.0", date="2026-02-02", points=10),
    Document("crates/json", "serde_json", "JSON for it.", version="1.0.1", points=9),
    Document("huggingface/a", "lab/whisper-large", kind="model", tags=("transformers", "asr"), points=5, comments=2, date="2024-01-01"),
    Document("huggingface/b", "lab/whisper-tiny", kind="model", tags=("transformers", "asr"), points=9),
    Document("huggingface/c", "lab/squad", "Questions.", kind="dataset", tags=("en",)),
    Document("sepiasearch/a", "Tor explained", "Onion routing.", seconds=60, container="v.example", author="Ann", date="2026-11-01"),
    Document("sepiasearch/b", "Tor pour tous", language="fr", container="v.example", date="2020-01-01"),
    Document("gdelt/quake", "Earthquake in Japan , no tsunami", url="https://n.example/1", site="n.example", date="2026-11-22T05:00:00Z", address={"country": "Japan"}),
    Document("gdelt/drill", "Earthquake drill in Japan", url="https://n.example/2", site="n.example", date="2026-09-01"),
    Document("gdelt/beben", "Japan bebt", url="https://z.example/3", site="z.example", date="2026-11-21", language="de"),
)  # fmt: skip


MONTH, YEAR = {"time_range": TimeRange.MONTH}, {"time_range": TimeRange.YEAR}
IMAGES, VIDEOS, MUSIC, FILES = (
    {"category": category}
    for category in (Category.IMAGES, Category.VIDEOS, Category.MUSIC, Category.FILES)
)

# Engine, question, what it has beside its words, and what is found, best first.
SEARCHES = [
    ("wikipedia", "control protocol", {}, "tcp"),
    ("wikipedia", "how does the protocol work", {}, "tcp udp"),
    ("wikipedia", "protocol bananas", {}, ""),
    ("wikipedia", "ubertragt", {"language": "de"}, "de-tcp"),
    ("commons", "fox", IMAGES, "logo"),
    ("commons", "fox", VIDEOS, "film"),
    ("stackexchange", "undo nothing", {}, "undo"),
    ("stackexchange", "rust commit", {"aim": "cooking"}, "pan"),
    ("stackexchange", "commit", MONTH, "redo"),
    ("github", "grep lines", {}, "grep old"),
    ("github", "grep", YEAR, "grep"),
    ("github", "grep", {"aim": "issues"}, "bug"),
    ("hackernews", "grep", {}, "story ask"),
    ("hackernews", "grep", MONTH, "story"),
    ("hackernews", "grep tutorial", {}, ""),
    ("hackernews", "fast grep tutorial", {}, "story ask"),
    ("crossref", "leaves of gold", {}, "full"),
    ("crossref", "zzz", {}, "full bare"),
    ("crossref", "light", YEAR, ""),
    ("crossref", "x", {"identifier": Identifier(IdentifierKind.DOI, "10.5555/b.2")}, "bare"),
    ("arxiv", "black holes", {}, "gr"),
    ("arxiv", "waves", YEAR, "ml"),
    ("arxiv", "x", {"identifier": Identifier(IdentifierKind.ARXIV, "1602.03837")}, "gr"),
    ("europepmc", "walking", {}, "a b"),
    ("europepmc", "walking", YEAR, "a"),
    ("europepmc", "x", {"identifier": Identifier(IdentifierKind.PMID, "90000002")}, "b"),
    ("europepmc", "x", {"identifier": Identifier(IdentifierKind.DOI, "10.5555/c")}, "a"),
    ("openverse", "red panda", {}, "panda car"),
    ("openverse", "red", MUSIC, "bird"),
    ("internetarchive", "dust", VIDEOS, "film"),
    ("internetarchive", "dust bananas", VIDEOS, ""),
    ("internetarchive", "dust", {**FILES, **YEAR}, "book"),
    ("photon", "cambr", {}, "cam-uk cam-us street"),
    ("photon", "cambridge massachusetts", {}, "cam-us"),
    ("photon", "massachusetts", {}, ""),
    ("photon", "where is cambridge", {}, ""),
    ("musicbrainz", "radiohead", {"aim": "artist"}, "band"),
    ("musicbrainz", "ok computer", {}, "album"),
    ("musicbrainz", "karma", {"aim": "recording"}, "song"),
    ("npm", "dates of old", {}, "dates"),
    ("crates", "serde", {}, "serde json"),
    ("crates", "json framework", {}, ""),
    ("huggingface", "whisper", {}, "b a"),
    ("huggingface", "squ", {"aim": "datasets"}, "c"),
    ("huggingface", "speech", {}, ""),
    ("sepiasearch", "tor explained simply", {}, "a"),
    ("sepiasearch", "simply tor", {}, ""),
    ("sepiasearch", "tor", {"language": "fr"}, "b"),
    ("sepiasearch", "tor", {"language": "all", **MONTH}, "a"),
    ("gdelt", "earthquake japan", {}, "drill quake"),
    ("gdelt", "earthquake", {"time_range": TimeRange.WEEK}, "quake"),
    ("gdelt", "japan", {"language": "de"}, "beben"),
    ("gdelt", "bananas", {}, ""),
]  # fmt: skip


def search(
    name: str, text: str, documents: Sequence[Document] = DOCUMENTS, **fields: object
) -> Parsed:
    values = {"keywords": tuple(text.split()), "now": NOW, **fields}
    query = OpenQuery(text=text, **values)  # type: ignore[arg-type]  # any field, by name
    asked = ROWS[name].ask(query)
    assert asked is not None
    page = FakeOpenSources(documents).respond(ROWS[name].url(asked))
    assert page.status == 200
    return ROWS[name].parse(page.content, query)


def found(name, text, **fields):
    mine = {address_of(each): each for each in DOCUMENTS if each.engine == name}
    hits = search(name, text, **fields).hits
    assert all((hit.published_at or "").startswith(mine[hit.url].date[:10]) for hit in hits)
    return [mine[hit.url].slug for hit in hits]


def test_every_collection_has_a_double():
    assert set(DOUBLED) == {row.name for row in ENGINES if not row.is_web_index}


@pytest.mark.parametrize(("name", "text", "fields", "slugs"), SEARCHES)
def test_each_service_finds_in_its_own_way(name, text, fields, slugs):
    assert found(name, text, **fields) == slugs.split()


# The others answer with one page, Hacker News with pages of 50.
@pytest.mark.parametrize(
    "name", sorted({*DOUBLED} - {"europepmc", "gdelt", "hackernews", "huggingface", "photon"})
)
def test_pages_follow_one_another_up_to_the_last(name):
    first = next(each for each in DOCUMENTS if each.engine == name)
    documents = [
        replace(
            first,
            id=f"{name}/{number}",
            title=f"{first.title}-{number}",
            url="",
            doi=f"10.5555/{number}",
            identifier=f"2603.{number:05}v1",
        )
        for number in range(30)
    ]
    aims = {"musicbrainz": "artist", "internetarchive": "movies"}
    one, two, three = (
        search(name, first.title, documents, page=page, aim=aims.get(name, ""))
        for page in (1, 2, 3)
    )
    assert len({hit.url for page in (one, two, three) for hit in page.hits}) == 30
    assert (one.has_next, three.has_next) == (True, False)


@pytest.mark.parametrize(
    ("url", "status", "said"),
    [
        ("https://api.stackexchange.com/2.3/search/excerpts?q=a&site=nowhere", 400, "bad_parameter"),
        ("https://hn.algolia.com/api/v1/search?query=a&numericFilters=points>2", 400, "numeric"),
        (f"https://en.wikipedia.org/w/api.php?generator=search&gsrsearch={'a' * 301}", 200, "too-long"),
        (f"https://api.github.com/search/repositories?q={'a' * 257}", 422, "Validation Failed"),
        ("https://api.crossref.org/works/10.5555/none", 404, "Resource not found"),
        ("https://export.arxiv.org/api/query?id_list=x", 400, "api/errors"),
        ("https://api.openverse.org/v1/images/?q=a&page_size=21", 401, "page_size"),
        ("https://photon.komoot.io/api/?q=a&lang=es", 400, "not supported"),
        ("https://musicbrainz.org/ws/2/artist?query=a", 400, "Invalid"),
        ("https://crates.io/api/v1/crates?q=a&per_page=101", 400, "100"),
        ("https://api.gdeltproject.org/api/v2/doc/doc?query=EU+law", 200, "too short"),
    ],
)  # fmt: skip
def test_a_service_complains_of_what_it_cannot_answer(url, status, said):
    page = FakeOpenSources(DOCUMENTS).respond(url)
    assert page.status == status
    assert said in page.content.decode()


def test_a_host_refuses_hangs_garbles_and_heals():
    url = f"https://{NPM_HOST}/-/v1/search?text=dates"
    web = FakeOpenSources(DOCUMENTS)
    whole = web.respond(url).content
    web.refuse(NPM_HOST, status=503, headers={"Retry-After": "7"})
    refused = web.respond(url)
    assert (refused.status, refused.headers["Retry-After"]) == (503, "7")
    web.hang(NPM_HOST)
    assert web.respond(url).silent
    web.garble(NPM_HOST)
    assert web.respond(url).content == whole[: len(whole) // 2]
    assert web.respond("https://crates.io/api/v1/crates?q=serde").status == 200
    web.heal(NPM_HOST)
    assert web.respond(url).content == whole
