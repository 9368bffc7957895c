"""A whole answer as a fixture."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from searx_mcp.searxng.classify import Received
from searx_mcp.searxng.scrub.html_text import scrub_html
from searx_mcp.searxng.scrub.json_text import scrub_json
from searx_mcp.searxng.scrub.mask import Mask

MAX_BODY: Final = 1_048_576
"""Bytes of a body that are kept; the largest page measured has 0.2 MB."""

_HEADERS: Final = (
    "content-type", "content-encoding", "date", "retry-after", "server", "server-timing",
    "cf-mitigated",
)  # fmt: skip
_REFUSAL: Final = b"Too Many Requests"
"""The whole body of a 429 of SearXNG's limiter."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """One answer without query and address.

    Attributes:
        status: the HTTP status.
        headers: those that say something of the answer, by lower-case name.
        body: the masked body, to be read with `searx_mcp.searxng.scrub.mask.INSTANCE` as the base.
        kind: `html`, `json` or `txt`.
    """

    status: int
    headers: Mapping[str, str]
    body: str
    kind: str


def scrub(received: Received, *, mask: Mask) -> Fixture:
    """Make a fixture of an answer.

    Args:
        received: the answer as it came.
        mask: knows the query and the instance.
    """
    given = {name.lower(): value for name, value in received.headers.items()}
    headers: dict[str, str] = {name: mask.name(given[name]) for name in _HEADERS if name in given}
    if "location" in given:
        headers["location"] = mask.address(given["location"])
    body, kind = _body(received.body[:MAX_BODY], mask)
    return Fixture(received.status, headers, body, kind)


def _body(body: bytes, mask: Mask) -> tuple[str, str]:
    if body.strip() == _REFUSAL:
        return _REFUSAL.decode(), "txt"
    text = body.decode("utf-8-sig", "replace")
    if text.lstrip().startswith("<"):
        return scrub_html(text, mask), "html"
    if text.lstrip().startswith(("{", "[")):
        return scrub_json(text, mask), "json"
    return mask.text(text), "txt"
