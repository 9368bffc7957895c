import json

import pytest
from pydantic_core import to_json

from searx_mcp.models.hits import (
    Answer,
    Fact,
    Hit,
    Image,
    Infobox,
    Link,
    ResultPage,
    UnresponsiveEngine,
    Video,
)
from searx_mcp.sources.searxng.json_parser import BodyKind, Row, parse_json

BASE = "https://search.example/"


def _page(**fields: object) -> ResultPage:
    reading = parse_json(json.dumps({"results": []} | fields).encode(), base_url=BASE)
    assert reading.kind is BodyKind.RESULTS
    assert reading.page is not None
    return reading.page


def test_a_typed_result_gives_a_hit_with_every_field():
    page = _page(
        results=[
            {
                "url": "https://a.example/1",
                "title": " A\n title ",
                "content": "A snippet & more",
                "template": "default.html",
                "engine": "bing",
                "engines": ["qwant", "bing"],
                "category": "news",
                "publishedDate": "2026-02-01T00:46:35+00:00",
                "thumbnail": "https://i.example/t.png",
                "author": "A. Reporter",
                "positions": [1, 10],
                "score": 2.2,
                "parsed_url": ["https", "a.example", "/1", "", "", ""],
            }
        ]
    )

    assert page.hits == (
        Hit(
            url="https://a.example/1",
            title="A title",
            description="A snippet & more",
            engines=("bing", "qwant"),
            position=1,
            published_at="2026-02-01T00:46:35+00:00",
            thumbnail="https://i.example/t.png",
            category="news",
            author="A. Reporter",
        ),
    )
    assert (page.has_next, page.formats, page.link_token) == (None, None, None)


def test_an_image_result_keeps_file_and_page_apart():
    page = _page(
        results=[
            {
                "url": "https://a.example/page",
                "title": "cat",
                "template": "images.html",
                "img_src": "https://i.example/full.png",
                "thumbnail_src": "https://i.example/small.png",
                "resolution": "1920 x 1080",
                "img_format": "png",
                "source": "example.org",
                "engine": "bing images",
            }
        ]
    )

    (hit,) = page.hits
    assert (hit.url, hit.thumbnail) == ("https://a.example/page", "https://i.example/small.png")
    assert hit.engines == ("bing images",)
    assert hit.image == Image(
        url="https://i.example/full.png",
        resolution="1920 x 1080",
        format="png",
        source="example.org",
    )


def test_an_answer_of_searx_1_1_is_read():
    page = _page(
        number_of_results=12345.0,
        results=[{"url": "https://a.example/", "title": "t", "engine": "x", "pretty_url": "a"}],
        answers=["42"],
        unresponsive_engines=[["local broken", "too many requests"]],
    )

    assert (page.hits[0].template, page.answers) == ("default", (Answer(text="42"),))
    assert page.unresponsive_engines == (
        UnresponsiveEngine(engine="local broken", reason="too many requests"),
    )


def test_answers_come_in_four_shapes():
    page = _page(
        answers=[
            "a string",
            {"answer": "an object", "url": "https://a.example/42"},
            {
                "template": "answer/translations.html",
                "translations": [{"text": "Hallo"}, {}, {"text": "Servus"}],
            },
            {"template": "answer/weather.html", "current": {"summary": "Sunny, 20 °C"}},
            {"template": "answer/unknown.html"},
            {"answer": None, "translations": 5, "current": []},
            None,
            7,
        ]
    )

    assert [answer.text for answer in page.answers] == [
        "a string",
        "an object",
        "Hallo, Servus",
        "Sunny, 20 °C",
    ]
    assert page.answers[1].url == "https://a.example/42"


def test_an_infobox_is_read_as_far_as_it_goes():
    page = _page(
        infoboxes=[
            {
                "infobox": "Rust",
                "content": "A <b>language</b>.",
                "img_src": "/image_proxy?url=https%3A%2F%2Fi.example%2Flogo.png&h=0",
                "urls": [
                    {"title": "Official", "url": "https://rust.example/"},
                    {"title": "bad", "url": "javascript:x"},
                    "x",
                ],
                "attributes": [
                    {"label": "Born", "value": "2006"},
                    {"label": "Flag", "image": {"src": "https://i.example/f.png", "alt": "flag"}},
                    {"label": "Site", "value": '<a href="https://a.example/">A &amp; B</a>'},
                    {"label": "Sum", "value": "a < b &amp; c"},
                    {"label": "Empty"},
                    {"label": "Number", "value": 7},
                ],
                "engine": "wikidata",
                "positions": "",
            },
            {"title": "Only a title"},
            {},
            {"infobox": None, "content": "nameless"},
        ]
    )

    assert page.infoboxes == (
        Infobox(
            title="Rust",
            content="A language.",
            image="https://i.example/logo.png",
            links=(Link(title="Official", url="https://rust.example/"),),
            attributes=(
                Fact(label="Born", value="2006"),
                Fact(label="Flag", value="flag"),
                Fact(label="Site", value="A & B"),
                Fact(label="Sum", value="a < b &amp; c"),
            ),
            engine="wikidata",
        ),
        Infobox(title="Only a title"),
    )


def test_a_table_without_an_address_stands_among_the_infoboxes():
    page = _page(
        infoboxes=[{"infobox": "Rust"}],
        results=[
            {"url": None, "template": "keyvalue.html", "kvmap": {"a": 1}, "caption": "Cap"},
            {"template": "key-value.html", "engine": "db", "engines": ["db"], "name": "n"},
            {"template": "keyvalue.html", "kvmap": {}},
        ],
    )

    assert page.hits == ()
    assert [(box.title, box.engine) for box in page.infoboxes] == [
        ("Rust", ""),
        ("Cap", ""),
        ("db", "db"),
    ]
    assert page.infoboxes[1].attributes == (Fact(label="a", value="1"),)
    assert page.infoboxes[2].attributes == (Fact(label="name", value="n"),)


@pytest.mark.parametrize(
    ("fields", "published_at", "published_text"),
    [
        pytest.param({"publishedDate": "2026-02-05T17:25:32"}, "2026-02-05T17:25:32", "", id="ISO"),
        pytest.param({"publishedDate": "Feb 5, 2026"}, "2026-02-05", "", id="until 2023-06"),
        pytest.param({"publishedDate": "None"}, None, "", id="None in words"),
        pytest.param(
            {"publishedDate": "3 hour(s), 5 minute(s) ago"},
            None,
            "3 hour(s), 5 minute(s) ago",
            id="distance",
        ),
        pytest.param(
            {"publishedDate": None, "date_of_publication": {"datetime": "2026-06-30T11:39:02"}},
            "2026-06-30T11:39:02",
            "",
            id="paper",
        ),
        pytest.param({"date_of_publication": {"datetime": 5}}, None, "", id="paper, broken"),
    ],
)
def test_times_come_in_many_shapes(fields, published_at, published_text):
    (hit,) = _page(results=[{"url": "https://a.example/"} | fields]).hits

    assert (hit.published_at, hit.published_text) == (published_at, published_text)


def test_rows_count_without_an_address_but_tables_do_not():
    page = _page(
        results=[
            {"url": None, "template": "keyvalue.html", "kvmap": {"a": 1}},
            {"template": "key-value.html"},
            {"url": "ftp://a.example/", "title": "t"},
            "no object",
            {"url": "https://a.example/", "title": "t"},
        ]
    )

    assert page.rows_seen == 3
    assert [hit.position for hit in page.hits] == [5]


def test_lists_of_texts_keep_their_texts_only():
    page = _page(suggestions=["a", 1, "a", "b"], corrections={"a": 1})

    assert (page.suggestions, page.corrections) == (("a", "b"), ())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param([["a", "timeout"]], [("a", "timeout")], id="pairs"),
        pytest.param([["a"]], [("a", "")], id="no reason"),
        pytest.param(["a"], [("a", "")], id="names"),
        pytest.param([[], [None, "x"], None, {"a": 1}], [], id="nothing usable"),
        pytest.param("abc", [], id="a string"),
    ],
)
def test_unresponsive_engines_are_read_in_any_shape(value, expected):
    engines = _page(unresponsive_engines=value).unresponsive_engines

    assert [(item.engine, item.reason) for item in engines] == expected


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"", BodyKind.MALFORMED, id="empty"),
        pytest.param(b"\xff\xfe\x00", BodyKind.MALFORMED, id="bytes"),
        pytest.param(b'{"results": [', BodyKind.MALFORMED, id="cut"),
        pytest.param(b"[" * 200_000, BodyKind.MALFORMED, id="too deep"),
        pytest.param(
            b'{"results":[],"n":' + b"9" * 5_000 + b"}", BodyKind.MALFORMED, id="huge int"
        ),
        pytest.param(b'{"results": [], "n": NaN}', BodyKind.RESULTS, id="NaN"),
        pytest.param(b'\xef\xbb\xbf{"results": []}', BodyKind.RESULTS, id="byte order mark"),
        pytest.param(b'{"error": "No query"}', BodyKind.SEARCH_ERROR, id="error"),
        pytest.param(b'{"results": {}}', BodyKind.FOREIGN, id="results of another type"),
        pytest.param(b'{"hits": []}', BodyKind.FOREIGN, id="other object"),
        pytest.param(b"[]", BodyKind.FOREIGN, id="list"),
        pytest.param(b"null", BodyKind.FOREIGN, id="null"),
    ],
)
def test_a_body_is_told_apart_before_it_is_read(body, kind):
    assert parse_json(body, base_url=BASE).kind is kind


@pytest.mark.parametrize(
    "value",
    [None, True, 7, 1.5, -1e300, 10**400, float("nan"), float("inf"), "text", "\ud800\u202e", [], [[]],
     [None], {}, {"a": {"b": []}}, [{"label": 1, "value": [], "url": {}}], [[1], [1, 2], [[], "x"]]],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
@pytest.mark.parametrize(
    "template",
    ["default", "images", "videos", "torrent", "map", "paper", "packages", "code", "file", "products",
     "keyvalue", None],
)  # fmt: skip
def test_a_value_of_any_type_in_any_field_is_survived(value, template):
    row = dict.fromkeys(
        ["title", "content", "template", "engine", "engines", "category", "publishedDate",
         "thumbnail", "thumbnail_src", "img_src", "author", "resolution", "img_format", "source",
         "filesize", "length", "views", "iframe_src", "audio_src", "embedded", "seed", "leech", "files",
         "magnetlink", "torrentfile", "latitude", "longitude", "boundingbox", "address", "osm", "data",
         "links", "authors", "journal", "volume", "number", "pages", "doi", "issn", "isbn", "publisher",
         "editor", "type", "tags", "comments", "pdf_url", "html_url", "date_of_publication",
         "package_name", "version", "maintainer", "popularity", "license_name", "license_url",
         "homepage", "source_code_url", "repository", "filename", "codelines", "code_language", "size",
         "time", "mimetype", "mtype", "subtype", "abstract", "price", "shipping", "source_country",
         "kvmap", "caption"],
        value,
    ) | ({"template": f"{template}.html"} if template else {})  # fmt: skip
    box = dict.fromkeys(["infobox", "content", "img_src", "urls", "attributes", "engine"], value)
    names = ["answers", "corrections", "suggestions", "unresponsive_engines"]

    page = _page(
        results=[row | {"url": "https://a.example/"}, row | {"url": value}],
        infoboxes=[box, value],
        **dict.fromkeys(names, value),
    )

    # A relative address of an image points into the instance.
    assert len(page.hits) == (2 if (value, template) == ("text", "images") else 1)
    assert page.hits[0].title
    assert page.rows_seen == (1 if template == "keyvalue" else 2)
    assert to_json(page)


PAGE, IMAGE = "https://a.example/", "https://i.example/a.png"
KVMAP = {"kvmap": {"a": 1}}
FACTS = (Fact(label="a", value="1"),)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        pytest.param(
            Row(url="https://a.example/x", title=" \u200b"),
            {"title": "a.example/x", "position": 4, "template": "default"},
            id="without a title it is named by its address",
        ),
        pytest.param(
            Row(template="images", title="t", details={"img_src": IMAGE}),
            {"url": IMAGE, "image": Image(url=IMAGE)},
            id="an image without a page is its own page",
        ),
        pytest.param(Row(template="images", url=PAGE), {"image": None}, id="an image without a file"),
        pytest.param(Row(title="t", details={"img_src": IMAGE}), None, id="without an address"),
        pytest.param(
            Row(url=PAGE, title="t" * 900, description="d" * 9_000),
            {"title": "t" * 499 + "…", "description": "d" * 1_999 + "…"},
            id="too long",
        ),
        pytest.param(
            Row(url=PAGE, template="videos", details={"length": 61, "seed": 5}),
            {"video": Video(length="0:01:01", seconds=61.0), "torrent": None},
            id="the fields of its template",
        ),
        *(
            pytest.param(
                Row(url=PAGE, published=published), {"published_at": at, "published_text": left}
            )
            for published, at, left in [
                ("Feb 5, 2026", "2026-02-05", ""),
                ("5 minute(s) ago", None, "5 minute(s) ago"),
                ("None", None, ""),
                (None, None, ""),
            ]
        ),
        pytest.param(Row(template="keyvalue", details=KVMAP), None, id="a table"),
        pytest.param(
            Row(template="keyvalue", url=PAGE, details=KVMAP), {"facts": FACTS}, id="linked"
        ),
    ],
)  # fmt: skip
def test_a_row_becomes_a_hit(row, told):
    hit = row.to_hit(position=4, base_url=BASE)
    assert (hit and {name: getattr(hit, name) for name in told}) == told


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"details": KVMAP | {"caption": "C"}, "title": "T", "engines": ["e"]}, "C"),
        ({"details": KVMAP, "title": "T", "engines": ["e"]}, "T"),
        ({"details": KVMAP, "engines": ["e"]}, "e"),
        ({"details": KVMAP}, None),
        ({"details": {"kvmap": {"a": None, "": 1}}, "engines": ["e"]}, None),
    ],
    ids=["caption", "title", "engine", "no name", "nothing to be read"],
)
def test_a_table_without_an_address_becomes_a_box(fields, title):
    box = Row(template="keyvalue", **fields).to_infobox()
    engine = next(iter(fields.get("engines", ())), "")
    assert box == (title and Infobox(title=title, attributes=FACTS, engine=engine))
