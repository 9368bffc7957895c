"""Parses and rewrites the heads of requests and answers in the gateway. Pure."""

import re
from dataclasses import dataclass
from typing import Final, Self

from yarl import URL

_REQUEST_LINE: Final = re.compile(r"([A-Z]{1,20}) ([\x21-\x7e]+) HTTP/1\.[01]")
# The value keeps its whitespace: matching it separately takes cubic time.
_FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\x00\r\n]*)")
_STATUS_LINE: Final = re.compile(r"HTTP/1\.[01] ([1-5][0-9]{2})(?: ([^\x00\r\n]*))?")
_ORIGIN: Final = re.compile(r"http://[^/?#]*", re.IGNORECASE)

_HOP_BY_HOP: Final = frozenset({"connection", "keep-alive", "te", "trailer", "upgrade"})
"""Hop-by-hop fields, RFC 9110 7.6.1, except those that frame a body."""

_PROXY: Final = "proxy-"
_SWITCHING: Final = 101
_PROXY_AUTHENTICATION_REQUIRED: Final = 407


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The request of a proxy client.

    Attributes:
        method: in upper case.
        target: the authority for CONNECT, otherwise an absolute URL; printable ASCII.
        fields: names in lower case with their values, in order.
    """

    method: str
    target: str
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse a head, including its empty line.

        Raises:
            ValueError: it is not HTTP/1.
        """
        first, *rest = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        request = _REQUEST_LINE.fullmatch(first)
        found = [_FIELD.fullmatch(line) for line in rest]
        fields = [(match[1].lower(), match[2].strip(" \t")) for match in found if match is not None]
        if request is None or len(fields) < len(found):
            raise ValueError("not the head of a request")
        return cls(request[1], request[2], tuple(fields))

    def values(self, name: str) -> list[str]:
        """Return all values of a field, by its name in lower case."""
        return [value for field, value in self.fields if field == name]

    @property
    def has_body(self) -> bool:
        """Whether the request has a body."""
        lengths = self.values("content-length")
        return bool(self.values("transfer-encoding")) or any(value != "0" for value in lengths)

    def forwarded(self, url: URL) -> bytes:
        """Return the request to send to the server of `url`: alone on its connection, without a body.

        Path and query string are unchanged. The Host field is set anew, since a proxy request is for its URL,
        whatever that field says (RFC 9112 3.2.2).
        """
        path = _ORIGIN.sub("", self.target, count=1)
        path = path if path.startswith("/") else f"/{path}"
        dropped = _HOP_BY_HOP | _named(self.values("connection"))
        dropped |= {"host", "content-length", "transfer-encoding"}
        fields = [
            f"{name}: {value}"
            for name, value in self.fields
            if name not in dropped and not name.startswith(_PROXY)
        ]
        host = f"Host: {url.host_port_subcomponent}"
        lines = [f"{self.method} {path} HTTP/1.1", host, *fields, "Connection: close", "", ""]
        return "\r\n".join(lines).encode("latin-1")


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The head of a server's answer.

    Attributes:
        status: 200 to 599, or 100 to 199 if another head follows.
        passed_on: the head for the client: it forbids another request on its connection, which would
            reach the same server unchecked.
    """

    status: int
    passed_on: bytes

    @property
    def is_interim(self) -> bool:
        """Whether the final answer is still to come."""
        return self.status < 200  # noqa: PLR2004 - RFC 9110 15.2

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse a head, including its empty line.

        Lines without a colon are dropped, as browsers do.

        Raises:
            ValueError: it is not HTTP/1; it asks for proxy authentication, or to switch protocols.
        """
        first, *rest = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        match = _STATUS_LINE.fullmatch(first)
        if match is None or int(match[1]) in {_SWITCHING, _PROXY_AUTHENTICATION_REQUIRED}:
            raise ValueError("not the head of an answer")
        found = [field for line in rest if (field := _FIELD.fullmatch(line)) is not None]
        connection = [field[2] for field in found if field[1].lower() == "connection"]
        dropped = _HOP_BY_HOP | _named(connection)
        kept = [
            field[0]
            for field in found
            if field[1].lower() not in dropped and not field[1].lower().startswith(_PROXY)
        ]
        lines = [f"HTTP/1.1 {match[1]} {match[2] or ''}", *kept, "Connection: close", "", ""]
        return cls(int(match[1]), "\r\n".join(lines).encode("latin-1"))


def _named(connection: list[str]) -> frozenset[str]:
    """Return the fields that a Connection field lists, except those that frame a body."""
    names = {name.strip().lower() for value in connection for name in value.split(",")}
    return frozenset(names) - {"content-length", "transfer-encoding"}
