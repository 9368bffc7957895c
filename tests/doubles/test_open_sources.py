"""The doubles of the open APIs, read as a client of each service would read them."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import pytest

from tests.doubles.open_sources.addresses import address_of
from tests.doubles.open_sources.documents import ENGINES, Document
from tests.doubles.open_sources.double import HOSTS, FakeOpenSources

ATOM = "{http://www.w3.org/2005/Atom}"
ARXIV = "{http://arxiv.org/schemas/atom}"

DOCUMENTS = (
    Document("wikipedia/tcp", "Transmission Control Protocol", "Sends bytes. In order. Again. More."),
    Document("wikipedia/udp", "User Datagram Protocol", "Sends packets.", tags=("Protocol",)),
    Document("wikipedia/de-tcp", "Transmission Control Protocol", "Überträgt.", language="de"),
    Document("stackexchange/undo", "Undo a <commit>", "Use reset.", tags=("git",), comments=2, points=9),
    Document("stackexchange/redo", "Redo a commit", "Use reflog.", kind="answer", date="2026-11-20"),
    Document("stackexchange/pan", "Rust on a pan", "Scrub it.", site="cooking"),
    Document("github/grep", "tools/grep", "Finds lines.", kind="repository", container="Rust", date="2026-11-01"),
    Document("github/old", "tools/old-grep", "Finds lines.", kind="repository", date="2019-01-01"),
    Document("github/bug", "grep: it crashes", "Finds lines, then not.", kind="issue", container="tools/grep"),
    Document("hackernews/story", "A fast grep", url="https://a.example/", date="2026-11-20", points=50),
    Document("hackernews/ask", "Ask HN: Which grep?", "I &c.", date="2020-05-05", points=2),
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

WIKI = "https://en.wikipedia.org/w/api.php?action=query&generator=search&formatversion=2&gsrsearch="
COMMONS = WIKI.replace("en.wikipedia", "commons.wikimedia")
SE = "https://api.stackexchange.com/2.3/search/excerpts?"
GITHUB = "https://api.github.com/search/repositories?q="
HN = "https://hn.algolia.com/api/v1/search?"
CROSSREF = "https://api.crossref.org/works"
ARXIV_API = "https://export.arxiv.org/api/query?"
PMC = "https://www.ebi.ac.uk/europepmc/webservices/rest/search?format=json&resultType=core&query="
OPENVERSE = "https://api.openverse.org/v1/"
IA = "https://archive.org/advancedsearch.php?output=json&fl[]=identifier&q="
PHOTON = "https://photon.komoot.io/api/?q="
MB = "https://musicbrainz.org/ws/2/"
NPM = "https://registry.example/-/v1/search?text="
CRATES = "https://crates.io/api/v1/crates?q="
HUB = "https://huggingface.co/api/"
SEPIA = "https://sepiasearch.org/api/v1/search/videos?search="
GDELT = "https://api.gdeltproject.org/api/v2/doc/doc?mode=ArtList&format=json&"


def ask(url: str, documents: Sequence[Document] = DOCUMENTS) -> Any:
    page = FakeOpenSources(documents).respond(url)
    assert page.status == 200
    return json.loads(page.content)


def found(url: str) -> list[str]:
    """The ids of what an answer has, by the addresses and numbers in it, in its order."""
    page = FakeOpenSources(DOCUMENTS).respond(url)
    assert page.status == 200
    text = page.content.decode()
    engine = HOSTS.get(url.split("/")[2], "wikipedia")
    marks = {
        "crossref": lambda each: f'"DOI": "{each.doi}"',
        "arxiv": lambda each: f"<id>http://arxiv.org/abs/{each.identifier}<",
        "internetarchive": lambda each: f'"identifier": "{each.slug}"',
        "openverse": lambda each: f'"{address_of(each)}"',
        "musicbrainz": lambda each: address_of(each).rpartition("/")[2],
        "npm": lambda each: f'"{address_of(each)}"',
        "crates": lambda each: f'"id": "{each.title}"',
        "huggingface": lambda each: f'"id": "{each.title}"',
        "gdelt": lambda each: f'"{each.url}"',
        "europepmc": lambda each: f'"pmid": "{each.identifier}"',
    }
    mark = marks.get(engine, lambda each: str(each.number))
    places = {
        each.slug: text.find(mark(each))
        for each in DOCUMENTS
        if each.engine == engine and mark(each) in text
    }
    return sorted(places, key=lambda slug: places[slug])


SEARCHES = [
    pytest.param(WIKI + "control+protocol", ["tcp"], id="wikipedia: all words"),
    pytest.param(WIKI + "how+does+the+protocol+work", ["udp", "tcp"], id="wikipedia: function words"),
    pytest.param(WIKI + "protocol+bananas", [], id="wikipedia: a word is missing"),
    pytest.param(WIKI.replace("en.", "de.") + "ubertragt", ["de-tcp"], id="wikipedia: by language"),
    pytest.param(COMMONS + "fox", ["film", "logo"], id="commons: any file"),
    pytest.param(COMMONS + "filetype:bitmap|drawing+fox", ["logo"], id="commons: by type"),
    pytest.param(COMMONS + "filetype:multimedia+fox", ["film"], id="commons: a group of types"),
    pytest.param(SE + "site=stackoverflow&q=undo+nothing", ["undo"], id="stackexchange: any word"),
    pytest.param(SE + "site=cooking&q=rust+commit", ["pan"], id="stackexchange: one site"),
    pytest.param(SE + "site=stackoverflow&q=commit&fromdate=1790000000", ["redo"], id="stackexchange: from a date"),
    pytest.param(SE + "site=stackoverflow&tagged=git", ["undo"], id="stackexchange: by tag"),
    pytest.param(GITHUB + "grep+lines", ["grep", "old"], id="github: repositories"),
    pytest.param(GITHUB + "grep+pushed:>=2026-01-01", ["grep"], id="github: pushed since"),
    pytest.param(GITHUB + "grep+language:rust", ["grep"], id="github: by language"),
    pytest.param(GITHUB + "how+to+grep", [], id="github: questions find nothing"),
    pytest.param("https://api.github.com/search/issues?q=grep+is:issue", ["bug"], id="github: issues"),
    pytest.param(HN + "query=grep&tags=story", ["story", "ask"], id="hackernews: all words"),
    pytest.param(HN + "query=grep&tags=ask_hn", ["ask"], id="hackernews: by tag"),
    pytest.param(HN + "query=grep&numericFilters=created_at_i>1790000000", ["story"], id="hackernews: numbers"),
    pytest.param(HN + "query=grep+tutorial&optionalWords=grep,tutorial", ["story", "ask"], id="hackernews: optional words"),
    pytest.param(HN + "query=grep+fast+tutorial&optionalWords=tutorial,grep", ["story"], id="hackernews: a word that is not optional"),
    pytest.param(HN + "query=grep+tutorial", [], id="hackernews: a word is missing"),
    pytest.param(CROSSREF + "?query.bibliographic=leaves+of+gold", ["full"], id="crossref: any word"),
    pytest.param(CROSSREF + "?query.bibliographic=zzz", ["full", "bare"], id="crossref: always something"),
    pytest.param(CROSSREF + "?query=light&filter=from-pub-date:2022-01-01", [], id="crossref: from a date"),
    pytest.param(CROSSREF + "/10.5555/b.2", ["bare"], id="crossref: by DOI"),
    pytest.param(ARXIV_API + "search_query=all:black+AND+all:holes", ["gr"], id="arxiv: all words"),
    pytest.param(ARXIV_API + 'search_query=ti:"waves+in"', ["ml"], id="arxiv: a phrase of the title"),
    pytest.param(ARXIV_API + "search_query=all:waves+AND+submittedDate:[202601010000+TO+202612312359]", ["ml"], id="arxiv: by date"),
    pytest.param(ARXIV_API + "search_query=all:waves&sortBy=submittedDate", ["ml", "gr"], id="arxiv: newest first"),
    pytest.param(ARXIV_API + "id_list=1602.03837", ["gr"], id="arxiv: by id"),
    pytest.param(PMC + "walking+bananas", ["a", "b"], id="europepmc: any word"),
    pytest.param(PMC + "walking+AND+FIRST_PDATE:[2026-01-01+TO+2026-11-30]", ["a"], id="europepmc: by date"),
    pytest.param(PMC + "EXT_ID:90000002", ["b"], id="europepmc: by PMID"),
    pytest.param(PMC + 'DOI:"10.5555/c"', ["a"], id="europepmc: by DOI"),
    pytest.param(OPENVERSE + "images/?q=red+panda", ["panda", "car"], id="openverse: any word"),
    pytest.param(OPENVERSE + "images/?q=red&license_type=commercial", ["panda"], id="openverse: licence"),
    pytest.param(OPENVERSE + "audio/?q=red", ["bird"], id="openverse: sounds"),
    pytest.param(IA + "(dust+bananas)+AND+mediatype:(movies)", ["film"], id="internetarchive: any word"),
    pytest.param(IA + "(dust+AND+bananas)+AND+mediatype:(movies)", [], id="internetarchive: asked for all"),
    pytest.param(IA + "dust+AND+publicdate:[2026-01-01+TO+2026-11-30]", ["book"], id="internetarchive: by date"),
    pytest.param(PHOTON + "cambr", ["cam-uk", "cam-us", "street"], id="photon: the beginning of a name"),
    pytest.param(PHOTON + "cambridge+massachusetts", ["cam-us"], id="photon: with the state"),
    pytest.param(PHOTON + "massachusetts", [], id="photon: a state is no name"),
    pytest.param(PHOTON + "where+is+cambridge", [], id="photon: questions find nothing"),
    pytest.param("https://photon.komoot.io/reverse?lat=52.201&lon=0.1", ["cam-uk"], id="photon: a point"),
    pytest.param(MB + "artist?fmt=json&query=radiohead", ["band"], id="musicbrainz: artists"),
    pytest.param(MB + "release-group?fmt=json&query=ok+computer", ["album", "other"], id="musicbrainz: any word"),
    pytest.param(MB + "recording?fmt=json&query=artist:radiohead", ["song"], id="musicbrainz: a field"),
    pytest.param(NPM + "dates+of+old", ["dates"], id="npm: any word"),
    pytest.param(CRATES + "serde", ["serde", "json"], id="crates: the exact name first"),
    pytest.param(CRATES + "json+framework", [], id="crates: all words"),
    pytest.param(HUB + "models?search=whisper", ["b", "a"], id="huggingface: part of the name"),
    pytest.param(HUB + "datasets?search=squ", ["c"], id="huggingface: datasets"),
    pytest.param(HUB + "models?search=speech", [], id="huggingface: not by meaning"),
    pytest.param(SEPIA + "tor+explained+simply", ["a", "b"], id="sepiasearch: words given up from the end"),
    pytest.param(SEPIA + "simply+tor", [], id="sepiasearch: but not the first"),
    pytest.param(SEPIA + "tor&languageOneOf[]=fr", ["b"], id="sepiasearch: by language"),
    pytest.param(SEPIA + "tor&startDate=2026-10-01", ["a"], id="sepiasearch: from a date"),
    pytest.param(GDELT + "query=earthquake+japan", ["drill", "quake"], id="gdelt: all words"),
    pytest.param(GDELT + "query=earthquake&timespan=7d", ["quake"], id="gdelt: a span of time"),
    pytest.param(GDELT + "query=earthquake&sort=DateDesc", ["quake", "drill"], id="gdelt: newest first"),
    pytest.param(GDELT + "query=japan+sourcelang:german", ["beben"], id="gdelt: by language"),
    pytest.param(GDELT + "query=domain:n.example", ["quake", "drill"], id="gdelt: by domain"),
    pytest.param(GDELT + "query=bananas", [], id="gdelt: nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "slugs"), SEARCHES)
def test_each_service_finds_in_its_own_way(url: str, slugs: list[str]):
    assert found(url) == slugs


def test_pages_of_a_wiki_come_by_number_with_their_place_in_the_search():
    query = ask(WIKI + "protocol&exsentences=2")["query"]
    assert [page["index"] for page in query["pages"]] == [2, 1]
    assert query["pages"][1]["extract"] == "Sends bytes. In order."
    assert query["pages"][0]["fullurl"] == "https://en.wikipedia.org/wiki/User_Datagram_Protocol"
    assert query["pages"][0]["description"] == "Protocol"


def test_a_wiki_tells_where_the_next_page_begins():
    first = ask(WIKI + "protocol&gsrlimit=1")
    assert first["continue"] == {"gsroffset": 1, "continue": "gsroffset||"}
    second = ask(WIKI + "protocol&gsrlimit=1&gsroffset=1")
    assert [page["index"] for page in second["query"]["pages"]] == [2]
    assert "continue" not in second
    assert "query" not in ask(WIKI + "bananas")
    assert ask(WIKI)["error"]["code"] == "missingparam"


def test_the_list_of_a_wiki_marks_words():
    url = "https://en.wikipedia.org/w/api.php?action=query&list=search&srsearch=sends+packets"
    (hit,) = ask(url)["query"]["search"]
    marked = '<span class="searchmatch">'
    assert hit["snippet"] == f"{marked}Sends</span> {marked}packets</span>."


@pytest.mark.parametrize(
    ("title", "status"),
    [
        pytest.param("User_Datagram_Protocol", 200, id="there"),
        pytest.param("Bananas", 404, id="missing"),
        pytest.param("A%5BB", 400, id="no title"),
    ],
)
def test_a_summary_is_of_one_title(title: str, status: int):
    url = f"https://en.wikipedia.org/api/rest_v1/page/summary/{title}"
    assert FakeOpenSources(DOCUMENTS).respond(url).status == status


def test_a_file_has_its_licence_as_html():
    (page,) = ask(COMMONS + "filetype:drawing+fox&iiurlwidth=320")["query"]["pages"]
    (info,) = page["imageinfo"]
    assert page["title"] == "File:Fox logo.svg"
    assert (info["mime"], info["thumbwidth"]) == ("image/svg+xml", 320)
    assert info["extmetadata"]["LicenseShortName"]["value"] == "CC BY-SA 4.0"
    assert "<a href" in info["extmetadata"]["Artist"]["value"]


def test_posts_are_escaped_and_have_no_link():
    answer = ask(SE + "site=stackoverflow&q=commit+reset&pagesize=1")
    (question,) = answer["items"]
    assert (answer["has_more"], answer["quota_remaining"]) == (True, 299)
    assert question["title"] == "Undo a &lt;commit&gt;"
    assert '<span class="highlight">reset</span>' in question["excerpt"]
    assert question["has_accepted_answer"]
    assert "link" not in question
    (reply,) = ask(SE + "site=stackoverflow&q=redo")["items"]
    assert (reply["item_type"], reply["is_accepted"]) == ("answer", True)


def test_a_story_without_address_has_its_text():
    story, asked = ask(HN + "query=grep")["hits"]
    assert (story["url"], story["created_at"]) == ("https://a.example/", "2026-11-20T00:00:00Z")
    assert "url" not in asked
    assert asked["story_text"] == "I &amp;c."


def test_works_have_the_fields_chosen_and_dates_of_any_length():
    url = CROSSREF + "?query=zzz&select=DOI,title,author,issued"
    full, bare = ask(url)["message"]["items"]
    assert full.keys() == {"DOI", "title", "author", "issued"}
    assert full["issued"] == {"date-parts": [[2021, 3]]}
    assert [person["family"] for person in full["author"]] == ["Lee", "Ek"]
    assert bare["issued"] == {"date-parts": [[None]]}
    (second,) = ask(CROSSREF + "?query=zzz&rows=1&offset=1")["message"]["items"]
    assert "abstract" not in second


def test_an_entry_of_the_feed_has_names_links_and_broken_lines():
    page = FakeOpenSources(DOCUMENTS).respond(ARXIV_API + "id_list=1602.03837v2")
    entry = ET.fromstring(page.content).find(f"{ATOM}entry")  # noqa: S314 - written by the double
    assert entry is not None
    assert entry.findtext(f"{ATOM}title") == "Waves & holes"
    assert "\n" in (entry.findtext(f"{ATOM}summary") or "").strip()
    assert entry.findtext(f"{ATOM}author/{ATOM}name") == "Ann Lee"
    assert entry.findtext(f"{ARXIV}journal_ref") == "J. 1"
    links = {link.get("title"): link.get("href") for link in entry.iter(f"{ATOM}link")}
    assert links["pdf"] == "http://arxiv.org/pdf/1602.03837v2"


def test_europe_pmc_pages_by_cursor():
    first = ask(PMC + "walking&pageSize=1&cursorMark=*")
    second = ask(PMC + f"walking&pageSize=1&cursorMark={first['nextCursorMark']}")
    last = ask(PMC + f"walking&pageSize=1&cursorMark={second['nextCursorMark']}")
    papers = [answer["resultList"]["result"] for answer in (first, second, last)]
    assert [[paper["pmid"] for paper in part] for part in papers] == [
        ["90000001"],
        ["90000002"],
        [],
    ]
    assert last["nextCursorMark"] == second["nextCursorMark"]
    assert papers[0][0]["journalInfo"]["journal"]["title"] == "Bones"
    assert papers[0][0]["fullTextUrlList"]["fullTextUrl"]


def test_openverse_gives_the_licence_in_parts():
    (work, _) = ask(OPENVERSE + "images/?q=red+panda")["results"]
    assert (work["license"], work["license_version"]) == ("by-sa", "4.0")
    assert work["attribution"] == '"Red panda" by Mei is licensed under CC BY-SA 4.0.'
    (sound,) = ask(OPENVERSE + "audio/?q=red")["results"]
    assert sound["duration"] == 9_000


def test_items_of_the_archive_have_the_fields_chosen_and_may_have_lists():
    fields = "&fl[]=title&fl[]=creator"
    documents = [
        Document(f"internetarchive/{n}", "Dust", author="A", kind="texts") for n in range(20)
    ]
    docs = ask(IA + "dust" + fields + "&rows=15&page=2", documents)["response"]["docs"]
    assert len(docs) == 5
    assert docs[0].keys() == {"identifier", "title", "creator"}
    every = ask(IA + "dust" + fields, documents)["response"]["docs"]
    assert {type(doc["creator"]) for doc in every} == {str, list}


def test_places_have_their_coordinates_longitude_first():
    first = ask(PHOTON + "cambridge+massachusetts")["features"][0]
    assert first["geometry"]["coordinates"] == [-71.1, 42.4]
    assert first["properties"]["osm_type"] in {"N", "W", "R"}
    assert first["properties"]["extent"] == [-71.2, 42.5, -71.0, 42.3]
    assert len(ask(PHOTON + "cambridge&limit=1")["features"]) == 1


def test_music_has_scores_up_to_100():
    albums = ask(MB + "release-group?fmt=json&query=ok+computer")["release-groups"]
    assert albums[0]["score"] == 100 > albums[1]["score"]
    assert albums[0]["artist-credit"][0]["name"] == "Radiohead"
    assert albums[0]["first-release-date"] == "1997-05-21"
    (song,) = ask(MB + "recording?fmt=json&query=karma")["recordings"]
    assert song["length"] == 264_000


def test_packages_and_models_are_shaped_as_documented():
    (package,) = ask(NPM + "dates")["objects"]
    assert package["package"]["links"]["npm"] == "https://registry.example/package/date-tools"
    crates = ask(CRATES + "serde&per_page=1")
    assert crates["crates"][0]["max_stable_version"] == "1.0.0"
    assert crates["meta"]["next_page"] == "?q=serde&per_page=1&page=2"
    page = FakeOpenSources(DOCUMENTS).respond(HUB + "models?search=whisper&limit=1")
    assert json.loads(page.content)[0]["pipeline_tag"] == "asr"
    assert 'rel="next"' in page.headers["Link"]


def test_videos_and_news_are_shaped_as_documented():
    (video, _) = ask(SEPIA + "tor+explained")["data"]
    assert video["account"]["displayName"] == "Ann"
    assert (video["duration"], video["channel"]["host"]) == (60, "v.example")
    (article,) = ask(GDELT + "query=earthquake&timespan=1d")["articles"]
    assert article["seendate"] == "20261122T050000Z"
    assert (article["language"], article["sourcecountry"]) == ("English", "Japan")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("stackexchange/undo", "https://stackoverflow.com/q/{number}"),
        ("stackexchange/pan", "https://cooking.stackexchange.com/q/{number}"),
        ("github/grep", "https://github.com/tools/grep"),
        ("hackernews/ask", "https://news.ycombinator.com/item?id={number}"),
        ("arxiv/gr", "https://arxiv.org/abs/1602.03837"),
        ("europepmc/a", "https://europepmc.org/article/MED/90000001"),
        ("commons/logo", "https://commons.wikimedia.org/wiki/File:Fox_logo.svg"),
        ("internetarchive/film", "https://archive.org/details/film"),
        ("huggingface/a", "https://huggingface.co/lab/whisper-large"),
        ("huggingface/c", "https://huggingface.co/datasets/lab/squad"),
        ("gdelt/quake", "https://n.example/1"),
    ],
)
def test_a_document_is_known_again_by_its_address(name: str, address: str):
    (document,) = (each for each in DOCUMENTS if each.id == name)
    assert address_of(document) == address.format(number=document.number)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_document_leads_to_an_address_of_its_own(engine: str):
    mine = [each for each in DOCUMENTS if each.engine == engine]
    addresses = {address_of(each) for each in mine}
    assert len(addresses) == len(mine) > 0
    assert all(address.startswith("https://") for address in addresses)
