"""A service whose pages have all fields, behind the routes of other projects."""

import pytest
from typing_extensions import override

from searx_mcp.errors import ErrorCode, FetchError
from searx_mcp.models.page import Page, PageImage, PageLink, Passage
from searx_mcp.settings.server import HttpConfig
from tests.server.rest.conftest import Known, open_rest, rest

__all__ = ["open_rest", "rest"]

TOKEN = "0123456789abcdef"
AGE = 100
"""Seconds that a kept page has."""


class Pages(Known):
    """Knows every page but those with `missing` in their address, and keeps them all.

    Attributes:
        length: characters of a page that are given, at most.
    """

    length = 1_000

    @override
    async def fetch(self, request, /, *, progress=None) -> Page:
        cut = request.model_copy(update={"max_chars": min(request.max_chars, self.length)})
        page: Page = await super().fetch(cut, progress=progress)
        if "missing" in request.url:
            raise FetchError("The page does not exist", code=ErrorCode.NOT_FOUND, url=request.url)
        if "nowhere" in request.url:
            raise FetchError("The host does not exist", code=ErrorCode.DNS_ERROR, url=request.url)
        is_kept = not request.force_refresh
        passages = (
            Passage(path=("Bees",), offset=40, text="They fly far.\n"),
            Passage(path=("Bees",), offset=8, text="They fly.\n"),
        )
        whole: Page = page.model_copy(
            update={
                "title": "Bees",
                "description": "All about bees.",
                "language": "en",
                "published": "2026-05-01",
                "site": "A",
                "summary": "They fly.",
                "images": (PageImage(url="https://a.example/bee.png", alt="a bee"),),
                "links": (PageLink(url="https://a.example/wasps", text="Wasps"),),
                "from_cache": is_kept,
                "age_seconds": AGE if is_kept else 0,
                "fetched_at": "2026-11-01T00:00:00+00:00",
                "passages": passages if request.prompt else (),
            }
        )
        return whole


@pytest.fixture
def service() -> Pages:
    """Give what answers, to be looked at and to be changed."""
    return Pages()


@pytest.fixture
def locked() -> HttpConfig:
    """Give the settings of a server that wants a token."""
    return HttpConfig(port=0, token=TOKEN)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep clients that read the environment on loopback."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
