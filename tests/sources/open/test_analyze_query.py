"""What is read of a query."""

# ruff: noqa: RUF001 - questions in many scripts and with other marks

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.sources.open.analyze_query import analyze_query
from searx_mcp.sources.open.question import Ecosystem, Identifier, IdentifierKind, Signal
from searx_mcp.sources.searxng.request import neutralise


@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        pytest.param("how do I reverse a linked list", "reverse|linked|list", id="how do I"),
        pytest.param("What is the best way to poach an egg?", "poach|egg", id="the best way"),
        pytest.param("please tell me what is a monad", "monad", id="frames behind each other"),
        pytest.param("who is Ada Lovelace", "Ada|Lovelace", id="who is"),
        pytest.param("difference between TCP and UDP", "TCP|UDP", id="difference"),
        pytest.param("photos of the aurora borealis", "aurora|borealis", id="photos of"),
        pytest.param("eiffel tower picture", "eiffel|tower", id="a picture at the end"),
        pytest.param("lyrics of imagine by john lennon", "imagine|john|lennon", id="lyrics of"),
        pytest.param("songs by Radiohead", "Radiohead", id="songs by"),
        pytest.param("pizza near Times Square", "pizza|Times|Square", id="near"),
        pytest.param("latest news on ceasefire talks 2026", "ceasefire|talks", id="news and their year"),
        pytest.param("world cup 2026", "world|cup|2026", id="a year without news"),
        pytest.param("earthquake japan today", "earthquake|japan", id="today"),
        pytest.param("docker image of alpine", "docker|image|alpine", id="no frame in programs"),
        pytest.param("npm package for parsing dates", "parsing|dates", id="where it is looked for"),
        pytest.param("wifi is not working on ubuntu", "wifi|ubuntu", id="not working"),
        pytest.param("wie kann ich einen Reifen wechseln", "Reifen|wechseln", id="German"),
        pytest.param("Bilder von den Alpen", "Alpen", id="German pictures"),
        pytest.param("qu'est-ce que la photosynthèse", "photosynthèse", id="French"),
        pytest.param("comment réparer l'évier de la cuisine", "réparer|évier|cuisine", id="French elision"),
        pytest.param("qué es la fotosíntesis", "fotosíntesis", id="Spanish"),
        pytest.param("cómo hacer pan casero", "pan|casero", id="Spanish how to"),
        pytest.param("как работает фотосинтез", "работает|фотосинтез", id="Russian function words"),
        pytest.param("go generics", "go|generics", id="a name that is a function word elsewhere"),
        pytest.param("ai safety in ci", "ai|safety|ci", id="further such names"),
        pytest.param("WHO guidelines for the US", "WHO|guidelines|US", id="capitals"),
        pytest.param("The Who", "The|Who", id="nothing but function words"),
        pytest.param("how to", "how|to", id="nothing but a frame"),
        pytest.param('"to be or not to be" origin', "to be or not to be|origin", id="a phrase"),
        pytest.param("“red panda” diet", "red panda|diet", id="other quotation marks"),
        pytest.param('27" monitor or 32" monitor', "27|monitor|32", id="inches"),
        pytest.param('"zoo "red panda" diet"', "zoo|red|panda|diet", id="quotes in quotes"),
        pytest.param("C++ vs C# on .NET", "C++|C#|.NET", id="marks that belong to names"),
        pytest.param("print() in python?", "print|python", id="marks that do not"),
        pytest.param("tides -moon", "tides", id="an excluded word"),
        pytest.param("rm -r folder", "rm|r|folder", id="an option"),
        pytest.param("cats OR dogs", "cats|dogs", id="an operator"),
        pytest.param("cats cats Cats", "cats", id="a word again"),
        pytest.param("茶 の 歴史", "茶|歴史", id="Japanese"),
    ],
)  # fmt: skip
def test_keywords_are_what_is_left_without_frames(query, keywords):
    assert analyze_query(query).keywords == tuple(keywords.split("|"))


def test_there_are_six_keywords_at_most_and_they_keep_their_order():
    question = analyze_query(
        "TypeError: Cannot read properties of undefined (reading 'map') in React useEffect hook today"
    )
    assert question.keywords == (
        "TypeError", "properties", "undefined", "reading", "React", "useEffect",
    )  # fmt: skip
    assert {"TypeError", "useEffect", "map"} < set(question.words)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("!images red panda", "red panda", id="a category"),
        pytest.param("!!g red panda", "red panda", id="an engine elsewhere"),
        pytest.param(":de red panda", "red panda", id="a language"),
        pytest.param("red panda <3", "red panda", id="a timeout"),
        pytest.param("css !important", "css important", id="a word with a mark"),
        pytest.param(":hover css", "hover css", id="another"),
        pytest.param('"red panda" diet', '"red panda" diet', id="a phrase"),
        pytest.param("site:a.org red panda", "red panda", id="a site"),
        pytest.param(
            "red panda filetype:pdf after:2020-01-01", "red panda", id="orders of other engines"
        ),
        pytest.param("meals before:noon", "meals before:noon", id="no date"),
        pytest.param("intitle:panda red", "panda red", id="a field"),
        pytest.param("  red \t panda\n", "red panda", id="white space"),
        pytest.param("red\u200b panda", "red panda", id="what cannot be seen"),
    ],
)
def test_the_text_has_no_orders_to_a_search_engine(query, text):
    assert (analyze_query(query).text, analyze_query(neutralise(query)).text) == (text, text)


@pytest.mark.parametrize(
    ("query", "sites", "not_sites"),
    [
        ("site:github.com fastapi", ("github.com",), ()),
        ("SITE:https://www.Example.org/docs x", ("example.org",), ()),
        ("site:*.a.org site:b.org x", ("a.org", "b.org"), ()),
        ("x -site:c.org", (), ("c.org",)),
        ("site: x", (), ()),
    ],
)
def test_sites_are_domains(query, sites, not_sites):
    question = analyze_query(query)
    assert (question.sites, question.not_sites) == (sites, not_sites)


DOI, ARXIV, PMID, CVE = IdentifierKind


@pytest.mark.parametrize(
    ("query", "kind", "value"),
    [
        ("10.1038/NATURE12373", DOI, "10.1038/nature12373"),
        ("cite doi:10.1002/(SICI)1097-4571(199), please", DOI, "10.1002/(sici)1097-4571(199)"),
        ("(see 10.1000/xyz123).", DOI, "10.1000/xyz123"),
        ("https://doi.org/10.1000%2Fxyz123", DOI, "10.1000/xyz123"),
        ("10.48550/arXiv.2401.01234", ARXIV, "2401.01234"),
        ("arXiv:1706.03762v5", ARXIV, "1706.03762"),
        ("https://arxiv.org/abs/1706.03762", ARXIV, "1706.03762"),
        ("2401.01234", ARXIV, "2401.01234"),
        ("0704.0001 again", ARXIV, "0704.0001"),
        ("hep-th/9901001", ARXIV, "hep-th/9901001"),
        ("arxiv.org/pdf/math.GT/0309136v1", ARXIV, "math/0309136"),
        ("PMID: 31452104", PMID, "31452104"),
        ("https://pubmed.ncbi.nlm.nih.gov/31452104/", PMID, "31452104"),
        ("cve-2021-44228 log4j", CVE, "CVE-2021-44228"),
        ("CVE 2021‑44228", CVE, "CVE-2021-44228"),
    ],
)
def test_a_work_or_a_report_is_known_by_its_name(query, kind, value):
    assert analyze_query(query).identifier == Identifier(kind, value)


@pytest.mark.parametrize(
    "query",
    [
        "1999.1234",
        "2413.01234",
        "version 10.15/7",
        "3.14159",
        "2401.012",
        "2401.0123",
        "1203.12345",
        "192.168.1.1/24",
        "CVE-2021",
        "pi 3.1415.9265",
    ],
)
def test_other_numbers_name_nothing(query):
    assert analyze_query(query).identifier is None


S = Signal


@pytest.mark.parametrize(
    ("query", "signals"),
    [
        ("snake_case or camelCase", {S.CODE}),
        ("std::vector push_back", {S.CODE}),
        ("what does print() return", {S.CODE, S.DEFINITION}),
        ("settings.yml indentation", {S.CODE}),
        ("HTTP 503 from the api", {S.CODE, S.ERROR}),
        ("java.lang.NullPointerException", {S.CODE, S.ERROR}),
        ("npm install fails", {S.CODE, S.ERROR, S.PACKAGE}),
        ("iPhone YouTube app", {S.TECHNOLOGY}),
        ("best laptop for students", {S.TECHNOLOGY, S.OPINION}),
        ("sql injection", {S.CODE, S.VULNERABILITY}),
        ("et al theorem preprint", {S.SCHOLARLY, S.FORMAL}),
        ("tinnitus and amoxicillin", {S.BIOMEDICAL}),
        ("diploma from oklahoma", set()),
        ("computer virus removal", {S.TECHNOLOGY}),
        ("map of lisbon", {S.PLACE}),
        ("museums in Lisbon", {S.PLACE}),
        ("where is insulin produced", {S.BIOMEDICAL}),
        ("Ada Lovelace", {S.ENTITY}),
        ("breaking bad", set()),
        ("photo album", set()),
        ("image recognition", {S.FORMAL}),
        ("rubber band", set()),
        ("moby dick filetype:pdf", {S.FILE}),
        ("how to whistle", {S.HOW_TO}),
    ],
)
def test_words_and_shapes_tell_what_a_question_is_about(query, signals):
    found = set(analyze_query(query).signals)
    assert found - ({S.TECHNOLOGY} if S.CODE in found else set()) == signals


@pytest.mark.parametrize(
    ("query", "ecosystem"),
    [
        ("npm left-pad", Ecosystem.NPM),
        ("@types/node", Ecosystem.NPM),
        ("rust crate for json", Ecosystem.CRATES),
        ("crate training a puppy", None),
        ("cargo ship", None),
        ("gguf llama", Ecosystem.HUGGINGFACE),
        ("python package for dates", Ecosystem.OTHER),
        ("package from the post office", None),
    ],
)
def test_a_package_lives_somewhere(query, ecosystem):
    assert analyze_query(query).ecosystem == ecosystem


def test_collections_are_known_by_their_names():
    assert analyze_query("wikipedia article on tides").named == {"wikipedia"}
    assert analyze_query("stack overflow regex").named == {"stackexchange"}
    assert analyze_query("tides").named == set()


HEX = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param("sk-proj-abcdefGHIJ0123456789", id="a key"),
        pytest.param("token=ghp_abcdefABCDEF0123456789abcdef", id="behind a name"),
        pytest.param("AKIAIOSFODNN7EXAMPLE", id="of a cloud"),
        pytest.param("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-123", id="a web token"),
        pytest.param(HEX, id="hexadecimal"),
        pytest.param(f"0x{HEX}", id="hexadecimal with its mark"),
        pytest.param("Zm9vYmFyMDEyMzQ1Njc4OWZvb2JhcjAxMjM0NTY3ODk", id="base64"),
        pytest.param("password=Tr0ub4dor3xyz", id="a password"),
        pytest.param("postgres://admin:hunter2@db/x", id="in an address"),
        pytest.param("jane.doe@firm.test", id="mail"),
        pytest.param("<jane@firm.test>,", id="mail in brackets"),
        pytest.param("10.20.30.40", id="a private address"),
        pytest.param("http://192.168.7.13:8080/x", id="with scheme and port"),
        pytest.param("172.31.255.1", id="the middle block"),
        pytest.param("fd12:3456:789a::1", id="IPv6"),
        pytest.param("db01.corp", id="a private host"),
        pytest.param("https://wiki.intranet/page", id="a private address of the web"),
        pytest.param("printer.local", id="a host of the home"),
    ],
)
def test_what_looks_like_a_secret_is_seen(secret):
    assert analyze_query(f"why does {secret} fail").secret


@pytest.mark.parametrize(
    "query",
    [
        "what is an sk- prefix",
        "ghp_ token format",
        "AKIA meaning",
        "react@18.2.0 peer dependency",
        "@types/node",
        "git@github.com permission denied",
        "logo@2x.png",
        "user@example.com regex",
        "127.0.0.1 refused",
        "localhost:3000",
        "8.8.8.8 dns",
        "10.0.0.0/8 range",
        "windows 10.0.19041.1",
        "172.32.0.1",
        "host.docker.internal on linux",
        ".env.local in next.js",
        "settings.local.json",
        "password reset flow",
        "token = os.environ",
        "0x80070005",
        "10.1038/nature12373",
        "AbstractSingletonProxyFactoryBeanConfiguration2",
        "550e8400-e29b-41d4-a716-446655440000",
        "localized strings",
    ],
)
def test_ordinary_questions_are_no_secrets(query):
    assert not analyze_query(query).secret


@pytest.mark.parametrize(
    "query", ["", " ", "!!", '"', '""', "?", "-", "site:", "<3", "\ud800", "🦀", "((("]
)
def test_a_query_of_nothing_is_read_too(query):
    question = analyze_query(query)
    assert len(question.keywords) <= 1


SOUP = st.text(st.sampled_from("ab10./:@-_\"()!?< \u00e9\u732b'[]{}=+~#&,;\\"), max_size=500)


@given(text=st.one_of(st.text(max_size=500), SOUP))
def test_reading_never_raises(text):
    question = analyze_query(text)
    assert len(question.keywords) <= 6
    assert set(question.keywords) <= set(question.words)
    assert all(word == word.strip() and word for word in question.words)
    assert question == analyze_query(text)


@pytest.mark.parametrize(
    "piece",
    ["a", "1", ".", "a.", "1.", "-", "_", "@", "a@", '"', '" ', "(", "a(", "10.1000/", "cve-", "arxiv:", "eyJ", "sk-", "f", ":", "a:b@",
     "fd00:", "how to ", "site:a ", "A", "aB", "é", "猫", "\u0300", "%2f", "x=", "/", "<", "!", "a-", "a1_"],
)  # fmt: skip
def test_reading_takes_time_in_proportion_to_the_length(piece):
    short, long = (piece * (size // len(piece)) for size in (10_000, 40_000))
    # Four times the text; a quadratic part would take sixteen times as long, and does so every time.
    assert any(processor_time(long) < 9 * processor_time(short) + 0.05 for _ in range(5))


def processor_time(text: str) -> float:
    begun = time.thread_time()
    analyze_query(text)
    return time.thread_time() - begun
