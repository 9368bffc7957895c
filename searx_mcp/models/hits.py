"""What one instance answered: the rows of one result page and what stands around them."""

from searx_mcp.models.base import Frozen


class Image(Frozen):
    """The fields of an image result.

    Attributes:
        url: the full image.
        resolution: as the engine wrote it, such as `1920 x 1080`; empty if unknown.
        format: such as `PNG`; empty if unknown.
        source: the site the image was found on, as the engine names it; empty if unknown.
    """

    url: str
    resolution: str = ""
    format: str = ""
    source: str = ""


class Hit(Frozen):
    """One row from one instance, cleaned.

    Attributes:
        url: an absolute http or https address.
        title: plain text, whitespace collapsed.
        description: the engine's snippet as plain text; may be empty.
        engines: the engines inside the instance that found it, sorted; empty if not told.
        position: its 1-based place in the instance's list.
        published_at: ISO 8601 date or date and time as far as known, or `None`.
        thumbnail: an absolute URL, or `None`.
        category: SearXNG's category of the row; may differ from the one asked for.
        template: SearXNG's row type without suffix: `default`, `images`, `videos` ...
        author: as the engine wrote it; empty if unknown.
        image: the image fields of an image result.
    """

    url: str
    title: str
    description: str = ""
    engines: tuple[str, ...] = ()
    position: int
    published_at: str | None = None
    thumbnail: str | None = None
    category: str = ""
    template: str = "default"
    author: str = ""
    image: Image | None = None


class Answer(Frozen):
    """A direct answer an instance gave above its results."""

    text: str
    url: str | None = None


class InfoboxLink(Frozen):
    """A named link of an infobox."""

    title: str
    url: str


class InfoboxAttribute(Frozen):
    """A labelled fact of an infobox."""

    label: str
    value: str


class Infobox(Frozen):
    """A box of facts about the thing searched for."""

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


class ResultPage(Frozen):
    """One result page of one instance, whatever format it came in.

    Attributes:
        hits: the rows in the instance's order.
        rows_seen: how many rows the page had; more than `len(hits)` means that some could not be
            used, and rows without any hit are a sign that the markup has changed.
        has_next: whether the page offers a next one; `None` if the format does not tell.
        formats: the formats the page offers besides HTML, such as `json`; `None` if not told.
        link_token: whether the page carries the limiter's token; `None` if the format does not tell.
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

    @property
    def is_useful(self) -> bool:
        """Whether the page holds anything a caller can use."""
        return bool(self.hits or self.answers or self.infoboxes)
