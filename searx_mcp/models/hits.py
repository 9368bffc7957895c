"""Answers of one instance: the rows of one result page and everything around them.

Each kind of row has its own fields, those of SearXNG's result templates; fields that any row may have, such
as author, date and thumbnail, are on the row itself. Texts are plain, on one line and empty if unknown;
numbers and addresses are `None` if unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from searx_mcp.models.base import Frozen


class Fact(Frozen):
    """A labelled value."""

    label: str
    value: str


class Link(Frozen):
    """A named http or https address."""

    title: str
    url: str


class Image(Frozen):
    """The fields of an image result.

    Attributes:
        url: the full image.
        resolution: as the engine wrote it, such as `1920 x 1080`; empty if unknown.
        format: such as `PNG`; empty if unknown.
        source: the site the image was found on, as the engine names it; empty if unknown.
        size: file size as the engine wrote it, such as `1.2 MB`; empty if unknown.
    """

    url: str
    resolution: str = ""
    format: str = ""
    source: str = ""
    size: str = ""


class Video(Frozen):
    """The fields of a video result.

    Attributes:
        length: as the instance shows it, such as `0:45:32`.
        seconds: the same as a number, if the text is a duration.
        views: as the engine wrote it, such as `1.2K`.
        embed_url: the player alone, without the page around it.
    """

    length: str = ""
    seconds: float | None = None
    views: str = ""
    embed_url: str | None = None


class Media(Frozen):
    """Audio or video of a row without its own template; mostly music.

    Attributes:
        length, seconds: as in `Video`.
        embed_url: the player alone, without the page around it.
        audio_url: the audio itself.
    """

    length: str = ""
    seconds: float | None = None
    embed_url: str | None = None
    audio_url: str | None = None


class Torrent(Frozen):
    """The fields of a torrent result.

    Attributes:
        seeds, leeches: how many peers have all of it, and how many are still downloading.
        size: such as `1.5 GiB`.
        files: how many files it contains.
        magnet: a `magnet:` address.
        torrent_url: the torrent file.
    """

    seeds: int | None = None
    leeches: int | None = None
    size: str = ""
    files: int | None = None
    magnet: str | None = None
    torrent_url: str | None = None


class Place(Frozen):
    """The fields of a map result.

    Attributes:
        latitude, longitude: degrees, WGS 84.
        bounding_box: south, north, west and east edge in degrees, the order of OpenStreetMap.
        name, road, house_number, locality, postcode, country: the address.
        osm_type, osm_id: the object in OpenStreetMap, such as `node` and 1; JSON only.
        facts: phone number, opening hours and the like.
        links: websites and profiles.
    """

    latitude: float | None = None
    longitude: float | None = None
    bounding_box: tuple[float, float, float, float] | None = None
    name: str = ""
    road: str = ""
    house_number: str = ""
    locality: str = ""
    postcode: str = ""
    country: str = ""
    osm_type: str = ""
    osm_id: int | None = None
    facts: tuple[Fact, ...] = ()
    links: tuple[Link, ...] = ()


class Paper(Frozen):
    """The fields of a scientific publication.

    Attributes:
        authors: in the order of the publication.
        volume, number, pages: where in the journal.
        type: such as `article`.
        comments: the engine's remark.
        pdf_url, html_url: the full text.
    """

    authors: tuple[str, ...] = ()
    journal: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    editor: str = ""
    publisher: str = ""
    doi: str = ""
    issn: tuple[str, ...] = ()
    isbn: tuple[str, ...] = ()
    type: str = ""
    tags: tuple[str, ...] = ()
    comments: str = ""
    pdf_url: str | None = None
    html_url: str | None = None


class Package(Frozen):
    """The fields of a software package.

    Attributes:
        popularity: stars, downloads or another count, as the engine wrote it.
        licence_url: text of the licence.
        links: more pages of the project.
    """

    name: str = ""
    version: str = ""
    maintainer: str = ""
    licence: str = ""
    licence_url: str | None = None
    tags: tuple[str, ...] = ()
    popularity: str = ""
    homepage: str | None = None
    source_url: str | None = None
    links: tuple[Link, ...] = ()


class Code(Frozen):
    """The fields of a code result.

    Attributes:
        repository: its address, or its name where the engine gives no address.
        language: name of a Pygments lexer; JSON only.
        lines: number and text of each matching line and those around it.
    """

    repository: str = ""
    filename: str = ""
    language: str = ""
    lines: tuple[tuple[int, str], ...] = ()


class File(Frozen):
    """The fields of a file result.

    Attributes:
        size, time: as the engine wrote them.
        mimetype: such as `audio/mpeg`.
        abstract: the engine's text besides the description.
        embed_url: the file itself, to play or download.
    """

    filename: str = ""
    size: str = ""
    time: str = ""
    mimetype: str = ""
    abstract: str = ""
    embed_url: str | None = None


class Product(Frozen):
    """The fields of a product, as the shop wrote them."""

    price: str = ""
    shipping: str = ""
    source_country: str = ""


TEMPLATE_FIELDS: Final = (
    "image", "video", "media", "torrent", "place", "paper", "package", "code", "file", "product",
    "facts",
)  # fmt: skip
"""The fields of a row that hold these values; at most one is set."""


class Hit(NamedTuple):
    """One row from one instance, cleaned.

    A tuple, not a model: a page has many, and their values have already been checked.

    Attributes:
        url: an absolute http or https address.
        title: plain text, whitespace collapsed.
        position: its 1-based place in the instance's list.
        description: the engine's snippet as plain text; may be empty.
        engines: the engines inside the instance that found it, sorted; empty if unknown.
        published_at: ISO 8601 date or date and time as far as known, or `None`.
        published_text: the time in the instance's words if they do not contain a date, such as
            `5 minute(s) ago`.
        thumbnail: an absolute URL, or `None`.
        category: SearXNG's category of the row; may differ from the requested one.
        template: SearXNG's row type without suffix: `default`, `images`, `videos` ...
        author: as the engine wrote it; empty if unknown.
        image, video, media, torrent, place, paper, package, code, file, product, facts: the fields
            of the row's template; at most one is set.
        attribution: the credit that the licence requires; empty if none.
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
    """A direct answer that an instance gave above its results.

    Attributes:
        details: measurements and forecasts of a weather report, or a translation's notes on each word.
    """

    text: str
    url: str | None = None
    details: tuple[Fact, ...] = ()


class Infobox(Frozen):
    """A box of facts about the subject of the search.

    A table among the rows without its own address also becomes one.
    """

    title: str
    content: str = ""
    image: str | None = None
    links: tuple[Link, ...] = ()
    attributes: tuple[Fact, ...] = ()
    engine: str = ""


class UnresponsiveEngine(Frozen):
    """An engine inside an instance that did not answer, and the instance's reason."""

    engine: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """One result page of one instance, in any format.

    Attributes:
        hits: the rows in the instance's order.
        rows_seen: how many rows the page had; more than `len(hits)` means that some could not be
            used, and rows without any hit suggest that the markup has changed.
        has_next: whether there is a next page; `None` if the format does not say.
        formats: the formats the page offers besides HTML, such as `json`; `None` if unknown.
        link_token: whether the page carries the limiter's token; `None` if the format does not say.
        timings: seconds that each engine took, as far as the instance says.
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
        """Whether the page has anything a caller can use."""
        return bool(self.hits or self.answers or self.infoboxes)
