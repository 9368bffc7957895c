"""The parsers against answers that real servers gave, where such a folder is at hand."""

from pathlib import Path

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.searxng.classify import Received, judge
from searx_mcp.searxng.html_parser import parse_html
from searx_mcp.searxng.json_parser import parse_json
from searx_mcp.searxng.reading import Reading

BASE = "http://127.0.0.1:8901/"

TIES = {"images", "it", "other"}
"""Here both searches rank several engines' rows equally, in the order in which they answered."""
TELLS_LESS = {("debian", "general"), ("debian", "images")}
"""searx 1.1 lists no engines with images, and which engine's row wins differs between searches."""


def _page(reading: Reading) -> ResultPage:
    assert reading.page is not None, reading
    return reading.page


def _row(hit: Hit) -> tuple[object, ...]:
    # HTML names no engines for packages.
    engines = () if hit.template == "packages" else hit.engines
    return hit.url, hit.title, hit.description, engines, hit.category, hit.template


def _received(file: Path) -> tuple[Received, Format] | None:
    """An answer with its `.headers` file: request line, status line, headers."""
    request, status, *headers = file.with_name(f"{file.name}.headers").read_text().splitlines()
    if "/search?" not in request and "POST /search" not in request:
        return None
    wanted = Format.JSON if "format=json" in request or '"json"' in request else Format.HTML
    return (
        Received(
            status=int(status.split()[1]),
            headers=dict(line.split(": ", 1) for line in headers if ": " in line),
            body=file.read_bytes(),
            url=f"{BASE}search?q=x",
        ),
        wanted,
    )


def test_html_and_json_of_the_same_search_agree(capture_pairs: list[tuple[Path, Path]]) -> None:
    for html, json in capture_pairs:
        server, category = html.parent.parent.name, html.stem
        from_html = _page(parse_html(html.read_bytes(), base_url=BASE))
        from_json = _page(parse_json(json.read_bytes(), base_url=BASE))

        rows = [[_row(hit) for hit in page.hits] for page in (from_html, from_json)]
        if (server, category) in TELLS_LESS:
            assert len(rows[0]) == len(rows[1]), html
        else:
            assert sorted(rows[0]) == sorted(rows[1]), html
            if category not in TIES:
                assert rows[0] == rows[1], html
        assert from_html.rows_seen == len(from_html.hits), html
        assert from_html.suggestions == from_json.suggestions, html


def test_images_agree_in_file_and_thumbnail(capture_pairs: list[tuple[Path, Path]]) -> None:
    for html, json in capture_pairs:
        if html.stem != "images":
            continue
        pages = [
            _page(parse_html(html.read_bytes(), base_url=BASE)),
            _page(parse_json(json.read_bytes(), base_url=BASE)),
        ]
        files = [
            {(hit.url, hit.title, hit.thumbnail, hit.image and hit.image.url) for hit in page.hits}
            for page in pages
        ]
        assert files[0] == files[1]


def test_times_agree_wherever_html_tells_them(capture_pairs: list[tuple[Path, Path]]) -> None:
    for html, json in capture_pairs:
        from_json = {
            hit.url: hit.published_at
            for hit in _page(parse_json(json.read_bytes(), base_url=BASE)).hits
        }
        for hit in _page(parse_html(html.read_bytes(), base_url=BASE)).hits:
            assert hit.published_at in {None, from_json.get(hit.url)}, html
            if html.stem == "news" and html.parent.parent.name == "all":
                assert hit.published_at is not None


def test_answers_and_infoboxes_agree(captures: Path | None) -> None:
    if captures is None:
        return
    stem = captures / "all" / "special" / "answers_infobox_correction_suggestions"
    from_html = _page(parse_html(stem.with_suffix(".html").read_bytes(), base_url=BASE))
    from_json = _page(parse_json(stem.with_suffix(".json").read_bytes(), base_url=BASE))

    assert from_html.answers == from_json.answers
    assert from_html.corrections == from_json.corrections
    assert from_html.suggestions == from_json.suggestions
    without_engine = [box.model_copy(update={"engine": ""}) for box in from_json.infoboxes]
    assert list(from_html.infoboxes) == without_engine


def test_what_the_limiter_sent_is_judged_by_what_it_means(captures: Path | None) -> None:
    if captures is None:
        return
    means = {"302": Verdict.BLOCKED, "429": Verdict.RATE_LIMITED}
    for file in sorted((captures / "limiter").glob("*.[0-9][0-9][0-9]")):
        head, _, body = file.read_bytes().partition(b"\n\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = file.suffix.removeprefix(".")
        received = Received(int(status), headers, body, url=f"{BASE}search?q=x")
        for wanted in Format:
            judgement = judge(received, base_url=BASE, format=wanted)
            assert judgement.verdict is means[status], file


def test_link_token_pages_show_the_token_and_the_original_images(captures: Path | None) -> None:
    if captures is None:
        return
    page = _page(parse_html((captures / "linktoken/images.html").read_bytes(), base_url=BASE))

    assert page.link_token is True
    assert all("/image_proxy" not in (hit.thumbnail or "") for hit in page.hits)


def test_the_offered_formats_tell_whether_json_is_on(captures: Path | None) -> None:
    if captures is None:
        return
    for server, offers in (("linktoken", True), ("htmlonly", False)):
        html = (captures / server / "general.html").read_bytes()
        assert ("json" in (_page(parse_html(html, base_url=BASE)).formats or ())) is offers


def test_every_captured_search_gets_the_expected_verdict(captures: Path | None) -> None:
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
