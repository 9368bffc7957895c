"""Requests to fetch a page. Each field is also declared here as an argument of its tool."""

from typing import Annotated, Self, TypedDict

from pydantic import Field, model_validator

from searx_mcp.models import coercion as read
from searx_mcp.models.argument import Argument
from searx_mcp.models.base import Frozen
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.models.request import MAX_TIMEOUT, UNBOUNDED, WORDS
from searx_mcp.models.style import Images

MIN_CONTENT_LENGTH = 1_024
MAX_CONTENT_LENGTH = 10_485_760
USER_AGENT_PATTERN = r"^[\x20-\x7e]{1,256}$"
CURSOR_PATTERN = r"^([a-z2-7]{16})?$"
"""80 bits in the base32 alphabet (RFC 4648), which no model misspells."""
MIN_CHARS = 1
MAX_CHARS = 1_000_000
MAX_OFFSET = 100_000_000


class FetchRequest(Frozen):
    """One `web_fetch` call: an address, or a cursor of an earlier call.

    Attributes:
        further_urls: addresses that the caller named beside `url`; they are not read.
        by_person: whether a person asked for this very address. Models never set it.
        for_model: whether a model reads it, which gets passages instead of a summary.
    """

    url: Annotated[
        str,
        Field(max_length=MAX_URL_LENGTH),
        Argument(
            read.urls,
            "The public http or https address; with a cursor, used when it has expired.",
            schema={"default": None},
            names=("uri", "urls", "link"),
        ),
    ] = ""
    cursor: Annotated[
        str,
        Field(pattern=CURSOR_PATTERN),
        Argument(
            read.cursor,
            "Continues a page fetched earlier; sends no request.",
            "TEXT",
            schema={"description": "To continue"},
        ),
    ] = ""
    offset: Annotated[
        int,
        Field(ge=0, le=MAX_OFFSET),
        Argument(
            read.number,
            "Characters to skip.",
            "N",
            schema={"default": None, **UNBOUNDED},
            names=("start", "start_index"),
        ),
    ] = 0
    limit: Annotated[
        int | None,
        Field(ge=MIN_CHARS, le=MAX_CHARS),
        Argument(
            read.number,
            "Characters returned, instead of max_chars.",
            "N",
            schema=None,
        ),
    ] = None
    max_chars: Annotated[
        int | None,
        Field(ge=MIN_CHARS, le=MAX_CHARS),
        Argument(
            read.number,
            "Maximum characters returned, {ge} to {le:,}.",
            "N",
            schema={"description": "", **UNBOUNDED},
            names=("max_length", "max_characters"),
        ),
    ] = None
    section: Annotated[
        str,
        Field(max_length=300),
        Argument(
            read.text,
            "Only the section under this heading or #fragment, with its subsections.",
            "HEADING",
            schema={"description": "Heading or #fragment"},
        ),
    ] = ""
    prompt: Annotated[
        str,
        Field(max_length=2_000),
        Argument(
            read.text,
            "What you want to know; selects passages of a long page, never sent out.",
            "TEXT",
            schema={"description": WORDS},
        ),
    ] = ""
    images: Annotated[
        Images | None,
        Argument(
            read.choice({image.value: image for image in Images}, f"one of {', '.join(Images)}"),
            "How images appear: alt text (alt), links, inline or none.",
            "HOW",
            schema={"enum": [Images.LINKS, Images.INLINE]},
        ),
    ] = None
    force_refresh: Annotated[
        bool,
        Argument(read.boolean, "Fetch again even if a copy is kept.", schema={"default": None}),
    ] = False
    timeout: Annotated[
        float | None,
        Field(ge=5, le=MAX_TIMEOUT),
        Argument(
            read.seconds,
            "Seconds the whole call may take, {ge} to {le}.",
            "SECONDS",
            schema={"type": "integer", "description": "Seconds"},
        ),
    ] = None
    follow_redirects: Annotated[
        bool, Argument(read.boolean, "Follow redirects; otherwise return the redirect itself.")
    ] = True
    max_content_length: Annotated[
        int | None,
        Field(ge=MIN_CONTENT_LENGTH, le=MAX_CONTENT_LENGTH),
        Argument(
            read.size,
            "Maximum bytes to read, such as 2MB: {ge:,} to {le:,}.",
            "SIZE",
            schema={"description": "Bytes"},
        ),
    ] = None
    user_agent: Annotated[
        str | None,
        Field(pattern=USER_AGENT_PATTERN),
        Argument(
            read.user_agent, "User-Agent header to send; printable ASCII, at most 256.", "TEXT"
        ),
    ] = None
    ignore_robots: Annotated[
        bool,
        Argument(read.boolean, "Ignore robots.txt.", schema=None, by_person=True),
    ] = False
    further_urls: tuple[str, ...] = ()
    by_person: bool = False
    for_model: bool = False

    @model_validator(mode="after")
    def _check_aim(self) -> Self:
        if not (self.url or self.cursor):
            raise ValueError("give url or cursor")
        if self.ignore_robots and not self.by_person:
            raise ValueError("ignore_robots is for people only")
        return self


class FetchArguments(TypedDict, total=False):
    """The fields of a `FetchRequest` except its address, as keyword arguments; for type checkers."""

    cursor: str
    offset: int
    limit: int | None
    max_chars: int | None
    section: str
    prompt: str
    images: Images | str | None
    force_refresh: bool
    timeout: float | None
    follow_redirects: bool
    max_content_length: int | None
    user_agent: str | None
    by_person: bool
    ignore_robots: bool
