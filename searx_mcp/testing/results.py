"""Rows a fake instance finds: given by the test, or made up from the query."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from searx_mcp.models.hits import Hit, Image

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
    """One row of a fake instance, before it is put on a page.

    Attributes:
        url: the row's address, sent as it is.
        title: plain text; the address if empty.
        description: plain text; may be empty.
        engines: engines that found it.
        category: the only category it is found in; empty for whichever is asked for.
        published_at: ISO 8601 date and time, or `None`.
        thumbnail: an absolute URL, or `None`.
        author: plain text; may be empty.
        image: the image fields; a row of the category `images` without them gets the
            thumbnail, or the URL, as its image.

    Raises:
        ValueError: `published_at` is not ISO 8601.
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

    def __post_init__(self) -> None:
        if self.published_at is not None:
            datetime.fromisoformat(self.published_at)


def generate(
    text: str, category: str, *, count: int, links: Sequence[str] = ()
) -> list[FakeResult]:
    """Make up rows from a query; the same query and category always give the same rows.

    Args:
        text: the words searched for; they occur in every title and description.
        category: decides which fields a row has, and its host.
        count: how many rows; ignored when there are links.
        links: addresses of the rows, one row each; without them
            `https://docs.example.org/<words>/<n>`, other categories on a host of their own.
    """
    host = _HOSTS.get(category, f"{category.replace(' ', '-')}.example.org")
    urls = links or [f"https://{host}/{_slug(text)}/{n}" for n in range(1, count + 1)]
    return [_row(text, category, n, url) for n, url in enumerate(urls, start=1)]


def _row(text: str, category: str, n: int, url: str) -> FakeResult:
    pictures = f"https://pictures.example.org/{_slug(text)}/{n}"
    is_dated = category in {"news", "videos"}
    is_image = category == "images"
    # Neighbouring rows differ in how many engines found them, as on a real page.
    engines = ENGINES[: 1 + n % len(ENGINES)]
    return FakeResult(
        url=url,
        title=f"{_TITLES[n % len(_TITLES)].format(text)}, part {n}",
        description=f"{_SENTENCES[n % len(_SENTENCES)].format(text)} Row {n} of {category}.",
        engines=engines,
        category=category,
        published_at=(_EPOCH - timedelta(days=n)).isoformat() if is_dated else None,
        thumbnail=f"{pictures}-small.png" if is_dated or is_image else None,
        author="A. Writer" if is_dated else "",
        image=_picture(pictures) if is_image else None,
    )


def _picture(url: str) -> Image:
    return Image(
        url=f"{url}.png", resolution="1920 x 1080", format="PNG", source="pictures.example.org"
    )


def place(row: FakeResult, *, category: str, position: int) -> Hit:
    """Put a row on a page: what a parser should make of it."""
    category = row.category or category
    image = row.image
    if image is None and category == "images":
        image = Image(url=row.thumbnail or row.url)
    template = "images" if image else "videos" if category == "videos" else "default"
    return Hit(
        url=row.url,
        title=row.title or row.url,
        description=row.description,
        engines=tuple(sorted(row.engines)),
        position=position,
        published_at=row.published_at,
        thumbnail=row.thumbnail,
        category=category,
        template=template,
        author=row.author,
        image=image,
    )


def _slug(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    # A query without Latin letters or digits still needs an address of its own.
    return words or f"q{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
