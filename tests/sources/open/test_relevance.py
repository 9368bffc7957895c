"""What of an engine's rows has to do with a question."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.hits import Hit, Package, Paper, Place
from searx_mcp.sources.open.analyze_query import analyze_query
from searx_mcp.sources.open.relevance import relevant
from searx_mcp.sources.open.table import ENGINES

ROWS = {engine.name: engine for engine in ENGINES}


def hit(title: str, description: str = "", url: str = "https://a.org/1", **fields: object) -> Hit:
    return Hit(url=url, title=title, position=1, description=description, **fields)  # type: ignore[arg-type]  # any field


def stays(query: str, row: Hit | str, engine: str = "wikipedia") -> bool:
    rows = (hit(row) if isinstance(row, str) else row,)
    return bool(relevant(rows, analyze_query(query), ROWS[engine]))


@pytest.mark.parametrize(
    ("query", "title"),
    [
        pytest.param("photosynthesis", "Photosynthesis in algae", id="one of one"),
        pytest.param("red panda", "Giant panda", id="one of two"),
        pytest.param("heat pump efficiency", "Efficiency of a pump", id="two of three"),
        pytest.param("medieval trade routes venice", "Trade in Venice", id="two of four"),
        pytest.param("what is the best way to poach an egg", "Poached eggs", id="without the frame"),
        pytest.param("sorting algorithms", "How to sort with an algorithm", id="other endings"),
        pytest.param("parsing json", "A parser that parses", id="endings of short words"),
        pytest.param("Wärmepumpe", "warmepumpen", id="accents"),
        pytest.param("state-of-the-art", "The state of the art", id="hyphens in the question"),
        pytest.param("state of the art", "state-of-the-art", id="hyphens in the row"),
        pytest.param("useEffect cleanup", "Use effect, and then", id="capitals in the question"),
        pytest.param("use effect", "useEffect", id="capitals in the row"),
        pytest.param("fast api", "fastapi", id="in one piece in the row"),
        pytest.param("fastapi", "Fast API", id="in one piece in the question"),
        pytest.param("k8s ingress", "Kubernetes and its ingress", id="short names"),
        pytest.param("c++ vector", "std::vector in C++", id="marks of a name"),
        pytest.param("python 3.12 changes", "What changes in Python 3.12.1", id="a later version"),
        pytest.param("node v20 crash", "node 20 crash", id="a version with its letter"),
        pytest.param("量子计算机原理", "量子计算机", id="Chinese"),
        pytest.param("東京 天気", "東京の天気", id="Japanese"),
        pytest.param("как работает фотосинтез", "Фотосинтез", id="Russian"),
        pytest.param('"to be or not to be" origin', "To be, or not to be: its origin", id="a phrase"),
        pytest.param("The Who", "The Who", id="function words"),
        pytest.param("how to", "How To", id="a title that is the query"),
        pytest.param("jaguar speed", "Jaguar", id="the subject without what is asked of it"),
        pytest.param("CVE-2021-44228 log4j mitigation", "cve-2021-44228", id="a report by its number"),
        pytest.param("🦀", "Ferris", id="nothing that can be compared"),
    ],
)  # fmt: skip
def test_a_row_with_half_of_the_question_stays(query, title):
    assert stays(query, title)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        pytest.param("photosynthesis", "Photography", id="none of one"),
        pytest.param("heat pump efficiency", "Heat", id="one of three"),
        pytest.param("medieval trade routes venice", "Medieval music", id="one of four"),
        pytest.param("python snake", "Python design patterns", id="the frame alone"),
        pytest.param("python snake", "python-patterns", id="the frame in a name"),
        pytest.param("rust lifetimes", "Remove rust from iron", id="the frame as another word"),
        pytest.param("jaguar speed", "Speed (film)", id="what is asked, of another"),
        pytest.param("John Smith", "Adam Smith", id="another of the name"),
        pytest.param("John Smith", "John Locke", id="another of the first name"),
        pytest.param("Ada Lovelace", "Linda Lovelace", id="half a name"),
        pytest.param("universe expansion rate", "University rate", id="false friends"),
        pytest.param("python 3.12 release", "Python 3.11", id="another version"),
        pytest.param("best example of using it", "Unrelated things", id="words that say nothing"),
        pytest.param('"to be or not to be" origin', "The origin of being", id="half a phrase"),
        pytest.param("量子计算机原理", "猫", id="Chinese"),
        pytest.param("c++ maps", "c programming", id="another language"),
    ],
)
def test_a_row_with_less_goes(query, title):
    assert not stays(query, title)


def test_half_is_too_little_beside_three_rows_with_more():
    rows = [hit(f"Machine learning {number}") for number in range(3)]
    other = hit("Coffee machine")
    question = analyze_query("machine learning")
    assert relevant([*rows[:2], other], question, ROWS["arxiv"]) == (*rows[:2], other)
    assert relevant([*rows, other], question, ROWS["arxiv"]) == tuple(rows)


def test_rows_keep_their_order():
    rows = (hit("Panda b"), hit("nothing"), hit("Panda a"))
    assert relevant(rows, analyze_query("panda"), ROWS["wikipedia"]) == (rows[0], rows[2])


LONG = (
    "what are the long term effects of intermittent fasting on insulin resistance and cardiovascular health in"
    " adults over fifty with type 2 diabetes who also exercise"
)


def test_a_long_question_needs_four_of_its_words():
    assert stays(LONG, "Intermittent fasting and insulin resistance", "europepmc")
    assert not stays(LONG, "Insulin in adults", "europepmc")


ERROR = "TypeError: Cannot read properties of undefined (reading 'map') at /srv/app/index.js:41 in React"


def test_addresses_and_numbers_of_an_error_do_not_weigh():
    assert stays(ERROR, "Uncaught TypeError: Cannot read properties of undefined", "stackexchange")
    assert not stays(ERROR, "React 41 index.js", "stackexchange")


@pytest.mark.parametrize(
    ("query", "row", "engine"),
    [
        pytest.param("heat pump", hit("A device", "It is a heat pump."), "wikipedia", id="the description"),
        pytest.param("date parsing", hit("x", package=Package(name="date-parsing")), "crates", id="the name of a package"),
        pytest.param("date parsing", hit("x", package=Package(tags=("date", "parsing"))), "github", id="its tags"),
        pytest.param("Curie radium", hit("On x", paper=Paper(authors=("Curie M",))), "crossref", id="authors"),
        pytest.param("Marie Curie", hit("On x", paper=Paper(authors=("Curie M",))), "crossref", id="authors by their initials"),
        pytest.param("lancet mortality", hit("On x", paper=Paper(journal="The Lancet")), "crossref", id="the journal"),
        pytest.param("Downing Street London", hit("10", place=Place(road="Downing Street")), "photon", id="the address"),
        pytest.param("Cologne Cathedral", hit("Kölner Dom", place=Place(locality="Cologne")), "photon", id="one word of a place"),
        pytest.param("Tokyo Tower", hit("東京タワー", place=Place(name="東京タワー")), "photon", id="a place in another script"),
        pytest.param("imagine lennon", hit("A song", author="John Lennon"), "musicbrainz", id="the author"),
        pytest.param("multilingual embedding model french", hit("acme/multilingual-small"), "huggingface", id="a name alone"),
        pytest.param("earthquake japan tsunami", hit("Tsunami warning lifted"), "gdelt", id="a headline alone"),
    ],
)  # fmt: skip
def test_all_that_a_row_says_counts(query, row, engine):
    assert stays(query, row, engine)


def test_a_place_without_any_word_of_the_question_goes():
    assert not stays("Tokyo Tower", hit("Osaka", place=Place(name="Osaka")), "photon")


def test_words_for_the_sort_of_thing_are_not_asked_of_its_engine():
    assert not stays("rust crate tokens", hit("rust crate"), "crates")
    assert stays("python library", hit("python library"), "github")


def test_engines_that_find_by_meaning_keep_all():
    row = hit("Something else")
    assert stays("heat pump", row, "keenable")
    semantic = replace(ROWS["wikipedia"], is_semantic=True)
    assert relevant([row], analyze_query("heat pump"), semantic) == (row,)


def test_a_work_that_was_found_by_its_name_stays():
    assert stays("10.1038/nature12373", hit("Some paper"), "crossref")
    assert not stays("10.1038/nature12373", hit("Some paper"), "wikipedia")


def test_rows_of_other_sites_go_when_a_site_is_asked_for():
    inside, outside = hit("Tides", url="https://b.a.org/1"), hit("Tides", url="https://c.org/1")
    assert relevant([inside, outside], analyze_query("tides site:a.org"), ROWS["keenable"]) == (
        inside,
    )
    assert relevant([inside, outside], analyze_query("tides -site:a.org"), ROWS["wikipedia"]) == (
        outside,
    )


@given(
    query=st.text(max_size=80),
    titles=st.lists(st.text(max_size=80), max_size=4),
    engine=st.sampled_from(sorted(ROWS)),
)
def test_no_row_is_too_odd(query, titles, engine):
    rows = [hit(title) for title in titles]
    kept = relevant(rows, analyze_query(query), ROWS[engine])
    assert [row for row in rows if row in kept] == list(kept)


@given(st.lists(st.from_regex(r"[a-z]{3,12}", fullmatch=True), min_size=1, max_size=8))
def test_a_row_that_says_the_question_stays(words):
    query = " ".join(words)
    assert stays(query, hit(f"About {query} and more", query))


@pytest.mark.parametrize("piece", ["a", "-", "a-", "aB", "1.", "猫", "/", "_", "'"])
def test_long_words_take_time_in_proportion_to_their_length(piece):
    # Four times the text; a quadratic part would take sixteen times as long, and does so every time.
    assert any(
        processor_time(piece, 8_000) < 9 * processor_time(piece, 2_000) + 0.05 for _ in range(5)
    )


def processor_time(piece: str, size: int) -> float:
    begun = time.thread_time()
    stays(piece * (size // len(piece)), hit(piece * (size // len(piece)), piece * size))
    return time.thread_time() - begun


@pytest.mark.parametrize(
    ("url", "lies"),
    [
        ("https://a.org/x", True),
        ("https://b.a.org./x", True),
        ("https://ba.org/x", False),
        ("https://a.org.evil.test/", False),
        ("http://[::1", False),
    ],
)
def test_a_site_that_is_asked_for_holds_its_domain_and_those_below(url, lies):
    row = hit("Tides", url=url)
    assert stays("tides site:a.org", row) is lies
    assert stays("tides -site:a.org", row) is not lies
