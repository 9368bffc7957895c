"""Rows that a fake instance finds: set by the test, or generated from the query."""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from searx_mcp.models.hits import (
    TEMPLATE_FIELDS,
    Code,
    Fact,
    File,
    Hit,
    Image,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.render.searxng_fields import TEMPLATES

ENGINES = ("alpha", "beta", "gamma")

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_HOSTS = {"general": "docs.example.org"}
_TITLES = ("An introduction to {}", "{} explained", "{}: a practical guide", "Notes on {}")
_SENTENCES = (
    "What {} is, where it came from and what it is good for.",
    "A worked example of {} with figures, step by step.",
    "Common questions about {} and short answers to them.",
)


@dataclass(frozen=True, slots=True)
class FakeResult:
    """One row of a fake instance, before it is placed on a page.

    Attributes:
        url: the row's address, sent unchanged; empty for a table of facts without one.
        title: plain text; the address if empty.
        description: plain text; may be empty.
        engines: engines that found it.
        category: the only category in which it is found; empty for any requested one.
        published_at: ISO 8601 date and time, or `None`.
        thumbnail: an absolute URL, or `None`.
        author: plain text; may be empty.
        image: the image fields; a row of the category `images` without them gets the
            thumbnail, or the URL, as its image.
        video, media, torrent, place, paper, package, code, file, product, facts: fields of rows of
            one kind; at most one of them and `image`. It determines the row's template.

    Raises:
        ValueError: `published_at` is not ISO 8601, or the row is of several kinds.
    """

    url: str
    title: str = ""
    description: str = ""
    engines: tuple[str, ...] = ENGINES[:1]
    category: str = ""
    published_at: str | None = None
    thumbnail: str | None = None
    author: str = ""
    image: Image | None = None
    video: Video | None = None
    media: Media | None = None
    torrent: Torrent | None = None
    place: Place | None = None
    paper: Paper | None = None
    package: Package | None = None
    code: Code | None = None
    file: File | None = None
    product: Product | None = None
    facts: tuple[Fact, ...] | None = None

    def __post_init__(self) -> None:
        kinds = [name for name in TEMPLATE_FIELDS if getattr(self, name) is not None]
        if len(kinds) > 1:
            raise ValueError(f"a row is of one kind, not {' and '.join(kinds)}")
        if self.published_at is not None:
            datetime.fromisoformat(self.published_at)


def generate(
    text: str, category: str, *, count: int, links: Sequence[str] = ()
) -> list[FakeResult]:
    """Generate rows from a query; the same query and category always produce the same rows.

    Args:
        text: the search terms; they occur in every title and description.
        category: determines the row's fields, and its host.
        count: number of rows; ignored when there are links.
        links: addresses of the rows, one row each; without them
            `https://docs.example.org/<words>/<n>`, with a separate host for each other category.
    """
    host = _HOSTS.get(category, f"{category.replace(' ', '-')}.example.org")
    urls = links or [f"https://{host}/{_slug(text)}/{n}" for n in range(1, count + 1)]
    return [_row(text, category, n, url) for n, url in enumerate(urls, start=1)]


def _row(text: str, category: str, n: int, url: str) -> FakeResult:
    pictures = f"https://pictures.example.org/{_slug(text)}/{n}"
    is_dated = category in {"news", "videos"}
    # Neighbouring rows differ in how many engines found them, as on a real page.
    engines = ENGINES[: 1 + n % len(ENGINES)]
    return FakeResult(
        url=url,
        title=f"{_TITLES[n % len(_TITLES)].format(text)}, part {n}",
        description=f"{_SENTENCES[n % len(_SENTENCES)].format(text)} Row {n} of {category}.",
        engines=engines,
        category=category,
        published_at=(_EPOCH - timedelta(days=n)).isoformat() if is_dated else None,
        thumbnail=f"{pictures}-small.png" if is_dated or category == "images" else None,
        author="A. Writer" if is_dated else "",
        **_details(category, n, pictures if category == "images" else url),
    )


def _details(category: str, n: int, url: str) -> dict[str, Any]:
    """Return fields that only rows of this category have; two kinds alternate in `files` and in `it`."""
    kinds = _KINDS.get(category)
    if kinds is None:
        return {}
    name, make = kinds[n % len(kinds)]
    return {name: make(n, url)}


def _picture(_: int, url: str) -> Image:
    return Image(
        url=f"{url}.png",
        resolution="1920 x 1080",
        format="PNG",
        source="pictures.example.org",
        size="1.2 MB",
    )


def _place(n: int, _: str) -> Place:
    return Place(
        latitude=52.5,
        longitude=13.4,
        bounding_box=(52.0, 53.0, 13.0, 14.0),
        name=f"Place {n}",
        road="Main Street",
        house_number=str(n),
        locality="Town",
        postcode="12345",
        country="Country",
        osm_type="node",
        osm_id=n,
    )


def _paper(n: int, url: str) -> Paper:
    return Paper(
        authors=("A. One", "B. Two"),
        journal="Journal of Examples",
        volume="3",
        number=str(n),
        pages="1-9",
        doi=f"10.5555/{n}",
        pdf_url=f"{url}.pdf",
    )


def _torrent(n: int, url: str) -> Torrent:
    return Torrent(
        seeds=10 * n,
        leeches=n,
        size="1.5 GiB",
        files=2,
        magnet=f"magnet:?xt=urn:btih:{n:040x}",
        torrent_url=f"{url}.torrent",
    )


def _code(n: int, url: str) -> Code:
    lines = ((n, "def answer():"), (n + 1, "    return 42"))
    return Code(repository=url, filename="answer.py", language="python", lines=lines)


def _package(n: int, url: str) -> Package:
    return Package(name=f"package-{n}", version=f"1.{n}", licence="MIT", homepage=url)


def _video(_: int, url: str) -> Video:
    return Video(length="0:45:32", seconds=2732.0, views="1.2K", embed_url=f"{url}/embed")


def _media(_: int, url: str) -> Media:
    return Media(length="3:46", seconds=226.0, audio_url=f"{url}.mp3")


def _file(n: int, url: str) -> File:
    return File(filename=f"{n}.pdf", size="4.2 MB", mimetype="application/pdf", embed_url=url)


_KINDS: Final[Mapping[str, Sequence[tuple[str, Callable[[int, str], object]]]]] = {
    "images": [("image", _picture)],
    "videos": [("video", _video)],
    "music": [("media", _media)],
    "map": [("place", _place)],
    "science": [("paper", _paper)],
    "files": [("torrent", _torrent), ("file", _file)],
    "it": [("package", _package), ("code", _code)],
}


def place(row: FakeResult, *, category: str, position: int) -> Hit:
    """Place a row on a page: the result that a parser should produce."""
    category = row.category or category
    details = {name: value for name in TEMPLATE_FIELDS if (value := getattr(row, name)) is not None}
    if not details and category == "images":
        details = {"image": Image(url=row.thumbnail or row.url)}
    template = next((TEMPLATES[name] for name in details), "default")
    return Hit(
        url=row.url,
        title=row.title or row.url,
        description=row.description,
        engines=tuple(sorted(row.engines)),
        position=position,
        published_at=row.published_at,
        thumbnail=row.thumbnail,
        category=category,
        template="videos" if category == "videos" and not details else template,
        author=row.author,
        **details,
    )


def _slug(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    # A query without Latin letters or digits still needs its own address.
    return words or f"q{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
