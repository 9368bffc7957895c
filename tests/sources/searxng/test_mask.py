import pytest

from searx_mcp.sources.searxng.mask import Mask, looks_like_address

BASE = "https://find.alice.example:8443/sx/"


@pytest.fixture
def mask() -> Mask:
    return Mask(query="red Pandas 4711", base_url=BASE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Red pandas, RED!", "Word word, WORD!", id="words keep their case"),
        pytest.param("call 555-0199", "word 111-1111", id="digits keep their number"),
        pytest.param("2026-02-05T17:25:32Z", "1111-11-11T11:11:11Z", id="a time stays one"),
        pytest.param("2026-02-05 17:25:32+02:00", "1111-11-11 11:11:11+11:11", id="offset"),
        pytest.param("पांडा лиса パンダ", "word word word", id="any script"),
        pytest.param("a\ud800b 🐼", "word word", id="surrogates and symbols"),
        pytest.param("• panda", "• word", id="bullet of old suggestions"),
        pytest.param("1:03:20 · 12K", "1:11:11 word 11Word", id="lengths"),
        pytest.param("192.0.2.17", "111.1.1.11", id="our address"),
        pytest.param("TZ T Z", "WORD Word Word", id="letters outside of times"),
    ],
)
def test_texts_lose_every_word_and_digit(mask, text, expected):
    assert mask.text(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("result result-images", "result result-images", id="classes"),
        pytest.param("publishedDate", "publishedDate", id="key"),
        pytest.param("duckduckgo, google images", "duckduckgo, google images", id="engines"),
        pytest.param("panda-row", "panda-row", id="near to the query but not it"),
        pytest.param("pandas-row", "word-row", id="a word of the query"),
        pytest.param("xPANDASx y", "word y", id="inside of another word"),
        pytest.param("id_4711", "id_word", id="number of the query"),
        pytest.param("coloured", "word", id="three letters inside"),
        pytest.param("alice wiki", "word wiki", id="name of the instance"),
        pytest.param("Find.Alice.Example", "word", id="host"),
        pytest.param("a %70anda b", "a %11word b", id="encoded for an address"),
        pytest.param("blocked 203.0.113.7", "blocked word", id="our address"),
        pytest.param("for 2001:db8::7, ::1", "for word, word", id="our address in version 6"),
        pytest.param("searxng 2026.8.22 at 17:25", "searxng 2026.8.22 at 17:25", id="no address"),
    ],
)
def test_names_stay_but_for_what_shows_the_query_or_the_instance(mask, name, expected):
    assert mask.name(name) == expected


def test_names_that_every_instance_has_stay_whatever_was_searched_for():
    mask = Mask(query="images of results class url", base_url="https://127.0.0.1/")

    assert mask.name("result result-images url_wrapper") == "result result-images url_wrapper"


def test_short_words_of_the_query_are_looked_for_as_whole_parts():
    mask = Mask(query="Go 4x", base_url=BASE)

    assert mask.name("go result-go gopher 4x-4xx") == "word result-word gopher word-4xx"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.example/red/pandas?id=4711#x", "https://site1.example/1"),
        ("http://a.example", "http://site1.example/"),
        ("//a.example/x", "https://site1.example/1"),
        ("HTTPS://user:pw@a.example:99/x", "https://site1.example/1"),
        ("https://[broken/", "https://broken.example/"),
        ("magnet:?xt=urn:btih:abc&dn=red+pandas", f"magnet:?xt=urn:btih:{'1' * 40}"),
        ("data:image/png;base64,cGFuZGFz", "data:,"),
        ("mailto:red@pandas.example", "other:word"),
        ("/search?q=red+pandas&pageno=2&x=1", "/search?q=word+word&pageno=2&x=1"),
        ("/sx/search?q=a", "/search?q=word"),
        ("https://find.alice.example:8443/sx/search?q=a", "https://instance.example/search?q=word"),
        ("https://FIND.alice.example/", "https://instance.example/"),
        ("/clientabcdefgh12345678.css", "/clientaaaaaaaaaaaaaaaa.css"),
        (
            "/image_proxy?url=https%3A%2F%2Fa.example%2Fpandas.png&h=747fc440",
            "/image_proxy?url=https%3A%2F%2Fsite1.example%2F1&h=111word111",
        ),
        ("/static/themes/simple/img/panda.png", "/static/themes/simple/img/word.png"),
        ("/pandas.4711", "/word"),
        ("/u/alice/pandas#red", "/word/word/word#word"),
        ("/search?categories=social+media&language=all", "/search?categories=social+media&language=all"),
        ("/search?\ud800=\ud800&theme=\ud800", "/search?%3F=word&theme=%3F"),
        ("/\ud800/a", "/word/a"),
        ("", ""),
        ("//[", "https://broken.example/"),
        ("\x01//[red", "\x01//[word"),
        ("/[x]://[", "/word//["),
    ],
    ids=lambda value: value[:40],
)  # fmt: skip
def test_addresses_are_numbered_and_paths_of_searxng_stay(mask, address, expected):
    assert mask.address(address) == expected


def test_the_same_address_always_becomes_the_same(mask):
    first, second = mask.address("https://a.example/1"), mask.address("https://b.example/1")

    assert mask.address("https://a.example/1") == first
    assert mask.address("https://A.example/2").split("/")[2] == first.split("/")[2]
    assert first.split("/")[2] != second.split("/")[2]


def test_an_address_is_told_by_its_scheme():
    assert looks_like_address(" HTTPS://a.example")
    assert looks_like_address("magnet:?x")
    assert not looks_like_address("/a")
    assert not looks_like_address("note: a")
