import math

import pytest

from searx_mcp.models.hits import (
    Code,
    Fact,
    File,
    Image,
    Link,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.sources.searxng.template_fields import (
    frame_address,
    media_address,
    sound_address,
    template_fields,
)

BASE = "https://search.example/"
MAGNET = "magnet:?xt=urn:btih:00"


@pytest.mark.parametrize(
    ("template", "fields", "expected"),
    [
        pytest.param(
            "images",
            {"img_src": "https://i.example/a.png", "filesize": "1.2 MB", "resolution": "3 x 4"},
            {"image": Image(url="https://i.example/a.png", size="1.2 MB", resolution="3 x 4")},
            id="image",
        ),
        pytest.param("images", {"img_src": "data:x"}, {}, id="image without a file"),
        pytest.param(
            "videos",
            {"length": 2732.0, "views": 1200, "iframe_src": "https://v.example/e"},
            {
                "video": Video(
                    length="0:45:32", seconds=2732, views="1200", embed_url="https://v.example/e"
                )
            },
            id="video of numbers",
        ),
        pytest.param(
            "videos",
            {
                "length": "3:46",
                "views": "1.2K",
                "embedded": '<iframe data-src="https://v.example/e">',
            },
            {
                "video": Video(
                    length="3:46", seconds=226, views="1.2K", embed_url="https://v.example/e"
                )
            },
            id="video of texts, embedded as in searx 1.1",
        ),
        pytest.param("videos", {"length": None, "views": "", "iframe_src": ""}, {}, id="no video"),
        pytest.param(
            "default",
            {"length": "3:46", "audio_src": "https://m.example/a.mp3"},
            {"media": Media(length="3:46", seconds=226, audio_url="https://m.example/a.mp3")},
            id="music",
        ),
        pytest.param("default", {"length": None, "views": "", "iframe_src": ""}, {}, id="nothing"),
        pytest.param("default", {"length": math.nan}, {}, id="nothing to play"),
        pytest.param("unheard-of", {"seed": 5}, {}, id="unknown template"),
        pytest.param(
            "torrent",
            {
                "seed": 244,
                "leech": "1,244",
                "filesize": 1_048_576,
                "files": "3",
                "magnetlink": MAGNET,
                "torrentfile": "https://t.example/a.torrent",
            },
            {
                "torrent": Torrent(
                    seeds=244,
                    leeches=1244,
                    size="1.00 MiB",
                    files=3,
                    magnet=MAGNET,
                    torrent_url="https://t.example/a.torrent",
                )
            },
            id="torrent",
        ),
        pytest.param(
            "map",
            {
                "latitude": "42.5",
                "longitude": -72,
                "boundingbox": ["42", 43, "-72", -71.5],
                "address": {"name": "N", "house_number": 1, "country": "XX"},
                "osm": {"type": "node", "id": 4562},
                "data": [{"label": "Phone", "value": "1", "key": "phone"}, "x", {"label": "None"}],
                "links": [
                    {"label": "Wiki", "url": "https://w.example/", "url_label": "w"},
                    {"label": "Bad", "url": "javascript:x"},
                ],
            },
            {
                "place": Place(
                    latitude=42.5,
                    longitude=-72,
                    bounding_box=(42, 43, -72, -71.5),
                    name="N",
                    house_number="1",
                    country="XX",
                    osm_type="node",
                    osm_id=4562,
                    facts=(Fact(label="Phone", value="1"),),
                    links=(Link(title="Wiki", url="https://w.example/"),),
                )
            },
            id="place",
        ),
        pytest.param(
            "map",
            {"latitude": 90.1, "longitude": math.inf, "boundingbox": [1, 2, 3], "address": "A"},
            {},
            id="no such place",
        ),
        pytest.param("map", {"boundingbox": [0, 0, 0, 181]}, {}, id="no such edge"),
        pytest.param(
            "paper",
            {
                "authors": ["A. One", "B. Two"],
                "journal": "J",
                "volume": 3,
                "number": "2",
                "pages": "1-9",
                "editor": "E",
                "publisher": "P",
                "doi": "10.1/2",
                "issn": ["1476-4687"],
                "isbn": "9780201896831",
                "type": "article",
                "tags": ["t"],
                "comments": "c",
                "pdf_url": "https://p.example/a.pdf",
                "html_url": "https://p.example/a",
            },
            {
                "paper": Paper(
                    authors=("A. One", "B. Two"),
                    journal="J",
                    volume="3",
                    number="2",
                    pages="1-9",
                    editor="E",
                    publisher="P",
                    doi="10.1/2",
                    issn=("1476-4687",),
                    isbn=("9780201896831",),
                    type="article",
                    tags=("t",),
                    comments="c",
                    pdf_url="https://p.example/a.pdf",
                    html_url="https://p.example/a",
                )
            },
            id="paper",
        ),
        pytest.param(
            "packages",
            {
                "package_name": "p",
                "version": 1.7,
                "maintainer": "M",
                "license_name": "MIT",
                "license_url": "https://l.example/",
                "tags": "a, b",
                "popularity": 37,
                "homepage": "https://h.example/",
                "source_code_url": "https://s.example/",
                "links": {"Docs": "https://d.example/", "Bad": None},
            },
            {
                "package": Package(
                    name="p",
                    version="1.7",
                    maintainer="M",
                    licence="MIT",
                    licence_url="https://l.example/",
                    tags=("a", "b"),
                    popularity="37",
                    homepage="https://h.example/",
                    source_url="https://s.example/",
                    links=(Link(title="Docs", url="https://d.example/"),),
                )
            },
            id="package",
        ),
        pytest.param("packages", {"links": ["https://d.example/"]}, {}, id="links of another type"),
        pytest.param(
            "code",
            {
                "repository": "https://g.example/r",
                "filename": "a.py",
                "code_language": "python",
                "codelines": [
                    [10, "def f():"],
                    ["11", "    return 1\u200b  "],
                    [12],
                    13,
                    [None, ""],
                ],
            },
            {
                "code": Code(
                    repository="https://g.example/r",
                    filename="a.py",
                    language="python",
                    lines=((10, "def f():"), (11, "    return 1")),
                )
            },
            id="code",
        ),
        pytest.param("code", {"code_language": "<guess>", "codelines": {}}, {}, id="no code"),
        pytest.param(
            "file",
            {
                "filename": "a.mp3",
                "size": "4.2 MB",
                "time": "2025-01-02",
                "mimetype": "audio/mpeg",
                "abstract": "abs",
                "embedded": "https://f.example/a.mp3",
            },
            {
                "file": File(
                    filename="a.mp3",
                    size="4.2 MB",
                    time="2025-01-02",
                    mimetype="audio/mpeg",
                    abstract="abs",
                    embed_url="https://f.example/a.mp3",
                )
            },
            id="file",
        ),
        pytest.param(
            "file",
            {
                "size": 2048,
                "mtype": "video",
                "subtype": "ogg",
                "embedded": '<video><source src="https://f.example/a.ogv" type="video/ogg"></video>',
            },
            {
                "file": File(
                    size="2.00 kiB", mimetype="video/ogg", embed_url="https://f.example/a.ogv"
                )
            },
            id="file until 2025-10",
        ),
        pytest.param(
            "products",
            {"price": 12.99, "shipping": "free", "source_country": "DE"},
            {"product": Product(price="12.99", shipping="free", source_country="DE")},
            id="product",
        ),
        pytest.param(
            "keyvalue",
            {"kvmap": {"k1": "v1", "k2": 2, "k3": None, "": "x"}, "caption": "Cap"},
            {"facts": (Fact(label="k1", value="v1"), Fact(label="k2", value="2"))},
            id="table",
        ),
        pytest.param(
            "keyvalue",
            {"name": "n", "size": 5, "engine": "e", "score": 1.0, "template": "key-value.html"},
            {"facts": (Fact(label="name", value="n"), Fact(label="size", value="5"))},
            id="table until 2025-05",
        ),
        pytest.param("keyvalue", {"kvmap": {}}, {}, id="empty table"),
    ],
)
def test_each_template_has_its_own_fields(template, fields, expected):
    assert template_fields(template, fields, BASE) == expected


def test_lists_and_lines_are_bounded():
    many = [str(n) for n in range(1_000)]
    pairs = [{"label": n, "value": n, "url": f"https://a.example/{n}"} for n in many]
    table = dict(zip(many, many, strict=True))
    lines = [[n, "x" * 1_000] for n in range(1_000)]

    paper = template_fields("paper", {"authors": many, "tags": ", ".join(many)}, BASE)["paper"]
    place = template_fields("map", {"data": pairs, "links": pairs}, BASE)["place"]
    package = template_fields("packages", {"links": dict.fromkeys(many, pairs[0]["url"])}, BASE)
    code = template_fields("code", {"codelines": lines}, BASE)["code"]
    facts = template_fields("keyvalue", {"kvmap": table}, BASE)["facts"]

    assert len(paper.authors) == len(paper.tags) == 100
    assert len(place.facts) == len(place.links) == len(package["package"].links) == 100
    assert len(facts) == 100
    assert len(code.lines) == 50
    assert {len(text) for _, text in code.lines} == {300}


def test_a_line_of_code_stays_one_line():
    code = template_fields("code", {"codelines": [[1, "\ta\r\nb"]]}, BASE)["code"]

    assert code.lines == ((1, "\ta b"),)


PLAYER = "https://p.example/e?a=1&amp;b=2"
URL = "https://p.example/e?a=1&b=2"


@pytest.mark.parametrize(
    ("value", "markup", "expected"),
    [
        pytest.param("https://p.example/", None, "https://p.example/", id="address"),
        pytest.param(None, f'<iframe width="5" src="{PLAYER}"></iframe>', URL, id="src"),
        pytest.param("", f"<IFRAME data-src='{PLAYER}'>", URL, id="data-src"),
        pytest.param(None, '<iframe src="javascript:x">', None, id="script"),
        pytest.param(None, f'<audio src="{PLAYER}">', None, id="no frame"),
        pytest.param(7, {}, None, id="other types"),
    ],
)
def test_a_frame_is_an_address_or_inside_markup(value, markup, expected):
    assert frame_address(value, markup) == expected


def test_a_sound_is_an_address_or_inside_markup():
    markup = f'<audio controls><source src="{PLAYER}" type="audio/mpeg"></audio>'

    assert sound_address(None, markup) == URL
    assert sound_address("https://p.example/a.mp3", markup) == "https://p.example/a.mp3"
    assert sound_address(None, f'<iframe src="{PLAYER}">') is None


def test_media_are_an_address_or_markup_in_one_field():
    assert media_address("https://p.example/a.mp3") == "https://p.example/a.mp3"
    assert media_address(f'<video><source src="{PLAYER}"></video>') == URL
    assert media_address(None) is None


def test_markup_without_an_end_takes_no_time():
    for markup in ("<iframe " * 100_000, "<audio>" + " " * 100_000, '<iframe src="' * 100_000):
        assert frame_address(None, markup) is None
        assert sound_address(None, markup) is None
