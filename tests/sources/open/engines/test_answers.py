"""What is read of each engine's answers as documented, down to the fields that only its rows have."""

from operator import attrgetter

import pytest

from searx_mcp.models.hits import Image, Link, Package, Place, Video
from searx_mcp.models.request import Category
from searx_mcp.sources.open.question import Identifier, IdentifierKind

FILES, MUSIC, VIDEOS = (
    {"category": category} for category in (Category.FILES, Category.MUSIC, Category.VIDEOS)
)
DOI = Identifier(IdentifierKind.DOI, "10.5555/example.2026.1(a)<b>")

# Engine, what a question has beside its words, the file of its answer, fields of its hits by path, and of the whole.
ANSWERS = [
    pytest.param(
        "arxiv", {}, "arxiv.xml",
        [
            {"url": "https://arxiv.org/abs/2611.00001", "title": "Counting red pandas with few examples",
             "description": "We count example pandas where $n < 10$ pictures are known. Our method is invented.",
             "template": "paper", "published_at": "2026-11-02T17:59:59+00:00",
             "paper.authors": ("Ada Example", "Bob Sample"), "paper.doi": "10.5555/example.2026.2",
             "paper.journal": "J. Ex. 12 (2026) 101", "paper.tags": ("cs.CV", "q-bio.PE"),
             "paper.comments": "12 pages, 3 figures", "paper.pdf_url": "https://arxiv.org/pdf/2611.00001v2"},
            {"url": "https://arxiv.org/abs/math/0000001"},
        ],
        {"rows_seen": 2, "has_next": True}, id="arxiv: entries are papers",
    ),
    pytest.param(
        "commons", {}, "commons.json",
        [
            {"title": "Red panda (example)",
             "url": "https://commons.wikimedia.org/wiki/File:Red_panda_(example).jpg", "template": "images",
             "author": "Ada Example", "description": "A red panda that was invented",
             "published_at": "2021-06-07T08:09:10+00:00",
             "thumbnail": "https://upload.wikimedia.org/wikipedia/commons/thumb/1/11/Red_panda_%28example%29.jpg/330px-Red_panda_%28example%29.jpg",
             "image.resolution": "4000 x 3000", "image.format": "image/jpeg", "image.size": "3.00 MiB",
             "attribution": "Red panda (example) by Ada Example, CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0)"},
            {"title": "Panda skull.v2", "attribution": "Panda skull.v2 by Unknown author, Public domain"},
        ],
        {"rows_seen": 2, "has_next": True}, id="commons: images come in the order of their rank with their licences",
    ),
    pytest.param(
        "commons", VIDEOS, "commons-video.json",
        [
            {"template": "videos", "video.length": "0:01:04", "video.seconds": 64.5,
             "video.embed_url": "https://upload.wikimedia.org/wikipedia/commons/2/22/Panda_eats.webm"},
        ],
        {"has_next": False}, id="commons: videos can be played",
    ),
    pytest.param(
        "commons", MUSIC, "commons-video.json",
        [
            {"template": "default", "video": None, "media.length": "0:01:04",
             "media.audio_url": "https://upload.wikimedia.org/wikipedia/commons/2/22/Panda_eats.webm"},
        ],
        {}, id="commons: sounds can be played",
    ),
    pytest.param(
        "commons", FILES, "commons-video.json",
        [
            {"template": "file", "file.filename": "Panda eats.webm", "file.size": "20.00 MiB",
             "file.mimetype": "video/webm"},
        ],
        {}, id="commons: other files have a name a size and a type",
    ),
    pytest.param(
        "crates", {}, "crates.json",
        [
            {"url": "https://crates.io/crates/red-panda", "title": "red-panda",
             "description": "Counts red pandas in a Vec<Panda>.", "template": "packages",
             "published_at": "2026-10-30T16:53:16+00:00", "package": Package(name="red-panda",
             version="1.2.0", popularity="12,345 downloads in 90 days", homepage="https://pandas.example/",
             source_url="https://github.com/example/red-panda",
             links=(Link(title="Documentation", url="https://docs.pandas.example/red-panda"),))},
            {"package": Package(name="bamboo", version="0.0.1-alpha", tags=("plant",),
             popularity="0 downloads in 90 days")},
        ],
        {"rows_seen": 2, "has_next": True}, id="crates: a crate has its stable version and its links",
    ),
    pytest.param(
        "crossref", {}, "crossref.json",
        [
            {"title": "Foraging of the example panda & its kin",
             "url": "https://doi.org/10.5555/example.2026.1",
             "description": "We followed example pandas for a year.", "template": "paper",
             "published_at": "2026-03-09",
             "paper.authors": ("Ada Example", "Bob Sample", "The Example Consortium"),
             "paper.journal": "Journal of Examples", "paper.volume": "12", "paper.number": "3",
             "paper.pages": "101-119", "paper.doi": "10.5555/example.2026.1", "paper.type": "journal-article",
             "paper.publisher": "Example Press", "paper.comments": "cited 7 times"},
            {"title": "Pandas in enclosures", "published_at": "2019"},
        ],
        {"rows_seen": 4, "has_next": True}, id="crossref: works are read without their components",
    ),
    pytest.param(
        "crossref", {"identifier": DOI}, "crossref-work.json",
        [
            {"title": "Foraging of the example panda", "published_at": "2026-03"},
        ],
        {"rows_seen": 1, "has_next": False}, id="crossref: the work of a doi is the only row",
    ),
    pytest.param(
        "europepmc", {}, "europepmc.json",
        [
            {"url": "https://europepmc.org/article/MED/90000001", "title": "A gene of the example panda",
             "description": "Background Pandas have genes. Results We invented one.", "template": "paper",
             "published_at": "2026-03-18", "paper.authors": ("Example A", "Sample BC", "Example Study Group"),
             "paper.journal": "Example genetics", "paper.volume": "8", "paper.number": "4",
             "paper.pages": "55-67", "paper.doi": "10.5555/example.2026.3", "paper.issn": ("0000-0001",),
             "paper.type": "research-article", "paper.tags": ("Genes", "Ailurus"),
             "paper.comments": "cited 5 times",
             "paper.pdf_url": "https://europepmc.org/articles/PMC9000001?pdf=render",
             "paper.html_url": "https://europepmc.org/articles/PMC9000001"},
            {"url": "https://europepmc.org/article/PPR/PPR900002", "paper.publisher": "exRxiv",
             "paper.type": "preprint"},
        ],
        {"rows_seen": 2}, id="europepmc: results are papers",
    ),
    pytest.param(
        "gdelt", {}, "gdelt.json",
        [
            {"title": 'The "red" panda: escaped, found, fed - Example News',
             "url": "https://news.example/2026/11/20/panda", "published_at": "2026-11-20T10:15:00+00:00",
             "thumbnail": "https://news.example/panda.jpg"},
            {"title": "Keeper's panda isn't lost (90% sure)", "thumbnail": None},
        ],
        {"rows_seen": 2}, id="gdelt: articles have titles as they were printed",
    ),
    pytest.param(
        "gdelt", {}, "gdelt-escapes.json",
        [
            {"title": "A panda's x path C:\\pandas & a tab here"},
        ],
        {}, id="gdelt: backslashes and controls that json does not allow are read over",
    ),
    pytest.param(
        "github", {}, "github.json",
        [
            {"url": "https://github.com/example/red-panda", "title": "example/red-panda",
             "description": "C++ / Counts red pandas in a std::vector<panda>",
             "published_at": "2026-11-02T10:20:30+00:00",
             "thumbnail": "https://avatars.githubusercontent.com/u/901?v=4", "template": "packages",
             "package": Package(name="red-panda", maintainer="example", licence="MIT License",
             licence_url="https://spdx.org/licenses/MIT.html", tags=("panda", "counting"), popularity="1234",
             homepage="https://pandas.example/", source_url="https://github.com/example/red-panda.git")},
            {"package.licence_url": None, "package.homepage": None, "description": ""},
        ],
        {"rows_seen": 2, "has_next": True}, id="github: a repository is a package",
    ),
    pytest.param(
        "github", {"aim": "issues"}, "github-issues.json",
        [
            {"url": "https://github.com/example/red-panda/issues/7",
             "title": "Segfault when a vector<panda> is empty",
             "description": "example/red-panda, closed, comments: 5. ### What happens `vector<panda>` is empty, and it crashes.",
             "author": "bob", "published_at": "2026-05-01T10:00:00+00:00", "template": "default",
             "package": None},
            {"description": "ada/bamboo, open, comments: 0."},
        ],
        {"rows_seen": 2, "has_next": False}, id="github: an issue is told without what no reader sees",
    ),
    pytest.param(
        "hackernews", {}, "hackernews.json",
        [
            {"url": "https://pandas.example/database", "title": "The red panda database & its examples",
             "description": "Hacker News: 123 points, 45 comments, https://news.ycombinator.com/item?id=90000001",
             "published_at": "2026-10-03T08:00:00+00:00", "author": "ada"},
            {},
        ],
        {}, id="hackernews: a story is the page it is about",
    ),
    pytest.param(
        "hackernews", {}, "hackernews.json",
        [
            {},
            {"url": "https://news.ycombinator.com/item?id=90000002",
             "title": "Ask HN: Who feeds your vector<panda>?",
             "description": "I have pandas. They sort a std::vector<int>. Hacker News: 3 points, 0 comments, https://news.ycombinator.com/item?id=90000002"},
        ],
        {}, id="hackernews: a story without an address is its own text",
    ),
    pytest.param(
        "hackernews", {}, "hackernews.json",
        [
            {},
            {},
        ],
        {"rows_seen": 3, "has_next": False}, id="hackernews: a story of few points is only counted",
    ),
    pytest.param(
        "huggingface", {}, "huggingface.json",
        [
            {"url": "https://huggingface.co/example/red-panda-7b", "title": "example/red-panda-7b",
             "description": "text-generation | transformers | downloads: 1,234,567 | likes: 1,200 | tags: transformers, safetensors, text-generation, en, license:apache-2.0",
             "published_at": "2026-05-26T09:12:25+00:00", "author": "example"},
            {"url": "https://huggingface.co/panda-base", "author": "",
             "description": "downloads: 7 | likes: 0"},
        ],
        {"rows_seen": 2, "has_next": None}, id="huggingface: a model is described by numbers and tags",
    ),
    pytest.param(
        "internetarchive", {}, "internetarchive.json",
        [
            {"url": "https://archive.org/details/example-panda-1967",
             "thumbnail": "https://archive.org/services/img/example-panda-1967",
             "description": "A film about a red panda. It is invented.", "template": "videos",
             "author": "Example Film Board", "published_at": "1967-01-01T00:00:00+00:00",
             "video.views": "1234", "video.embed_url": "https://archive.org/embed/example-panda-1967",
             "attribution": "The Red Panda: An Example by Example Film Board, CC BY-NC 3.0 (http://creativecommons.org/licenses/by-nc/3.0/us/)"},
            {"title": "Panda talk", "author": "Ada Example, Bob Sample, Carla Instance",
             "description": "Part one. Part two.",
             "attribution": "Panda talk by Ada Example, Bob Sample, Carla Instance, CC0 1.0 (http://creativecommons.org/publicdomain/zero/1.0/)"},
            {"template": "file", "file.size": "10.00 MiB", "file.embed_url": None,
             "published_at": "2001-05-01T00:00:00+00:00"},
            {"template": "images", "image": None, "attribution": ""},
        ],
        {"rows_seen": 4, "has_next": True}, id="internetarchive: items are read by their kind",
    ),
    pytest.param(
        "keenable", {}, "keenable.json",
        [
            {"title": "Red pandas, explained", "url": "https://pandas.example/guide",
             "description": "# Red pandas Red pandas live in examples. They eat bamboo.",
             "published_at": "2026-08-01T09:00:00+00:00"},
            {"description": "Toys, all red.", "published_at": None},
        ],
        {"rows_seen": 2}, id="keenable: results are described by text of the page",
    ),
    pytest.param(
        "musicbrainz", {}, "musicbrainz.json",
        [
            {"title": "Red Panda",
             "url": "https://musicbrainz.org/release-group/00000000-0000-4000-8000-0000000000a1",
             "author": "The Examples feat. Ada",
             "description": "Album by The Examples feat. Ada, Live, invented one, indie pop",
             "published_at": "1999-05-04"},
            {"title": "Red", "published_at": None},
        ],
        {"rows_seen": 3, "has_next": True}, id="musicbrainz: albums that fit badly are left out",
    ),
    pytest.param(
        "musicbrainz", {"aim": "artist"}, "musicbrainz-artist.json",
        [
            {"title": "The Examples",
             "description": "Group, United Kingdom, 1990 to 2001-02, invented band, doom metal, uk",
             "url": "https://musicbrainz.org/artist/00000000-0000-4000-8000-0000000000b1"},
            {"title": "Ada Panda", "description": "Person, since 1980"},
        ],
        {"has_next": False}, id="musicbrainz: artists are told by kind place and time",
    ),
    pytest.param(
        "musicbrainz", {"aim": "recording"}, "musicbrainz-recording.json",
        [
            {"url": "https://musicbrainz.org/recording/00000000-0000-4000-8000-0000000000e1",
             "description": "Recording by The Examples, on Red Panda", "media.length": "0:03:33",
             "media.seconds": 212.96, "author": "The Examples", "published_at": "1999"},
        ],
        {}, id="musicbrainz: recordings have a length",
    ),
    pytest.param(
        "npm", {}, "npm.json",
        [
            {"url": "https://packages.example/package/@example/red-panda", "title": "@example/red-panda",
             "description": "Counts red pandas", "template": "packages",
             "published_at": "2026-10-30T16:53:16+00:00", "package": Package(name="@example/red-panda",
             version="2.1.0", maintainer="ada", licence="MIT", tags=("panda", "example"),
             popularity="1,234,567 downloads a month", homepage="https://pandas.example/",
             source_url="https://github.com/example/red-panda.git",
             links=(Link(title="Issues", url="https://github.com/example/red-panda/issues"),))},
            {"title": "bamboo", "url": "https://github.com/ada/bamboo"},
        ],
        {"rows_seen": 2, "has_next": True}, id="npm: a package has its version and its links",
    ),
    pytest.param(
        "openverse", {}, "openverse.json",
        [
            {"title": "Red panda on a branch", "url": "https://photos.example/people/ada/1",
             "template": "images", "author": "Ada Example", "description": "red panda, zoo",
             "thumbnail": "https://api.openverse.org/v1/images/00000000-0000-4000-8000-000000000001/thumb/",
             "image": Image(url="https://live.photos.example/1_b.jpg", resolution="1024 x 683", format="jpg",
             source="flickr", size="1.50 MiB"),
             "attribution": '"Red panda on a branch" by Ada Example is licensed under CC BY 2.0. To view a copy of this license, visit https://creativecommons.org/licenses/by/2.0/.'},
            {"image.resolution": "",
             "attribution": "Panda, drawn, CC0 1.0 (https://creativecommons.org/publicdomain/zero/1.0/)"},
        ],
        {"rows_seen": 2, "has_next": True}, id="openverse: images are read with their licences",
    ),
    pytest.param(
        "openverse", MUSIC, "openverse-audio.json",
        [
            {"template": "default", "image": None, "media.length": "0:03:33", "media.seconds": 213.4,
             "media.audio_url": "https://music.example/3.mp3"},
        ],
        {"has_next": False}, id="openverse: sounds can be played",
    ),
    pytest.param(
        "photon", {}, "photon.json",
        [
            {"url": "https://www.openstreetmap.org/relation/9001", "title": "Panda Town",
             "description": "city: Bamboo County, Example State, Exampleland", "template": "map",
             "place": Place(latitude=52.5, longitude=13.4, bounding_box=(52.3, 52.7, 13.1, 13.8),
             name="Panda Town", country="Exampleland", osm_type="relation", osm_id=9001)},
            {"url": "https://www.openstreetmap.org/way/9002", "title": "Red Panda House",
             "description": "zoo: Bamboo Street 7a, 01234 Panda Town, Old Town, Example State, Exampleland",
             "place": Place(latitude=52.51, longitude=13.41, name="Red Panda House", road="Bamboo Street",
             house_number="7a", locality="Panda Town", postcode="01234", country="Exampleland",
             osm_type="way", osm_id=9002)},
            {"url": "https://www.openstreetmap.org/node/9003", "title": "Bamboo Street 8",
             "description": "house: 01234 Panda Town, Exampleland"},
        ],
        {"rows_seen": 3, "has_next": None}, id="photon: a place has its address and its edges",
    ),
    pytest.param(
        "sepiasearch", {}, "sepiasearch.json",
        [
            {"title": "Red panda, filmed for an example",
             "url": "https://tube.example/videos/watch/00000000-0000-4000-8000-000000000011",
             "description": "A **red panda** eats. Nothing else happens.", "template": "videos",
             "author": "Ada Example", "published_at": "2026-05-01T10:30:00+00:00",
             "thumbnail": "https://tube.example/lazy-static/thumbnails/11.jpg",
             "video": Video(length="1:02:05", seconds=3725.0, views="321",
             embed_url="https://tube.example/videos/embed/11"),
             "attribution": "Red panda, filmed for an example by Ada Example, Attribution"},
            {"attribution": "", "video.length": "", "video.seconds": None,
             "thumbnail": "https://tube.example/lazy-static/previews/12.jpg"},
        ],
        {"rows_seen": 2, "has_next": True}, id="sepiasearch: videos are read with length views and licence",
    ),
    pytest.param(
        "stackexchange", {}, "stackexchange.json",
        [
            {"url": "https://stackoverflow.com/q/9000001#9000012",
             "title": 'How do I sort a "std::vector<panda>" by colour?',
             "description": "Call std::vector<panda> with a red one. … (answer, accepted, score: 57, [c++], [panda], [examples])",
             "published_at": "2026-05-28T20:26:40+00:00",
             "attribution": 'How do I sort a "std::vector<panda>" by colour? by users on stackoverflow.com, CC BY-SA'},
            {"url": "https://stackoverflow.com/q/9000002",
             "description": "Nothing grows on my example. (question, answers: 0, score: -2, [bamboo])",
             "author": "Ada & Example",
             "attribution": "Why does bamboo not compile? by Ada & Example on stackoverflow.com, CC BY-SA"},
        ],
        {"rows_seen": 3, "has_next": True, "pause": None}, id="stackexchange: of a question the best row stays",
    ),
    pytest.param(
        "stackexchange", {}, "stackexchange-backoff.json",
        [
            {},
        ],
        {"has_next": False, "pause": 10.0}, id="stackexchange: a backoff is a pause",
    ),
    pytest.param(
        "wikipedia", {}, "wikipedia.json",
        [
            {"title": "Example panda", "url": "https://en.wikipedia.org/wiki/Example_panda",
             "description": "The example panda (Ailurus exempli) is an invented mammal. It lives in examples.",
             "thumbnail": "https://upload.wikimedia.org/example-320px.jpg", "engines": ("wikipedia",),
             "position": 1},
            {"title": "Example bear", "position": 2},
        ],
        {"rows_seen": 2, "has_next": True}, id="wikipedia: articles come in the order of their rank",
    ),
    pytest.param(
        "brave", {}, "brave.json",
        [
            {"url": "https://pandas.example/red", "title": "Red panda & others",
             "description": "The red panda lives in the eastern Himalayas.",
             "published_at": "2026-10-30T16:53:16", "author": "Pandas", "engines": ("brave",),
             "thumbnail": "https://imgs.example/t.jpg"},
            {"title": "Firefox", "published_at": None},
        ],
        {"rows_seen": 2, "has_next": True}, id="brave: an answer is read",
    ),
    pytest.param(
        "google", {}, "google.json",
        [
            {"url": "https://pandas.example/red", "title": "Red panda - Pandas & others",
             "description": "Oct 30, 2026 ... The red panda lives in the eastern Himalayas.",
             "published_at": "2026-10-30T16:53:16+00:00", "engines": ("google",),
             "thumbnail": "https://thumbs.example/red.jpg"},
            {"published_at": None, "thumbnail": None},
        ],
        {"rows_seen": 2, "has_next": True}, id="google: an answer is read",
    ),
    pytest.param(
        "huggingface", {"aim": "datasets"}, "huggingface-datasets.json",
        [
            {"url": "https://huggingface.co/datasets/example/red-pandas",
             "description": "Red pandas A thousand sentences about pandas. See the full description on the dataset page. | downloads: 321 | likes: 12 | tags: task_categories:text-classification, size_categories:1K<n<10K, format:csv",
             "published_at": "2025-05-26T09:12:25+00:00", "author": "example"},
        ],
        {}, id="huggingface: a data set has a page below its kind",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "fields", "file", "hits", "rest"), ANSWERS)
def test_an_answer_as_documented_is_read(read, answer, name, fields, file, hits, rest):
    parsed = read(name, answer(file), **fields)
    found = zip(parsed.hits, hits, strict=True)
    assert [{path: attrgetter(path)(hit) for path in each} for hit, each in found] == hits
    assert {field: getattr(parsed, field) for field in rest} == rest
