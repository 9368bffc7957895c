"""Whole answers as fixtures: nothing of the query or the instance is left, all of the shape is."""

import json
import os
import re
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format
from searx_mcp.sources.searxng.classify import Judgement, judge
from searx_mcp.sources.searxng.mask import INSTANCE, VOCABULARY, Mask
from searx_mcp.sources.searxng.scrub import MAX_BODY, Fixture, scrub, scrub_html, scrub_json

HOST = "find-it.zebra.example:8443"
BASE = f"https://{HOST}/sx/"
OURS = "203.0.113.77"
TOKEN = "q7w8e9r0t1y2u3i4"
HMAC = "747fc440522166f80faa617570c4ffac83850f7a68dd4773b9bfe2d1f9576550"


def _entities(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)


def _page(query: str) -> str:
    """A result page that repeats the query in every encoding and place there is."""
    html, url = escape(query), quote(query, safe="")
    words = " ".join(f'<span class="highlight">{escape(word)}</span>' for word in query.split())
    return f"""<!DOCTYPE html><html><head><title>{html} - Zebra search</title>
<meta name="generator" content="searxng/2026.8.22"><link rel="stylesheet" href="/client{TOKEN}.css">
<link rel="alternate" title="Searx search: {html}" href="{BASE}search?q={url}&amp;pageno=1">
<script>var query = {json.dumps(query)};</script><!-- {html} --></head>
<body class="results_endpoint"><input id="q" name="q" value="{html}">
<div id="urls"><article class="result result-images category-images {url}" data-q='{html}'>
<h3><a href="https://shop.example/?search={quote_plus(query)}&amp;ip={OURS}">{html.upper()}</a></h3>
<p class="content">{_entities(query)} {words} {html.title()} {OURS}</p>
<img class="thumbnail" src="/image_proxy?url={quote(f"https://i.example/{url}.png", safe="")}&amp;h={HMAC}">
<a href="magnet:?xt=urn:btih:abcdef&amp;dn={url}">m</a>
<div class="engines"><span>duckduckgo</span><span>{html}</span></div></article></div>
<a href="//{HOST}/sx/preferences?preferences={url}#{url}">{HOST}</a></body></html>"""


def _answer(query: str) -> str:
    return json.dumps(
        {
            "query": query,
            query: query.upper(),
            "results": [
                {
                    "url": f"https://user:{OURS}@shop.example/{quote(query)}#{query}",
                    "parsed_url": ["https", HOST, f"/{query}", "", f"q={quote_plus(query)}", ""],
                    "title": f"About {query}",
                    "engine": "duckduckgo",
                    "engines": [query, "duckduckgo"],
                    "template": "default.html",
                    "thumbnail": f"{BASE}image_proxy?url={quote(query)}&h={HMAC}",
                }
            ],
            "answers": [OURS, {"answer": f"{query}\u2003{query}", "url": BASE}],
            "suggestions": [query.swapcase(), f"{query} {TOKEN}"],
            "unresponsive_engines": [["bing", f"timeout {query}"]],
        },
        ensure_ascii=len(query) % 2 == 0,
    )


def _scrubbed(query: str, body: str, **headers: str) -> Fixture:
    received = Response(200, headers, body.encode("utf-8", "surrogatepass"), url=BASE)
    return scrub(received, mask=Mask(query=query, base_url=BASE))


@cache
def _without_query() -> str:
    """What fixtures of these answers hold for any query."""
    bodies = (_page("x"), _answer("x"))
    location = {"Location": f"{BASE}?q=x"}
    return "".join(
        f"{(it := _scrubbed('x', body, **location)).body}{it.headers}" for body in bodies
    )


def _secrets(query: str) -> set[str]:
    """What of a query must not be found: its words of three letters and more."""
    always = f"{_without_query()} {' '.join(VOCABULARY)}".casefold()
    words = set(re.findall(r"[^\W_]{3,}", query.casefold()))
    return {word for word in words if word not in always and set(word) != {"1"}}


ODD = st.text(
    st.sampled_from(
        "aeiouxyzKQ \"'<>&%+/\\#?=:;,.-_!()[]{}0123456789éß\u0130жж日本\u200b\u0301\U0001f43c"
    ),
    min_size=1,
    max_size=40,
)


@given(
    ODD
    | st.text(max_size=30)
    | st.lists(st.sampled_from(["panda", "C++", "$5", "AT&T", "o'neil"])).map(" ".join)
)
@example("my symptom: chlamydia")
@example('"exact phrase" site:corp.example')
@example("johndoe@mail.example +49 30 1234567")
@example("%3Cscript%3E </title> <b>bold</b>")
@example("stra\u00dfe STRASSE \u0130stanbul")
def test_nothing_of_a_query_is_left_in_a_fixture(query):
    for body in (_page(query), _answer(query), _page(query)[:-400], _answer(query)[:-90], query):
        fixture = _scrubbed(query, body, Location=f"{BASE}?q={quote_plus(query)}")
        left = f"{fixture.body}\n{fixture.headers}".casefold()
        for secret in _secrets(query):
            assert secret not in left
        for secret in ("zebra", "find-it", "8443", OURS, TOKEN, HMAC):
            assert secret not in left


@pytest.mark.parametrize("form", Format)
def test_a_fixture_reads_like_the_answer(form):
    body = _page("red pandas") if form is Format.HTML else _answer("red pandas")

    before = judge(Response(200, {}, body.encode(), url=BASE), base_url=BASE, format=form)
    after = _judged(_scrubbed("red pandas", body), form)

    assert _shape(after) == _shape(before)


def test_a_fixture_has_the_headers_that_say_something_of_the_answer():
    fixture = _scrubbed(
        "panda",
        "Too Many Requests",
        **{
            "Content-Type": "text/html; charset=utf-8",
            "Server-Timing": "total;dur=9.1, total_0_bing;dur=4.5, total_1_panda wiki;dur=1",
            "Set-Cookie": "session=abc",
            "Content-Security-Policy": f"default-src {HOST}",
            "Server": f"nginx at {HOST}",
            "Location": f"https://{HOST}/sx/?q=panda",
        },
    )

    assert fixture.headers == {
        "content-type": "text/html; charset=utf-8",
        "server": "nginx at word:8443",
        "server-timing": "total;dur=9.1, total_0_bing;dur=4.5, total_1_word wiki;dur=1",
        "location": "https://instance.example/?q=word",
    }
    assert (fixture.status, fixture.body, fixture.kind) == (200, "Too Many Requests", "txt")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b" \n<html>", "html"),
        (b"\xef\xbb\xbf{}", "json"),
        (b"[1]", "json"),
        (b"It works", "txt"),
        (b"\xff\xfe\x00binary", "txt"),
        (b"", "txt"),
    ],
)
def test_a_body_is_taken_as_what_it_is(body, kind):
    fixture = scrub(Response(200, {}, body), mask=Mask(query="x", base_url=BASE))

    assert fixture.kind == kind


def test_a_huge_body_is_cut():
    fixture = _scrubbed("x", "<p>" + "y" * (MAX_BODY + 10))

    assert len(fixture.body) < MAX_BODY


def _judged(fixture: Fixture, form: Format) -> Judgement:
    received = Response(fixture.status, fixture.headers, fixture.body.encode(), url=INSTANCE)
    return judge(received, base_url=INSTANCE, format=form)


def _shape(judgement: Judgement) -> object:
    page = judgement.page
    return judgement.verdict, page and (
        [(len(hit.engines), hit.template, hit.category, bool(hit.thumbnail)) for hit in page.hits],
        page.rows_seen,
        [bool(page.suggestions), bool(page.corrections), page.has_next],
        [len(page.answers), len(page.infoboxes), len(page.unresponsive_engines)],
        page.formats,
        page.link_token,
    )


def test_fixtures_of_real_answers_read_like_them(captures):
    for file in captures:
        form = Format.JSON if file.suffix == ".json" else Format.HTML
        base = "http://127.0.0.1:8901/"
        received = Response(200, {}, file.read_bytes(), url=f"{base}search?q=x")
        fixture = scrub(received, mask=Mask(query="hello world", base_url=base))

        assert _shape(_judged(fixture, form)) == _shape(
            judge(received, base_url=base, format=form)
        ), file
        for secret in ("hello", "world", "127.0.0.1", "8901"):
            assert secret not in fixture.body.casefold(), file


@pytest.fixture
def captures() -> list[Path]:
    """Answers of real servers, where there are any."""
    root = os.environ.get("SEARX_MCP_CAPTURES")
    folder = Path(root) / "searxng-captures" if root else None
    if folder is None or not folder.is_dir():
        return []
    return [file for file in sorted(folder.rglob("*")) if file.suffix in {".html", ".json"}]


def scrubbed_page(text: str) -> str:
    return scrub_html(text, Mask(query="secret panda", base_url="https://find.example/"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<p>A secret</p>", "<p>Word word</p>", id="text"),
        pytest.param("<p>&#115;ecret &amp; x</p>", "<p>word &amp; word</p>", id="entities"),
        pytest.param(
            '<p class="content x-secret" id=q>', '<p class="content x-word" id="q">', id="classes"
        ),
        pytest.param(
            '<input name="q" value="secret panda">',
            '<input name="q" value="word word">',
            id="query",
        ),
        pytest.param(
            '<input name="pageno" value="2">', '<input name="pageno" value="2">', id="parameter"
        ),
        pytest.param(
            '<a class="answer-url"rel="noreferrer" href="https://b.example/?secret">',
            '<a class="answer-url"rel="noreferrer" href="https://site1.example/1">',
            id="no space between attributes",
        ),
        pytest.param("<img alt='a secret'>", "<img alt='word word'>", id="single quotes"),
        pytest.param('<img title="it&quot;s">', '<img title="word&quot;word">', id="quotes inside"),
        pytest.param(
            '<meta name="generator" content="searxng/2026.8.22+9fea41204">',
            '<meta name="generator" content="searxng/2026.8.22+9fea41204">',
            id="version",
        ),
        pytest.param(
            '<meta name="description" content="find secret">',
            '<meta name="description" content="word word">',
            id="description",
        ),
        pytest.param("a<!-- secret -->b", "wordword", id="comment"),
        pytest.param("a<!-- secret", "word", id="comment without end"),
        pytest.param(
            '<script src="/x.js">q="secret"</script>b',
            '<script src="/word.js"></script>word',
            id="script",
        ),
        pytest.param("<style>.secret{}", "<style></style>", id="style without end"),
        pytest.param(
            '<div class="engines"><span>bing</span><div>b</div> <svg>c</svg></div><p>bing</p>',
            '<div class="engines"><span>bing</span><div>b</div> <svg>c</svg></div><p>word</p>',
            id="engines",
        ),
        pytest.param(
            '<td class="response-error">Suspended: CAPTCHA secret</td>x',
            '<td class="response-error">Suspended: CAPTCHA word</td>word',
            id="reason",
        ),
        pytest.param(
            "<span>Published date:</span><span>Panda:</span>",
            "<span>Published date:</span><span>Word:</span>",
            id="labels",
        ),
        pytest.param(
            """<a data-map-boundingbox='["1.5", "x"]'>""",
            """<a data-map-boundingbox='[&quot;1.1&quot;, &quot;word&quot;]'>""",
            id="JSON in an attribute",
        ),
        pytest.param("<p>cut <a href='sec", "<p>word <word word='word", id="cut in a tag"),
        pytest.param(
            '<div class="engines">bing<p>sec',
            '<div class="engines">bing<p>word',
            id="cut in a name",
        ),
        pytest.param("1 < 2 <3 <secret", "1 < 1 <1 <word", id="brackets that open nothing"),
        pytest.param("<!DOCTYPE html>", "<!DOCTYPE html>", id="doctype"),
        pytest.param("<!DOCTYPE secret [x]>", "<!WORD word [word]>", id="odd doctype"),
        pytest.param("<secret-x panda>", "<word-x word>", id="odd element"),
        pytest.param(
            "<input hidden disabled />", "<input hidden disabled />", id="bare attributes"
        ),
        pytest.param('<p "secret" b>', '<p "word" b>', id="a name in quotes"),
        pytest.param('<p ="x" \'>y', '<word ="word" \'>word', id="quotes out of place"),
    ],
)
def test_texts_and_values_are_masked_and_the_markup_stays(text, expected):
    assert scrubbed_page(text) == expected


@pytest.mark.parametrize("piece", ["<a", '<a "', "<a=''", "<!--", "<script>", "<a\"<a'", "&#1;<"])
def test_a_page_of_nothing_but_beginnings_is_done_in_time(piece):
    assert len(scrubbed_page(piece * (200_000 // len(piece)))) < 2_000_000


def scrubbed_json(text: str) -> str:
    return scrub_json(text, Mask(query="secret panda", base_url="https://a.example/"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"title": "A secret"}', '{"title": "Word word"}', id="value"),
        pytest.param('{"a secret": 1}', '{"a word": 1}', id="key with the query"),
        pytest.param('{"kvmap": {"Panda": "x"}}', '{"kvmap": {"word": "word"}}', id="facts"),
        pytest.param('{"score": 12.6, "n": -4e10}', '{"score": 11.1, "n": -1e11}', id="numbers"),
        pytest.param("[true, null, NaN, -Infinity]", "[true, null, NaN, -Infinity]", id="words"),
        pytest.param('{"template": "images.html"}', '{"template": "images.html"}', id="template"),
        pytest.param(
            '{"engines": ["bing", "secret wiki"], "x": "bing"}',
            '{"engines": ["bing", "word wiki"], "x": "word"}',
            id="engines",
        ),
        pytest.param(
            '{"unresponsive_engines": [["bing", "Suspended: CAPTCHA"]], "query": "bing"}',
            '{"unresponsive_engines": [["bing", "Suspended: CAPTCHA"]], "query": "word"}',
            id="failed engines",
        ),
        pytest.param(
            '{"url": "https://b.example/secret"}', '{"url": "https://site1.example/1"}', id="url"
        ),
        pytest.param(r'"\u0073ecret \"panda\""', '"word \\"word\\""', id="escapes are read"),
        pytest.param(r'{"x": "\q secret"}', '{"x": "word"}', id="a wrong escape hides nothing"),
        pytest.param('{"x": "cut sec', '{"x": "word word', id="cut in a value"),
        pytest.param('{"engine": "sec', '{"engine": "word', id="cut in a name"),
        pytest.param('{"x": "', '{"x": "', id="cut at its start"),
        pytest.param('{"secr', '{"word', id="cut in a key"),
        pytest.param("]}] secret 007a", "]}] word 111word", id="no JSON at all"),
        pytest.param('{"a":1,"a":2}', '{"a":1,"a":1}', id="repeated keys stay"),
        pytest.param('{"\\ud800x": "\\ud800"}', '{"?x": "word"}', id="lone surrogates"),
        pytest.param('["\\u2022 \\u2003"]', '["• word"]', id="white space of other scripts"),
        pytest.param('{"n": 123456789012345678901}', '{"n": 111111111111111111111}', id="huge"),
        pytest.param('{\n\t"a": 1\n}', '{\n"a": 1\n}', id="white space says nothing"),
    ],
)
def test_values_are_masked_and_the_shape_stays(text, expected):
    assert scrubbed_json(text) == expected


def test_what_could_be_read_can_be_read_again():
    value = {"results": [{"url": "https://b.example/", "positions": [1, 2], "x": None}] * 3}

    assert (
        json.loads(scrubbed_json(json.dumps(value)))["results"][0].keys()
        == value["results"][0].keys()
    )


def test_deep_nesting_is_no_recursion():
    assert scrubbed_json("[" * 200_000) == "[" * 200_000
