"""The search request as an instance understands it.

The query text is live syntax at an instance: a word may choose engines (`!images`), leave for
another site (`!!w`), take the first result (`!!`), set the engines' timeout (`<3`) or the language
(`:de`). None of that is meant by somebody who searches the web, so it is switched off here.
"""

import unicodedata
from typing import Final
from urllib.parse import urlencode

from searx_mcp.content.clean import clean
from searx_mcp.models.attempt import Format
from searx_mcp.pool.attempt import InstanceQuery

_SYNTAX: Final = "!?:<"
"""What a live word starts with; searx up to 1.1 takes `?` like `!`."""

WAY_BACK: Final = 0.3
"""Seconds of a deadline that are left to an instance for merging and sending, and to us for reading.
Measured: with `timeout_limit=2`, SearXNG 2026.8.22 answers after 2.02 s."""
_MOMENT: Final = 0.1
"""Seconds; to a negative number SearXNG answers with an empty list."""


def neutralise(text: str) -> str:
    """Switch off an instance's own syntax, and keep what the engines understand.

    An instance splits a query at white space and looks at the first characters of each word. A
    live word is put in quotes; where that would break quotes that are there, it loses its leading
    syntax characters instead. `site:`, minus signs and quotes stay.

    Args:
        text: what the caller searches for.

    Returns:
        The query in NFC without invisible characters, single spaces between words; the same again
        when neutralised again. Empty if nothing visible was in it.
    """
    words = []
    inside_phrase = False
    for word in unicodedata.normalize("NFC", clean(text)).split():
        words.append(_switched_off(word, inside_phrase=inside_phrase))
        inside_phrase ^= word.count('"') % 2 == 1
    return " ".join(word for word in words if word)


def build_url(
    base_url: str,
    query: InstanceQuery,
    format: Format,  # noqa: A002 - the model's name for it
    *,
    time_limit: float | None = None,
) -> str:
    """Build the address of one search; always a GET, which works behind every proxy.

    Args:
        base_url: the instance, with its path prefix if it has one.
        query: what to ask.
        format: HTML is the default of every instance and is not named in the request.
        time_limit: seconds until our own deadline, for an instance that is to answer before it with
            what its engines have found by then.
    """
    parameters = {
        "q": query.text,
        # An instance asks the union of both, so only one of them is named.
        **(
            {"engines": ",".join(query.engines)}
            if query.engines
            else {"categories": query.category}
        ),
        "language": query.language,
        "safesearch": str(query.safe_search),
        # An operator's default locale overrules Accept-Language: labels, dates and the reasons of
        # failed engines would come in it.
        "locale": "en",
    }
    if query.time_range:
        parameters["time_range"] = query.time_range
    if query.page > 1:
        parameters["pageno"] = str(query.page)
    if time_limit is not None:
        parameters["timeout_limit"] = f"{max(_MOMENT, time_limit - WAY_BACK):.2f}"
    if format is Format.JSON:
        parameters["format"] = "json"
    return f"{base_url.rstrip('/')}/search?{urlencode(parameters)}"


def _switched_off(word: str, *, inside_phrase: bool) -> str:
    if not _is_live(word):
        return word
    if inside_phrase or '"' in word:
        return word.lstrip(_SYNTAX)
    return f'"{word}"'


def _is_live(word: str) -> bool:
    start, rest = word[0], word[1:]
    match start:
        case "!":
            return bool(rest)
        case "?":
            return rest[:1].isalnum()
        case ":":
            # Names of languages and countries work too: `:de`, `:german`, `:français`.
            return rest[:1].isalpha()
        case "<":
            return rest.isdigit()
        case _:
            return False
