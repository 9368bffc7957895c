"""One request to a service, taken apart, and the pages it is answered with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.documents import Document

JSON: Final = "application/json; charset=utf-8"
TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Call:
    """What a service is asked.

    Attributes:
        url: as it was asked for.
        host: in lower case, without a port.
        path: decoded.
        parameters: the values of every parameter, in order.
        now: the time of the request.
    """

    url: str
    host: str
    path: str
    parameters: Mapping[str, Sequence[str]]
    now: datetime

    def text(self, name: str, default: str = "") -> str:
        """The last value of a parameter; `default` if it is not there."""
        return self.parameters.get(name, (default,))[-1]

    def number(self, name: str, default: int) -> int:
        """The value as a whole number that is not negative; `default` if it is none."""
        value = self.text(name)
        return int(value) if value.isascii() and value.isdecimal() else default


def read_call(url: str, *, now: datetime) -> Call:
    """Take an address apart.

    Raises:
        ValueError: it is no address.
    """
    parts = urlsplit(url)
    return Call(
        url=url,
        host=parts.hostname or "",
        path=unquote(parts.path),
        parameters=parse_qs(parts.query, keep_blank_values=True),
        now=now,
    )


def page_of(found: Sequence[Document], *, start: int, size: int) -> Sequence[Document]:
    """The part of the results that was asked for."""
    return found[start : start + size]


def json_page(
    body: Json | Sequence[object], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> FakePage:
    """Return a page of JSON."""
    return FakePage(
        json.dumps(body, ensure_ascii=False), JSON, status=status, headers=dict(headers or {})
    )


def text_page(text: str, *, status: int = 200, content_type: str = TEXT) -> FakePage:
    """Return a page of plain text."""
    return FakePage(text, content_type, status=status)
