"""The parsers against answers that real servers gave, where such a folder is at hand."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import TEMPLATE_FIELDS, Hit, ResultPage
from searx_mcp.sources.searxng.answers import distrust
from searx_mcp.sources.searxng.classify import judge, server_timing
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import ParsedBody, parse_json

BASE = "http://127.0.0.1:8901/"

NOT_IN_HTML: dict[str, Any] = {"place": {"osm_type": "", "osm_id": None}, "code": {"language": ""}}
"""What JSON alone tells of a template."""


def _page(reading: ParsedBody) -> ResultPage:
    assert reading.page is not None, reading
    return reading.page


def _key(hit: Hit) -> tuple[object, ...]:
    # Several images of one page are different rows, and one image that two engines found too.
    return hit.url, hit.template, hit.image and (hit.image.url, hit.engines)


def _row(hit: Hit) -> Hit:
    """The row without what only one of the formats tells."""
    update: dict[str, Any] = {
        # Where engines answered at the same time, the one whose row comes first differs between
        # the searches, and with it whose snippet of equal length is shown.
        "position": 0,
        "description": re.sub(r"from bench [abc] ", "", hit.description),
        # HTML names no engines for packages, and no time of the day for papers.
        "engines": () if hit.package else hit.engines,
        "published_at": hit.published_at[:10]
        if hit.paper and hit.published_at
        else hit.published_at,
    }
    for name, missing in NOT_IN_HTML.items():
        details = getattr(hit, name)
        update[name] = details and details.model_copy(update=missing)
    return hit._replace(**update)


def _reasons(page: ResultPage) -> list[tuple[str, str]]:
    # Suspended from the second failure on, and the JSON was asked for first.
    return [
        (each.engine, each.reason.removeprefix("Suspended: ")) for each in page.unresponsive_engines
    ]


def _received(file: Path) -> tuple[Response, Format] | None:
    """An answer with its `.headers` file: request line, status line, headers."""
    request, status, *headers = file.with_name(f"{file.name}.headers").read_text().splitlines()
    if "/search?" not in request and "POST /search" not in request:
        return None
    wanted = Format.JSON if "format=json" in request or '"json"' in request else Format.HTML
    return (
        Response(
            status=int(status.split()[1]),
            headers=dict(line.split(": ", 1) for line in headers if ": " in line),
            body=file.read_bytes(),
            url=f"{BASE}search?q=x",
        ),
        wanted,
    )


@pytest.fixture
def read_pairs(capture_pairs: list[tuple[Path, Path]]) -> list[tuple[Path, ResultPage, ResultPage]]:
    """The name of each search, and what its HTML and its JSON are read as."""
    return [
        (
            html,
            _page(parse_html(html.read_bytes(), base_url=BASE)),
            _page(parse_json(document.read_bytes(), base_url=BASE)),
        )
        for html, document in capture_pairs
        # An instance without JSON, whose answer to it is a 403.
        if html.parent.name != "htmlonly"
    ]


def test_the_captures_are_all_there(captures, read_pairs):
    assert captures is None or len(read_pairs) >= 21


def test_html_and_json_of_the_same_search_give_the_same_hits(read_pairs):
    for name, from_html, from_json in read_pairs:
        hits = [{_key(hit): _row(hit) for hit in page.hits} for page in (from_html, from_json)]
        assert hits[0] == hits[1], name
        assert len(hits[0]) == len(from_html.hits) == len(from_json.hits), name


def test_html_and_json_of_the_same_search_agree_in_order_up_to_ties(capture_pairs, read_pairs):
    """Rows of equal score stand in the order in which engines answered that search."""
    files = dict(capture_pairs)
    for name, from_html, from_json in read_pairs:
        rows = json.loads(files[name].read_bytes())["results"]
        scores = {_key(hit): rows[hit.position - 1]["score"] for hit in from_json.hits}

        order = [[scores[_key(hit)] for hit in page.hits] for page in (from_html, from_json)]

        assert order[0] == order[1], name


def test_every_template_occurs_among_the_captures(read_pairs):
    for pages in ([page for _, page, _ in read_pairs], [page for _, _, page in read_pairs]):
        hits = [hit for page in pages for hit in page.hits]
        seen = {name for hit in hits for name in TEMPLATE_FIELDS if getattr(hit, name)}
        # A table has no address and becomes a box.
        assert not hits or seen == set(TEMPLATE_FIELDS) - {"facts"}


def test_html_and_json_agree_in_what_stands_around_the_rows(read_pairs):
    for name, from_html, from_json in read_pairs:
        assert from_html.rows_seen == from_json.rows_seen == len(from_html.hits), name
        assert from_html.answers == from_json.answers, name
        assert from_html.corrections == from_json.corrections, name
        assert set(from_html.suggestions) == set(from_json.suggestions), name
        assert _reasons(from_html) == _reasons(from_json), name
        boxes = [
            sorted(
                box.model_copy(update={"engine": ""}).model_dump_json() for box in page.infoboxes
            )
            for page in (from_html, from_json)
        ]
        assert boxes[0] == boxes[1], name


def test_tables_of_labels_and_values_become_boxes(read_pairs):
    pages = [page for name, *pair in read_pairs if name.stem == "other" for page in pair]
    for page in pages:
        assert {(box.title, box.engine) for box in page.infoboxes} == {("Cap", "bench kv")}
        assert {(fact.label, fact.value) for box in page.infoboxes for fact in box.attributes} == {
            ("k1", "v1"),
            ("k2", "2"),
        }


def test_headers_and_html_agree_in_how_long_engines_took(read_pairs):
    for name, page, _ in read_pairs:
        headers = name.with_name(f"{name.name}.headers").read_text()
        (value,) = re.findall("^server-timing: (.*)$", headers, re.MULTILINE)
        exact = server_timing(value)
        if page.unresponsive_engines:
            # The header counts the engines that failed as well.
            assert page.timings.keys() <= exact.keys(), name
        else:
            assert page.timings.keys() == exact.keys(), name
        for engine, seconds in page.timings.items():
            assert abs(seconds - exact[engine]) <= 0.051, name


def test_what_the_limiter_sent_is_judged_by_what_it_means(captures):
    if captures is None:
        return
    means = {"302": Verdict.BLOCKED, "429": Verdict.RATE_LIMITED}
    for file in sorted((captures / "limiter").glob("*.[0-9][0-9][0-9]")):
        head, _, body = file.read_bytes().partition(b"\n\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = file.suffix.removeprefix(".")
        received = Response(int(status), headers, body, url=f"{BASE}search?q=x")
        for wanted in Format:
            judgement = judge(received, base_url=BASE, format=wanted)
            assert judgement.verdict is means[status], file


def test_link_token_pages_show_the_token_and_the_original_images(captures):
    if captures is None:
        return
    page = _page(parse_html((captures / "linktoken/images.html").read_bytes(), base_url=BASE))

    assert page.link_token is True
    assert all("/image_proxy" not in (hit.thumbnail or "") for hit in page.hits)


def test_the_offered_formats_tell_whether_json_is_on(captures):
    if captures is None:
        return
    for server, offers in (("linktoken", True), ("htmlonly", False)):
        html = (captures / server / "general.html").read_bytes()
        assert ("json" in (_page(parse_html(html, base_url=BASE)).formats or ())) is offers


def test_every_captured_search_gets_the_expected_verdict(captures):
    if captures is None:
        return
    expected = {
        "all/special/empty": Verdict.EMPTY,
        "all/special/page9": Verdict.EMPTY,
        "all/special/external_bang": Verdict.FOREIGN_REDIRECT,
        "all/errors/emptyq.html": Verdict.BLOCKED,
        "all/errors/noq.html": Verdict.BLOCKED,
        "all/errors/unknown": Verdict.FULL,
        "all/errors/": Verdict.REFUSED,
        "allfail/": Verdict.ENGINES_FAILED,
        "htmlonly/general.json": Verdict.JSON_OFF,
        "htmlonly/post_json": Verdict.JSON_OFF,
    }
    for headers in sorted(captures.rglob("*.headers")):
        file = headers.with_suffix("")
        answer = _received(file) if file.suffix in {".html", ".json"} else None
        if answer is None:
            continue
        received, wanted = answer
        if file.stem == "post_json":
            wanted = Format.JSON
        name = file.relative_to(captures).as_posix()
        verdict = next((expected[key] for key in expected if name.startswith(key)), Verdict.FULL)
        assert judge(received, base_url=BASE, format=wanted).verdict is verdict, name


def test_no_real_page_offends(captures):
    if captures is None:
        return
    pages = 0
    for file in [*captures.rglob("*.html"), *captures.rglob("*.json")]:
        for wanted in Format:
            received = Response(200, body=file.read_bytes(), url=f"{BASE}search?q=x")
            judgement = judge(received, base_url=BASE, format=wanted)
            pages += bool(judgement.page and judgement.page.hits)
            assert distrust(judgement, base_url=BASE, text="x") is judgement, file
    assert pages >= 100
