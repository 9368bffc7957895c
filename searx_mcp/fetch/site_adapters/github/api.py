"""Requests to GitHub's REST API.

Without a token it allows 60 an hour from one address, so a page asks for as little as it can.
"""

import re
from typing import Final

from searx_mcp.errors import SettingsError
from searx_mcp.fetch.site_adapters.address import address
from searx_mcp.fetch.site_adapters.interface import Source

SITE: Final = "https://github.com"
RAW: Final = "https://raw.githubusercontent.com"
PER_PAGE: Final = 100
"""Comments to an answer, the most that the API gives."""

_HOST: Final = "https://api.github.com"
_ACCEPT: Final = "application/vnd.github+json"
_VERSION: Final = "2026-03-10"
_TOKEN = re.compile(r"[!-~]{1,255}")


class Api:
    """Makes sources at the API's host, the only one that sees the token.

    Raises:
        SettingsError: the token cannot stand in a header.
    """

    def __init__(self, token: str) -> None:
        if token and not _TOKEN.fullmatch(token):
            raise SettingsError(
                "web_fetch.github_token",
                "holds a character that no token has",
                advice="Copy the token again, without spaces around it.",
            )
        self._headers = {"X-GitHub-Api-Version": _VERSION}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def source(
        self, *parts: str, query: dict[str, str] | None = None, is_required: bool = True
    ) -> Source:
        """A source of JSON.

        Args:
            parts: of the path, decoded.
            query: names and values.
            is_required: as in `Source`.
        """
        return Source(
            address(_HOST, *parts, query=query),
            accept=_ACCEPT,
            headers=dict(self._headers),
            is_required=is_required,
        )
