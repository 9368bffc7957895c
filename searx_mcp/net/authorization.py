"""Credentials for own instances, added to the requests they are meant for."""

from collections.abc import Iterable
from typing import Final

import aiohttp
from yarl import URL

from searx_mcp.models.credentials import Credentials

_HEADER: Final = "Authorization"


class Authorizer:
    """A middleware for the connections of own instances, and for no others.

    Each request belongs to the own instance of its origin with the longest path in front of it:
    one instance below the path of another never gets the other's credentials.
    """

    def __init__(self, instances: Iterable[str], credentials: Iterable[Credentials]) -> None:
        """Take the base URLs of all own instances, and what is known for some of them."""
        known = {_place(URL(entry.url)): entry.authorization for entry in credentials}
        places = {_place(URL(url)) for url in instances}
        longest_first = sorted(places, key=lambda place: len(place[1]), reverse=True)
        self._values = [(origin, path, known.get((origin, path))) for origin, path in longest_first]

    def value_for(self, url: URL) -> str | None:
        """The header's value for a request to this URL, or `None` to send none."""
        origin = url.origin()
        for known, path, value in self._values:
            if origin == known and url.raw_path.startswith(path):
                return value
        return None

    async def __call__(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Send the request with its credentials, if there are any for it."""
        value = self.value_for(request.url)
        if value is None:
            return await handler(request)
        request.headers[_HEADER] = value
        try:
            return await handler(request)
        finally:
            # It is sent by now, or never. The library's errors show the headers of the request.
            del request.headers[_HEADER]


def _place(url: URL) -> tuple[URL, str]:
    return url.origin(), f"{url.raw_path.rstrip('/')}/"
