"""What the wikis of Wikimedia have in common: one interface, its limits, its errors."""

from collections.abc import Iterable, Mapping
from typing import Final

from searx_mcp.content.fields import Fields
from searx_mcp.models.attempt import Verdict
from searx_mcp.open_sources.interface import RefusedError
from searx_mcp.open_sources.rows import json_object

BUCKET: Final = "wikimedia"
"""Wikipedia and Commons count as one: the limits are those of an address at all of Wikimedia's wikis."""
TERMS: Final = "https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits"

PARAMETERS: Final[Mapping[str, str]] = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "generator": "search",
}
MAX_QUERY: Final = 300
"""Characters of a search, keywords such as `filetype:` included; a longer one is refused (CirrusSearch)."""

_BUSY: Final = frozenset({"ratelimited", "maxlag", "cirrussearch-too-busy-error"})
_BROKEN: Final = ("internal_api_error", "cirrussearch-backend-error", "readonly")
"""Beginnings of the codes of errors that are theirs; any other is about the question."""


def found(answer: Fields) -> Iterable[Fields]:
    """The pages of an answer by rank: they come in the order of their numbers, and `index` has the rank."""
    pages = answer.part("query").parts("pages")
    return sorted(pages, key=lambda page: page.count("index") or len(pages))


def read(body: bytes, title: str) -> Fields:
    """Read an answer.

    Args:
        body: of the answer.
        title: of the wiki, for a person.

    Raises:
        ValueError: it is not shaped as documented.
        RefusedError: it is an error, which comes with status 200.
    """
    answer = json_object(body)
    if "error" not in answer:
        return answer
    code = answer.part("error").text("code")
    if not code:
        raise ValueError("the answer is an error without a code")
    if code in _BUSY:
        raise RefusedError(Verdict.RATE_LIMITED, f"{title} asks to wait.")
    if code.startswith(_BROKEN):
        raise RefusedError(Verdict.SERVER_ERROR, f"{title} failed.")
    raise RefusedError(Verdict.REFUSED, f"{title} could not read the question.", ours=True)
