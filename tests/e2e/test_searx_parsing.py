"""What the parsers make of a real server's JSON and HTML of the same search."""

from typing import Any, Protocol
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest

from searx_mcp.models.hits import (
    Code,
    Fact,
    Hit,
    Image,
    Link,
    Media,
    Place,
    ResultPage,
    Torrent,
    Video,
)
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import parse_json

SITE = "http://127.0.0.1:1234"
TEMPLATES = {
    "general": "default",
    "images": "images",
    "videos": "videos",
    "news": "default",
    "map": "map",
    "music": "default",
    "it": "code",
    "science": "default",
    "files": "torrent",
}
NOT_IN_HTML: dict[str, dict[str, Any]] = {
    "images": {"engines": (), "description": "", "author": ""},
    "videos": {"author": ""},
}
"""What the theme of searx 1.1 leaves out of a row."""
NOT_IN_HTML_DETAILS: dict[str, dict[str, Any]] = {
    "image": {"resolution": "", "format": "", "source": "", "size": ""},
    "video": {"length": "", "seconds": None},
    "place": {"osm_type": "", "osm_id": None},
    "code": {"language": ""},
}
"""What it leaves out of the fields of a template."""


class Searx(Protocol):
    """What the fixture gives."""

    url: str

    def point_to(self, site: str) -> None: ...


def _get(searx: Searx, **query: str) -> bytes:
    address = f"{searx.url}search?{urlencode(query)}"
    with build_opener(ProxyHandler({})).open(address, timeout=60) as reply:
        body: bytes = reply.read()
    return body


def _read(searx: Searx, **query: str) -> tuple[ResultPage, ResultPage]:
    """Search once in each format."""
    searx.point_to(SITE)
    from_html = parse_html(_get(searx, **query), base_url=searx.url).page
    from_json = parse_json(_get(searx, format="json", **query), base_url=searx.url).page
    assert from_html is not None
    assert from_json is not None
    return from_html, from_json


def _shown(hit: Hit, category: str) -> Hit:
    """The part of a row that this server's HTML shows."""
    update = dict(NOT_IN_HTML.get(category, {}))
    for name, missing in NOT_IN_HTML_DETAILS.items():
        if details := getattr(hit, name):
            update[name] = details.model_copy(update=missing)
    return hit._replace(**update)


@pytest.mark.parametrize(("category", "template"), TEMPLATES.items(), ids=TEMPLATES)
def test_json_and_html_of_the_same_search_give_the_same_hits(
    searx: Searx, category: str, template: str
) -> None:
    from_html, from_json = _read(searx, q="bees", categories=category)

    assert [hit.url for hit in from_json.hits] == [f"{SITE}/{category}/{n}" for n in range(1, 6)]
    assert {(hit.template, hit.category) for hit in from_json.hits} == {(template, category)}
    assert list(from_html.hits) == [_shown(hit, category) for hit in from_json.hits]
    assert from_html.suggestions == from_json.suggestions == ("bees explained",)
    assert from_html.rows_seen == from_json.rows_seen == 5


@pytest.mark.parametrize(
    ("category", "name", "expected"),
    [
        pytest.param(
            "images",
            "image",
            Image(url=f"{SITE}/images/1.png", format="png 1920x1080", source="A Gallery"),
            id="image",
        ),
        pytest.param(
            "videos",
            "video",
            Video(length="3:20", seconds=200, embed_url=f"{SITE}/videos/1/embed"),
            id="video",
        ),
        pytest.param("music", "media", Media(audio_url=f"{SITE}/music/1.mp3"), id="music"),
        pytest.param(
            "map",
            "place",
            Place(
                latitude=52.5,
                longitude=13.4,
                bounding_box=(52, 53, 13, 14),
                name="A Place",
                road="Main St",
                house_number="1a",
                locality="A Town",
                postcode="12345",
                country="A Country",
                osm_type="node",
                osm_id=1,
                facts=(Fact(label="Phone", value="1"),),
                links=(Link(title="Site", url=f"{SITE}/map/1/site"),),
            ),
            id="place",
        ),
        pytest.param(
            "it",
            "code",
            Code(
                repository=f"{SITE}/it/1/repository",
                language="python",
                lines=((9, "def f(x):"), (10, "    return x"), (20, "f(1)")),
            ),
            id="code",
        ),
        pytest.param(
            "files",
            "torrent",
            Torrent(
                seeds=7,
                leeches=1,
                size="1.00 MiB",
                files=2,
                magnet="magnet:?xt=urn:btih:" + "0" * 40,
                torrent_url=f"{SITE}/files/1.torrent",
            ),
            id="torrent",
        ),
    ],
)
def test_the_fields_of_its_template_are_read_from_json(
    searx: Searx, category: str, name: str, expected: object
) -> None:
    _, from_json = _read(searx, q="bees", categories=category)

    assert getattr(from_json.hits[0], name) == expected


def test_a_table_of_labels_and_values_is_a_box_in_both(searx: Searx) -> None:
    for page in _read(searx, q="table bees"):
        (box,) = page.infoboxes
        assert (box.title, box.engine) == ("Facts", "loopback general")
        assert [(fact.label, fact.value) for fact in box.attributes] == [
            ("name", "A Name"),
            ("size", "5"),
        ]
        assert len(page.hits) == 5
