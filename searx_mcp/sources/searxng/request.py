"""The search request to an instance: its address and headers.

The query text is live syntax at an instance: a word may choose engines (`!images`), redirect to another site
(`!!w`), open the first result (`!!`), set the engines' timeout (`<3`) or the language (`:de`). A user who
searches the web wants none of that, so it is switched off here.

SearXNG's limiter checks every header and answers 429, or redirects to the start page, if one is missing or
does not fit the others. `docs/decisions/searxng-answers.md` lists its checks.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode, urlsplit

from searx_mcp import __version__
from searx_mcp.content.clean import clean
from searx_mcp.http.body import ACCEPT_ENCODING
from searx_mcp.models.attempt import Format
from searx_mcp.pool.proposal import InstanceQuery

_SYNTAX: Final = "!?:<"
"""First characters of syntax words; searx up to 1.1 treats `?` like `!`."""

WAY_BACK: Final = 0.3
"""Seconds before a deadline that an instance has for merging and sending, and we for reading. Measured: with
`timeout_limit=2`, SearXNG 2026.8.22 answers after 2.02 s."""
_MOMENT: Final = 0.1
"""Seconds; SearXNG answers a negative number with an empty list."""


def neutralise(text: str) -> str:
    """Switch off an instance's own syntax, but keep what the engines understand.

    An instance splits a query at white space and checks the first characters of each word. A live word is
    quoted; if that would break existing quotes, it loses its leading syntax characters instead. `site:`,
    minus signs and quotes are kept.

    Args:
        text: the caller's query.

    Returns:
        The query in NFC without invisible characters, single spaces between words; idempotent. Empty if it
        has no visible characters.
    """
    words = []
    inside_phrase = False
    for word in unicodedata.normalize("NFC", clean(text)).split():
        if not _is_live(word):
            words.append(word)
        elif inside_phrase or '"' in word:
            words.append(word.lstrip(_SYNTAX))
        else:
            words.append(f'"{word}"')
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
        query: the query.
        format: HTML is the default of every instance and is not named in the request.
        time_limit: seconds until our own deadline, for an instance that should answer before it with what its
            engines have found by then.
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
        # An operator's default locale overrides Accept-Language: it would affect labels, dates and the
        # reasons of failed engines.
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


def _is_live(word: str) -> bool:
    """Return whether an instance would take a word for syntax."""
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


PROJECT_URL: Final = "https://github.com/searx-mcp/searx-mcp"

_PRIVACY: Final = {"DNT": "1", "Sec-GPC": "1"}

_CHROMIUM = re.compile(r"\bChrome/([0-9]{2,3})\.")
_FIREFOX = re.compile(r"\bFirefox/[0-9]+")
_BRANDS: Final = (
    (re.compile(r"\bEdg/([0-9]{2,3})\."), "Microsoft Edge"),
    (re.compile(r"\bOPR/([0-9]{2,3})\."), "Opera"),
)
_PLATFORMS: Final = (
    ("Windows NT", "Windows"),
    ("Macintosh", "macOS"),
    ("Android", "Android"),
    ("CrOS", "Chrome OS"),
    ("Linux", "Linux"),
)
_USABLE = re.compile(r"Mozilla/5\.0 [\x20-\x7e]{10,500}")

# Chromium, components/embedder_support/user_agent_utils.cc: a brand that does not exist, spelled and
# placed by the major version, so that no site relies on the list.
_GREASE_CHARACTERS: Final = " (:-./);=?_"
_GREASE_VERSIONS: Final = ("8", "99", "24")
_GREASE_ORDERS: Final = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


def honest() -> dict[str, str]:
    """Return headers that say who we are; they pass every check of the limiter."""
    return {
        "User-Agent": f"searx-mcp/{__version__} (+{PROJECT_URL})",
        # text/html must be acceptable for JSON too, or the limiter answers 429.
        "Accept": "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.5",
        # English, because reasons of failed engines are in the client's language.
        "Accept-Language": "en-US,en;q=0.8",
        "Accept-Encoding": ACCEPT_ENCODING,
        **_PRIVACY,
    }


def browser(user_agent: str, *, secure: bool = True) -> dict[str, str]:
    """Return the headers that a desktop browser with this User-Agent sends when a person opens a page.

    Except Accept-Encoding, which names what we can decode. TLS fingerprints are not imitated.

    Args:
        user_agent: the browser's; Chromium, Firefox or Safari.
        secure: whether the instance is asked over https; browsers send fetch metadata and client
            hints only there (W3C Fetch Metadata §2, UA Client Hints §5).
    """
    chromium = _CHROMIUM.search(user_agent)
    images = "image/avif,image/webp,image/apng," if chromium else ""
    exchange = ",application/signed-exchange;v=b3;q=0.7" if chromium else ""
    headers = {
        "User-Agent": user_agent,
        "Accept": f"text/html,application/xhtml+xml,application/xml;q=0.9,{images}*/*;q=0.8{exchange}",
        "Accept-Language": "en-US,en;q=0.5" if _FIREFOX.search(user_agent) else "en-US,en;q=0.9",
        "Accept-Encoding": ACCEPT_ENCODING,
        **_PRIVACY,
        "Upgrade-Insecure-Requests": "1",
    }
    if secure:
        headers |= {
            "Sec-Fetch-Dest": "document",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Site": "none",
            "Sec-Fetch-User": "?1",
        }
        if chromium:
            headers |= _client_hints(user_agent, int(chromium[1]))
    return headers


class Personas:
    """The headers of searches, stable for each instance and installation.

    The limiter identifies a client by address, User-Agent and Accept-Language together. If each process, and
    thus each command, had its own persona, that would look like a crowd of clients at one address; so the
    persona follows from the installation's number, which the state stores.
    """

    def __init__(
        self,
        *,
        rotate: bool,
        seed: int,
        user_agent_source: Callable[[random.Random], str],
    ) -> None:
        """Start without any persona.

        Args:
            rotate: whether public instances see a browser's headers; `False` is honest everywhere.
            seed: the number of the installation. It stays here: the headers do not reveal it.
            user_agent_source: returns a desktop browser's User-Agent.
        """
        self._rotate = rotate
        self._seed = seed
        self._user_agent_source = user_agent_source
        self._honest: Mapping[str, str] = honest()
        self._chosen: dict[str, Mapping[str, str]] = {}

    def headers_for(self, base_url: str, *, own: bool) -> Mapping[str, str]:
        """Return the headers for one instance, the same on every call; own ones always see who we are."""
        if own or not self._rotate:
            return self._honest
        if base_url not in self._chosen:
            self._chosen[base_url] = self._persona(base_url)
        return self._chosen[base_url]

    def _persona(self, base_url: str) -> Mapping[str, str]:
        dice = random.Random(f"{self._seed} {base_url}")  # noqa: S311 - chooses a browser, no secret
        user_agent = self._user_agent_source(dice)
        # The list is external: only a browser's User-Agent may become a header.
        if not _USABLE.fullmatch(user_agent):
            return self._honest
        return browser(user_agent, secure=urlsplit(base_url).scheme == "https")


def _client_hints(user_agent: str, version: int) -> dict[str, str]:
    platform = next((name for sign, name in _PLATFORMS if sign in user_agent), "Unknown")
    return {
        "sec-ch-ua": _brand_list(user_agent, version),
        "sec-ch-ua-mobile": "?1" if "Mobile" in user_agent else "?0",
        "sec-ch-ua-platform": f'"{platform}"',
    }


def _brand_list(user_agent: str, version: int) -> str:
    brand = ("Google Chrome", str(version))
    for pattern, name in _BRANDS:
        if found := pattern.search(user_agent):
            brand = (name, found[1])
    first, second = (
        _GREASE_CHARACTERS[(version + step) % len(_GREASE_CHARACTERS)] for step in range(2)
    )
    grease = (f"Not{first}A{second}Brand", _GREASE_VERSIONS[version % len(_GREASE_VERSIONS)])
    brands = dict(
        zip(
            _GREASE_ORDERS[version % len(_GREASE_ORDERS)],
            (grease, ("Chromium", str(version)), brand),
            strict=True,
        )
    )
    return ", ".join(f'"{name}";v="{number}"' for _, (name, number) in sorted(brands.items()))
