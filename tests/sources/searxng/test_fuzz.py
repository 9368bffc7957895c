"""Nothing an instance sends can raise out of the parsers or make an unusable hit."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import to_json

from searx_mcp.content.clean import clean
from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format
from searx_mcp.models.hits import ResultPage
from searx_mcp.sources.searxng.classify import judge
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import parse_json

BASE = "https://search.example/sx/"
KEYS = [
    "results", "answers", "infoboxes", "corrections", "suggestions", "unresponsive_engines",
    "url", "title", "content", "template", "engine", "engines", "publishedDate", "thumbnail",
    "img_src", "answer", "translations", "current", "infobox", "urls", "attributes", "label",
    "value", "image", "alt", "text", "error", "length", "views", "iframe_src", "audio_src",
    "embedded", "seed", "leech", "filesize", "files", "magnetlink", "torrentfile", "latitude",
    "longitude", "boundingbox", "address", "osm", "data", "links", "name", "id", "authors", "journal",
    "tags", "date_of_publication", "datetime", "package_name", "version", "license_url", "popularity",
    "codelines", "repository", "filename", "size", "mtype", "subtype", "price", "kvmap", "caption",
]  # fmt: skip
TEXTS = st.text(max_size=20) | st.sampled_from(
    ["https://a.example/", "videos.html", "torrent.html", "map.html", "paper.html", "packages.html",
     "code.html", "file.html", "products.html", "keyvalue.html", "key-value.html", "1:02:03",
     "1,234", "magnet:?xt=urn:x", "Feb 5, 2026", "<iframe src='https://a.example/'>", "//[", "https://[::1", "/image_proxy?url=x", "images.html", "None",
     "\ud800", "\x1b[31m", "2026-02-01", "9999-99-99", "data:,", "https://a.example:70000/"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
SHAPES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)
DOCUMENTS = st.fixed_dictionaries(
    {"results": st.lists(SHAPES, max_size=4)}, optional=dict.fromkeys(KEYS[1:], SHAPES)
)
PIECES = st.lists(
    st.sampled_from(
        ["<article class='result result-images category-x'>", "<article class=result>",
         "</article>", "<h3>", "</h3>", "<a href='https://a.example/'>", "<a href=' //[ '>", "</a>",
         "<img class=image_thumbnail src='/image_proxy?url=%00' alt=x>", "<p class=content>", "<p>",
         "<span class=title>", "<span class=url>", "</span>", "<div class=engines><span>e</span>",
         "</div>", "<div id=urls>", "<div id=answers><div class=answer>", "<aside class=infobox>",
         "<h2>", "<div class=attributes><dl><dt>", "<dd>", "<ul class=urls>",
         "<table id=engines_msg-table><tr><td class=engine-name>", "<td class=response-error>",
         "<div id=sidebar><div class=dialog-error><p>a (b), c (", "<time class=published_date>",
         "<div id=apis><input name=format value>", "<p class=result-engines><span>", "<!--", "-->",
         "<article class='result result-torrent'>", "<article class='result result-map'>",
         "<article class='result result-paper'>", "<article class='result result-packages'>",
         "<article class='result result-code'>", "<article class='result result-file'>",
         "<article class='result result-keyvalue'>", "<table><tr><th scope=row>k<td><b>KEY</b>: v",
         "<p class=stat><span class=badge>1</span><span class=badge>2 x</span>", "<tr>", "<td>",
         "<a data-map-lat=1e9 data-map-boundingbox='[1,2,3,[]]'>", "<td><a class=text-info href=x>",
         "<div class=attributes><div class=result_journal><span>x</span><span>J\xa0\xa03.\xa0</span>",
         "<div class=codelines><pre><span class=linenos>1</span>a\n<span class=linenos>9", "<iframe>",
         "<td class=response-time><div class=bar-chart-value>inf", "<template>", "<svg>", "<script>", "\x00", "&#xD800;", "&#0;", "text", "\u202e"]
    )
    | st.text(max_size=5),
    max_size=40,
)  # fmt: skip

fuzz = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _check(page: ResultPage | None) -> None:
    if page is None:
        return
    for hit in page.hits:
        parts = urlsplit(hit.url)
        assert parts.scheme in {"http", "https"}
        assert parts.hostname
        assert hit.title
        assert len(hit.url) <= 4_096
        assert not re.search(r"[\s\x00-\x1f\x7f-\x9f]", hit.url)
        assert clean(hit.url) == hit.url
    to_json(page)


@fuzz
@given(st.binary(max_size=400), st.integers(200, 599), st.sampled_from(Format))
def test_random_bytes_are_judged(body, status, wanted):
    received = Response(status, {"Location": body.decode("latin-1")}, body, url=BASE)

    _check(judge(received, base_url=BASE, format=wanted).page)
    _check(parse_html(body, base_url=BASE).page)
    _check(parse_json(body, base_url=BASE).page)


@settings(fuzz, max_examples=settings().max_examples // 2)
@given(DOCUMENTS | SHAPES)
def test_random_json_is_read(document):
    _check(parse_json(json.dumps(document).encode(), base_url=BASE).page)


@fuzz
@given(st.dictionaries(st.sampled_from(["location", "retry-after", "date", "cf-mitigated"]), TEXTS))
def test_random_headers_are_judged(headers):
    for status in (200, 302, 429, 503):
        judge(Response(status, headers), base_url=BASE, format=Format.HTML)


@fuzz
@given(PIECES)
def test_random_markup_is_read(results_page, pieces):
    markup = "".join(pieces)

    _check(parse_html(results_page(markup), base_url=BASE).page)
    _check(parse_html(results_page("", beside=markup), base_url=BASE).page)


@fuzz
@given(st.data())
def test_mutated_answers_are_read(capture_pairs, results_page, data):
    row = '<article class="result"><h3><a href="https://a.example/">A</a></h3></article>'
    own = [results_page(row * 3), b'{"results": [{"url": "https://a.example/", "title": "A"}]}']
    files = [file for pair in capture_pairs for file in pair]
    body = data.draw(st.sampled_from(own + files))
    body = body.read_bytes() if isinstance(body, Path) else body
    cut = data.draw(st.integers(0, len(body)))
    length = data.draw(st.integers(0, 300))
    mutated = body[:cut] + data.draw(st.binary(max_size=20)) + body[cut + length :]

    _check(parse_html(mutated, base_url=BASE).page)
    _check(parse_json(mutated, base_url=BASE).page)
