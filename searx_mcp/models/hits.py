"""What one instance answered: the rows of one result page and what stands around them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from searx_mcp.models.base import Frozen
from searx_mcp.models.templates import (
    Code,
    Fact,
    File,
    Image,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)


class Hit(NamedTuple):
    """One row from one instance, cleaned.

    A tuple and not a model: a page has many, and they are made of values already checked.

    Attributes:
        url: an absolute http or https address.
        title: plain text, whitespace collapsed.
        position: its 1-based place in the instance's list.
        description: the engine's snippet as plain text; may be empty.
        engines: the engines inside the instance that found it, sorted; empty if not told.
        published_at: ISO 8601 date or date and time as far as known, or `None`.
        published_text: the time in the instance's words where they tell no date, such as
            `5 minute(s) ago`.
        thumbnail: an absolute URL, or `None`.
        category: SearXNG's category of the row; may differ from the one asked for.
        template: SearXNG's row type without suffix: `default`, `images`, `videos` ...
        author: as the engine wrote it; empty if unknown.
        image, video, media, torrent, place, paper, package, code, file, product, facts: the fields
            of the row's template; the one that belongs to it at most.
        attribution: what the licence of the thing found asks to be said with it; empty if nothing.
    """

    url: str
    title: str
    position: int
    description: str = ""
    engines: tuple[str, ...] = ()
    published_at: str | None = None
    published_text: str = ""
    thumbnail: str | None = None
    category: str = ""
    template: str = "default"
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
    attribution: str = ""


class Answer(Frozen):
    """A direct answer an instance gave above its results.

    Attributes:
        details: of a weather report its measures and forecasts, of a translation what belongs to
            each word.
    """

    text: str
    url: str | None = None
    details: tuple[Fact, ...] = ()


class InfoboxLink(Frozen):
    """A named link of an infobox."""

    title: str
    url: str


class InfoboxAttribute(Frozen):
    """A labelled fact of an infobox."""

    label: str
    value: str


class Infobox(Frozen):
    """A box of facts about the thing searched for.

    A table among the rows that has no address of its own is one too.
    """

    title: str
    content: str = ""
    image: str | None = None
    links: tuple[InfoboxLink, ...] = ()
    attributes: tuple[InfoboxAttribute, ...] = ()
    engine: str = ""


class UnresponsiveEngine(Frozen):
    """An engine inside an instance that did not answer, and the instance's reason."""

    engine: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """One result page of one instance, whatever format it came in.

    Attributes:
        hits: the rows in the instance's order.
        rows_seen: how many rows the page had; more than `len(hits)` means that some could not be
            used, and rows without any hit are a sign that the markup has changed.
        has_next: whether the page offers a next one; `None` if the format does not tell.
        formats: the formats the page offers besides HTML, such as `json`; `None` if not told.
        link_token: whether the page carries the limiter's token; `None` if the format does not tell.
        timings: how many seconds each engine took, as far as the instance tells.
    """

    hits: tuple[Hit, ...] = ()
    rows_seen: int = 0
    answers: tuple[Answer, ...] = ()
    infoboxes: tuple[Infobox, ...] = ()
    suggestions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    unresponsive_engines: tuple[UnresponsiveEngine, ...] = ()
    has_next: bool | None = None
    formats: tuple[str, ...] | None = None
    link_token: bool | None = None
    timings: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_useful(self) -> bool:
        """Whether the page holds anything a caller can use."""
        return bool(self.hits or self.answers or self.infoboxes)
