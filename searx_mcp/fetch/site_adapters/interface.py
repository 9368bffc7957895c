"""What a tier is: another, better readable source of the same page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from yarl import URL

from searx_mcp.fetch.hops.media import MediaType


@dataclass(frozen=True, slots=True)
class Source:
    """One address a tier wants to be fetched.

    It passes the same policy, robots.txt, limits and guard as an address that a caller gave.

    Attributes:
        url: absolute.
        accept: the Accept header; the usual one if empty.
        headers: further headers, sent to this origin only and never after a redirect elsewhere.
        is_required: whether the tier gives up when it cannot be had.
    """

    url: str
    accept: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Material:
    """What a source gave.

    Attributes:
        url: after redirects.
        status: of the answer, 200 to 299.
        media: declared, or found by looking at the body.
        data: decoded bytes of the body.
        is_truncated: whether the body was cut.
        headers: of the answer, by name in any case.
        was_late: whether it was the deadline that cut it.
    """

    url: str
    media: MediaType
    data: bytes
    is_truncated: bool
    headers: Mapping[str, str]
    status: int = 200
    was_late: bool = False


@dataclass(frozen=True, slots=True)
class Composed:
    """A page made of materials; its texts are cleaned by whoever asked for it.

    Attributes:
        markdown: the whole of it.
        title, description, author, published, modified, language: as in `models.page.Page`.
        content_type: of the text that was read, such as `text/x-python`.
        is_truncated: whether something of it is missing at its end.
        notes: sentences a caller should know.
    """

    markdown: str
    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    content_type: str = "text/markdown"
    is_truncated: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AsPage:
    """A material to be read like any page: an HTML file, a PDF, a feed."""

    material: Material


Compose = Callable[[Sequence[Material | None]], Composed | AsPage]
"""Makes the page of what the sources gave, in their order; `None` stands for one that is not
required and could not be had. Pure; it runs in a thread. It raises `ValueError` or `ContentError`
when the materials are not what the documentation of their service promises."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a tier reads one address.

    Attributes:
        tier: its name in the response, such as `github`.
        sources: fetched side by side.
        compose: makes the page of them.
    """

    tier: str
    sources: tuple[Source, ...]
    compose: Compose


class Tier(Protocol):
    """Knows the addresses of one kind of site."""

    def plan(self, url: URL) -> Plan | None:
        """How to read an address, its fragment included, or `None` if it is not of this kind.

        Pure. A tier that cannot keep its promise is passed over: the page itself is read then.
        """
        ...
