"""Of rows that are made to hurt, or are of other types, what is left is text or nothing."""

from operator import attrgetter

import pytest

from searx_mcp.models.hits import Package, Video
from searx_mcp.models.request import Category

FEED = (
    '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" '
    'xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
    "<o:totalResults>{}</o:totalResults>{}</feed>"
)
ENTRY = "<entry><id>{}</id><title>{}</title><summary>{}</summary></entry>"
NPM = [
    "x",
    {"name": "a"},
    {"name": "b", "links": {"npm": "javascript:alert(1)"}},
    {"name": 7, "links": {"npm": "https://a.example/"}},
    {
        "name": "A\u202e\x1b[31m name",
        "links": {"npm": "https://b.example/", "bugs": "file:///x", "homepage": ["x"]},
        "license": {"type": "MIT"},
        "keywords": "one",
        "publisher": "ada",
    },
]
OPENVERSE = {
    "results": [
        {"title": "A", "foreign_landing_url": "javascript:alert(1)", "url": "https://a.example/"},
        {"title": ["B"], "foreign_landing_url": "https://b.example/"},
        {
            "title": "C",
            "foreign_landing_url": "https://c.example/",
            "url": "data:image/png;base64,x",
            "thumbnail": "javascript:alert(1)",
            "duration": "long",
            "tags": [5, {"name": ["x"]}],
            "license": 5,
            "width": -1,
            "height": "x",
        },
    ]
}

# Engine, what a question has beside its words, its answer, fields of the hits by path, and of the whole.
HOSTILE = [
    pytest.param(
        "arxiv",
        {},
        FEED.format(
            3,
            ENTRY.format("javascript:alert(1)", "A", "")
            + ENTRY.format("http://arxiv.org.evil.example/abs/2611.00001", "B", "")
            + ENTRY.format("http://arxiv.org/abs/2611.00003", "C <i>deep</i>", "\u202ered\u202c"),
        ).encode(),
        [{"title": "C", "description": "red"}],
        {"rows_seen": 3},
        id="arxiv",
    ),
    pytest.param(
        "commons",
        {},
        {
            "query": {
                "pages": [
                    {
                        "title": "File:A.jpg",
                        "index": 1,
                        "imageinfo": [{"descriptionurl": "javascript:x()"}],
                    },
                    {"title": "File:B.jpg", "index": "x", "imageinfo": "none"},
                    {
                        "title": "File:C",
                        "index": 3,
                        "imageinfo": [
                            {
                                "descriptionurl": "https://commons.wikimedia.org/wiki/File:C",
                                "url": "file:///c",
                                "extmetadata": {
                                    "ImageDescription": {
                                        "value": "<script>x()</script>A <b>panda</b>"
                                    },
                                    "Artist": {"value": "<a href='javascript:x()'>Ada</a>"},
                                    "LicenseShortName": {"value": "CC0"},
                                    "LicenseUrl": {"value": "javascript:alert(1)"},
                                },
                            }
                        ],
                    },
                ]
            }
        },
        [
            {
                "title": "C",
                "image": None,
                "description": "A panda",
                "author": "Ada",
                "attribution": "C by Ada, CC0",
            }
        ],
        {"rows_seen": 3},
        id="commons",
    ),
    pytest.param(
        "crates",
        {},
        {
            "crates": [
                {"name": "../../evil"},
                {"name": "<script>x</script>"},
                {"name": None},
                {
                    "name": "panda",
                    "description": "A\u202e\x1b[31m crate",
                    "homepage": "javascript:alert(1)",
                    "documentation": 7,
                    "repository": "http://[::1",
                    "max_stable_version": ["1"],
                    "recent_downloads": "many",
                },
            ]
        },
        [{"title": "panda", "description": "A crate", "package": Package(name="panda")}],
        {"rows_seen": 4},
        id="crates",
    ),
    pytest.param(
        "crossref",
        {},
        {"message": {"DOI": "10.5555/a<b>#c", "title": ["Signs"]}},
        [{"url": "https://doi.org/10.5555/a%3Cb%3E%23c"}],
        {},
        id="crossref, a work without an address",
    ),
    pytest.param(
        "crossref",
        {},
        {
            "message": {
                "items": [
                    {"DOI": "10.5555/a", "URL": "javascript:alert(1)", "title": ["A"]},
                    {
                        "DOI": ["x"],
                        "URL": 5,
                        "title": "<script>x</script><b>B</b>",
                        "author": ["x"],
                    },
                    {
                        "URL": "https://a.example/",
                        "title": [5, "<b>C</b>"],
                        "author": [{"name": ["x"]}],
                    },
                    "no work",
                ]
            }
        },
        [{"title": "C"}],
        {"rows_seen": 4},
        id="crossref",
    ),
    pytest.param(
        "europepmc",
        {},
        {
            "resultList": {
                "result": [
                    {"source": "../x", "id": "1", "title": "A"},
                    {"source": "MED", "id": 5, "title": "B"},
                    {
                        "source": "PAT",
                        "id": "US/../1?x#y",
                        "title": "<script>x</script><b>C</b>",
                        "fullTextUrlList": {
                            "fullTextUrl": [
                                {
                                    "availabilityCode": "OA",
                                    "documentStyle": "pdf",
                                    "url": "javascript:alert(1)",
                                }
                            ]
                        },
                        "journalInfo": [],
                        "authorString": ["x"],
                    },
                ]
            }
        },
        [
            {
                "title": "C",
                "url": "https://europepmc.org/article/PAT/US%2F..%2F1%3Fx%23y",
                "paper.pdf_url": None,
            }
        ],
        {"rows_seen": 3},
        id="europepmc",
    ),
    pytest.param(
        "gdelt",
        {},
        {
            "articles": [
                {"url": "javascript:alert(1)", "title": "A"},
                {"url": "https://b.example/", "title": ["B"]},
                {
                    "url": "https://c.example/",
                    "title": "C \u202e<b>",
                    "seendate": "20269999T999999Z",
                    "socialimage": "data:image/png;base64,x",
                },
                5,
            ]
        },
        [{"title": "C <b>", "published_at": None, "thumbnail": None}],
        {"rows_seen": 3},
        id="gdelt",
    ),
    pytest.param(
        "github",
        {},
        {
            "items": [
                {"full_name": "a/b", "html_url": "javascript:alert(1)"},
                {"full_name": ["a/b"], "html_url": "https://github.com/a/b"},
                {"title": "x", "html_url": None},
                {
                    "full_name": "a/c",
                    "html_url": "https://github.com/a/c",
                    "homepage": "data:text/html,x",
                    "license": {"spdx_id": "../../x", "name": 3},
                    "owner": "a",
                    "topics": "one",
                    "pushed_at": 7,
                },
                {
                    "title": "A\u202e title",
                    "html_url": "https://github.com/a/c/issues/1",
                    "repository_url": "https://api.github.com/repos/a/c/../../x",
                    "body": "seen <!-- ignore all <!-- of it --> this <!-- and the rest",
                    "user": [],
                },
            ]
        },
        [
            {"package": Package(tags=("one",)), "published_at": None},
            {"title": "A title", "description": ". seen this"},
        ],
        {"rows_seen": 5},
        id="github",
    ),
    pytest.param(
        "hackernews",
        {},
        {
            "hits": [
                {"objectID": "../evil", "points": 9, "title": "x", "url": "https://a.example/"},
                {"objectID": "²", "points": 9, "title": "x"},
                {"objectID": 7, "points": 9, "title": "x"},
                {"objectID": "1", "points": "many", "title": "x"},
                {"objectID": "2", "points": 9, "title": None, "url": "https://a.example/"},
                {
                    "objectID": "3",
                    "points": 9,
                    "num_comments": -4,
                    "created_at_i": 10**40,
                    "title": "A &#x202e;title",
                    "url": "javascript:alert(1)",
                    "story_text": "<script>x</script>y<img src=x onerror=alert(1)>",
                },
            ]
        },
        [
            {
                "url": "https://news.ycombinator.com/item?id=3",
                "title": "A title",
                "published_at": None,
                "description": "y Hacker News: 9 points, 0 comments, https://news.ycombinator.com/item?id=3",
            }
        ],
        {"rows_seen": 6},
        id="hackernews",
    ),
    pytest.param(
        "huggingface",
        {},
        [
            {"id": "../../evil/x"},
            {"id": "../evil"},
            {"id": "a/b/c"},
            {"id": "javascript:alert(1)"},
            {"id": "熊/猫"},
            {"id": 7},
            {"id": "a/private", "private": True},
            {
                "id": "a/b",
                "description": "A\u202e\x1b[31m set",
                "tags": [1, "<b>"],
                "likes": -1,
                "downloads": "many",
                "createdAt": {},
                "lastModified": "yesterday",
            },
        ],
        [
            {
                "url": "https://huggingface.co/a/b",
                "description": "A set | tags: <b>",
                "published_at": None,
            }
        ],
        {"rows_seen": 8},
        id="huggingface",
    ),
    pytest.param(
        "internetarchive",
        {},
        {
            "response": {
                "docs": [
                    {"identifier": "../account", "title": "A"},
                    {"identifier": ["b"], "title": "B"},
                    {"identifier": "c?x=1#y", "title": "C"},
                    {
                        "identifier": "d",
                        "title": [5, "D"],
                        "mediatype": ["movies"],
                        "creator": {"x": 1},
                        "description": ["<script>x()</script>", "<p>A <b>panda", 5],
                        "item_size": "big",
                    },
                ]
            }
        },
        [{"title": "D", "description": "A panda", "author": "", "file": None}],
        {"rows_seen": 4},
        id="internetarchive",
    ),
    pytest.param(
        "keenable",
        {},
        {
            "results": [
                {"url": "javascript:alert(1)", "title": "A"},
                {"url": ["https://b.example/"], "title": "B"},
                {
                    "url": "https://c.example/",
                    "title": "C\x1b[31m",
                    "snippet": {"x": 1},
                    "published_at": 5,
                },
                {"url": "https://c.example/", "title": "C again"},
            ]
        },
        [{"title": "C", "description": "", "published_at": None}],
        {"rows_seen": 4},
        id="keenable",
    ),
    pytest.param(
        "musicbrainz",
        {},
        {
            "recordings": [
                {"id": "../x", "title": "A"},
                {"id": 5, "title": "B"},
                {
                    "id": "00000000-0000-4000-8000-0000000000f1",
                    "title": "C\u202e\x1b[31m",
                    "score": "100",
                    "length": "long",
                    "artist-credit": [
                        5,
                        {"name": ["x"], "joinphrase": "\n& "},
                        *10 * [{"name": "x"}],
                    ],
                    "releases": {},
                    "disambiguation": {"x": 1},
                    "tags": "x",
                    "first-release-date": ["x"],
                },
            ]
        },
        [{"title": "C", "media": None, "published_at": None, "author": "& xxxxxxxxx"}],
        {"rows_seen": 3},
        id="musicbrainz",
    ),
    pytest.param(
        "npm",
        {},
        {"objects": [{"package": package} for package in NPM]},
        [
            {
                "url": "https://b.example/",
                "title": "A name",
                "package": Package(name="A name", tags=("one",)),
            }
        ],
        {"rows_seen": 5},
        id="npm",
    ),
    pytest.param(
        "photon",
        {},
        {
            "features": [
                "x",
                {"properties": []},
                {"properties": {"osm_type": "N", "osm_id": "1/../..", "name": "x"}},
                {"properties": {"osm_type": "X", "osm_id": 1, "name": "x"}},
                {"properties": {"osm_type": "N", "osm_id": 1}},
                {
                    "geometry": "x",
                    "properties": {
                        "osm_type": "N",
                        "osm_id": 2,
                        "name": "A\u202e\x1b[31m name",
                        "city": 7,
                    },
                },
            ]
        },
        [{"url": "https://www.openstreetmap.org/node/2", "title": "A name", "description": ""}],
        {"rows_seen": 6},
        id="photon",
    ),
    pytest.param(
        "stackexchange",
        {},
        {
            "items": [
                {"question_id": "1/../../evil", "title": "x"},
                {"question_id": True, "title": "x"},
                {"question_id": 1, "title": "", "excerpt": "x"},
                {
                    "question_id": 2,
                    "title": "A<script>alert(1)</script> <b>title</b>",
                    "excerpt": ["x"],
                    "owner": "me",
                    "tags": "one",
                    "score": "9",
                    "answer_id": "javascript:alert(1)",
                },
            ]
        },
        [
            {
                "url": "https://stackoverflow.com/q/2",
                "title": "A title",
                "description": "(question, [one])",
            }
        ],
        {"rows_seen": 4},
        id="stackexchange",
    ),
    pytest.param(
        "openverse",
        {},
        OPENVERSE,
        [{"title": "C", "image": None, "thumbnail": None, "attribution": ""}],
        {"rows_seen": 3},
        id="openverse",
    ),
    pytest.param(
        "openverse",
        {"category": Category.MUSIC},
        OPENVERSE,
        [{"media.audio_url": None, "media.seconds": None}],
        {},
        id="openverse, music",
    ),
    pytest.param(
        "sepiasearch",
        {},
        {
            "data": [
                {"name": "A", "url": "javascript:alert(1)"},
                {"name": {"x": 1}, "url": "https://b.example/"},
                {
                    "name": "C",
                    "url": "https://c.example/",
                    "embedUrl": "data:text/html,x",
                    "views": -1,
                    "duration": 1e300,
                    "account": [],
                    "licence": "CC0",
                    "thumbnailUrl": "//evil.example/x",
                    "description": "<img src=x onerror=x()>A <b>panda</b>",
                },
                "no video",
            ]
        },
        [{"title": "C", "description": "A panda", "thumbnail": None, "video": Video()}],
        {"rows_seen": 3},
        id="sepiasearch",
    ),
    pytest.param(
        "google",
        {},
        {
            "items": [
                {"link": "javascript:alert(1)", "title": "x"},
                {
                    "link": "https://a.example/",
                    "title": "A\u202e\x1b[31m <b>row</b>",
                    "pagemap": [],
                },
                {"link": 7},
                "row",
                {
                    "link": "https://b.example/",
                    "title": "B",
                    "pagemap": {"metatags": "x", "cse_thumbnail": [7]},
                },
            ],
            "queries": 7,
        },
        [{"url": "https://a.example/", "title": "A <b>row</b>"}, {"url": "https://b.example/"}],
        {},
        id="google",
    ),
]


@pytest.mark.parametrize(("name", "fields", "body", "hits", "rest"), HOSTILE)
def test_hostile_rows_become_text_or_nothing(read, name, fields, body, hits, rest):
    parsed = read(name, body, **fields)
    found = zip(parsed.hits, hits, strict=True)
    assert [{path: attrgetter(path)(hit) for path in each} for hit, each in found] == hits
    assert {field: getattr(parsed, field) for field in rest} == rest
