"""Answers of services as an adapter gets them."""

import json
from collections.abc import Callable

import pytest
from yarl import URL

from searx_mcp.content.document import Document
from searx_mcp.fetch.config import TierName
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import parse_content_type
from searx_mcp.fetch.site_adapters.adapter import Composed, Plan
from searx_mcp.fetch.site_adapters.sites import adapters
from searx_mcp.http.body import Body


@pytest.fixture
def answer() -> Callable[..., ReceivedPage]:
    """Make an answer of text or bytes, or of anything JSON can hold."""

    def make(body: object, *, media: str = "", is_truncated: bool = False) -> ReceivedPage:
        if isinstance(body, bytes):
            data = body
        elif isinstance(body, str):
            data = body.encode()
        else:
            data = json.dumps(body).encode()
        is_text = isinstance(body, str | bytes)
        declared = media or ("text/plain; charset=utf-8" if is_text else "application/json")
        return ReceivedPage(
            url="https://site.example/file",
            status=200,
            headers={},
            media=parse_content_type(declared),
            body=Body(data, truncated=is_truncated),
        )

    return make


@pytest.fixture
def plan() -> Callable[[str], Plan | None]:
    """Ask all adapters about an address; at most one may know it."""
    known = adapters(TierName)

    def ask(url: str) -> Plan | None:
        plans = [found for adapter in known if (found := adapter(URL(url))) is not None]
        assert len(plans) <= 1
        return plans[0] if plans else None

    return ask


@pytest.fixture
def read(
    plan: Callable[[str], Plan | None], answer: Callable[..., ReceivedPage]
) -> Callable[..., Document]:
    """Compose the page of an address out of bodies; `None` stands for one that was not had."""

    def make(url: str, *bodies: object) -> Document:
        found = plan(url)
        assert found is not None
        assert len(bodies) == len(found.sources)
        answers = (
            body if body is None or isinstance(body, ReceivedPage) else answer(body)
            for body in bodies
        )
        composed = found.compose(list(answers))
        assert isinstance(composed, Composed)
        return composed.document

    return make
