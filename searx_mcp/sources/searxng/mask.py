"""Texts, names and addresses with nothing in them that points to a query or an instance."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from searx_mcp.models.request import FURTHER_CATEGORIES, Category

PARAMETERS: Final = frozenset(
    {"categories", "engines", "format", "language", "pageno", "safesearch", "theme", "time_range"}
)
"""Arguments of a search whose values are names."""

_MARKUP: Final = """
    a article aside audio b body br button caption code dd details div dl dt em footer form h1 h2 h3
    h4 head header hr html i iframe img input label li link main meta nav ol option p path pre
    script section select small source span strong style summary svg table tbody td th thead time
    title tr ul video
    action alt charset class colspan content data datetime dir for hidden href id itemprop lang
    media method name rel role src type value
    submit text hidden get post ltr rtl stylesheet noreferrer nofollow noopener alternate
"""
_THEME: Final = """
    abstract altlink answer answers apis attributes author badge bar block boundingbox caption chart
    codelines col comments container content correction corrections count country default dialog
    element embedded empty endpoint engine engines error errors file files filename filesize format
    formats general geojson generator group header highlight icon image images index infobox init
    item itemscope key keyvalue lat length license link linenos links lon magnetlink maintainer map
    metadata msg name news next no normal osm package packages page pageno pagination paper popularity
    position price previous product products project proxy pubdate publicationdate published q
    relatedtopics repository resolution response result results row search searx searxng selected
    shipping sidebar simple source stat suggestion suggestions table tags template theme thumbnail
    time title topics torrent torrentfile translations transliteration translate unresponsive url
    urls value version video videos views weather wrapper zoom
"""
_KEYS: Final = """
    address answers category close codelines content corrections current data doi editor entity
    examples forecasts hl html iframe img infoboxes isbn issn journal kvmap label latitude leech
    length lines locality longitude mtype mimetype number of open parsed pages path pdf postcode
    positions priority publisheddate publisher query queryx results road score seed service src
    size stars subtype synonyms tags type types url volume
    application bytes css csv dur gzip html json load nginx plain render rss total utf 8 https http
    all auto static themes client config healthz preferences opensearch xml about info en day week
    month year
"""
VOCABULARY: Final = frozenset(
    f"{_MARKUP} {_THEME} {_KEYS} {' '.join((*Category, *FURTHER_CATEGORIES))}".split()
)
"""In lower case; names are compared with it part by part."""

_LABELS: Final = """
    author comments date description doi editor engine engines filename filesize format homepage
    isbn issn journal language length license maintainer mime name number of pages pdf popularity
    project published publisher publication repository resolution size source tags time type url
    version views volume
"""
LABELS: Final = frozenset(_LABELS.split())
"""Words before a colon by which a parser finds the value behind it."""

INSTANCE: Final = "https://instance.example/"
"""The base address under which a fixture is to be read."""

# A T and a Z stay inside a time; outside ASCII all but bullets may spell.
_WORD = re.compile(r"(?<=[0-9])T(?=[0-9])|(?<=[0-9])Z\b|[0-9]|(?:[A-Za-z]|[^\x00-\x7f\u2022])+")
_ENDING = re.compile(r"\.(?:css|gif|html?|ico|jpe?g|js|json|php|png|svg|webp|xml)\Z")
_RUN = re.compile(r"\S+")
_IP = re.compile(
    r"(?<![\w.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}",
    re.IGNORECASE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_PART = re.compile(r"(?:[^\W_]|[^\x00-\x7f])+")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]{0,20}):")
_STYLESHEET = re.compile(r"client[\w-]+\.css")
_STYLESHEET_NAME: Final = "clientaaaaaaaaaaaaaaaa.css"
"""The stylesheet that is the limiter's link token, with a made-up token."""
_SHORT: Final = 3
"""Letters from which on a word of the query is looked for inside longer words."""


class Mask:
    """Takes out of strings what must not be seen; the same string always becomes the same.

    Strings are as a program sees them: without HTML, JSON or URL encoding.

    Args:
        query: what was searched for.
        base_url: the instance that answered.
    """

    def __init__(self, *, query: str, base_url: str) -> None:
        base = urlsplit(base_url)
        self._host = (base.hostname or "").casefold()
        self._host_name = re.compile(re.escape(self._host) or r"(?!)", re.IGNORECASE)
        self._path = f"{base.path.rstrip('/')}/"
        host_words = {word for word in _words(self._host) if not word.isdigit()}
        self._secrets = {*_words(query), *(host_words - VOCABULARY)}
        self._hosts: dict[str, int] = {}
        self._pages: dict[tuple[str, str], int] = {}

    def text(self, text: str) -> str:
        """Mask whatever may have been written about the query: all words and digits."""
        return _WORD.sub(_masked, text)

    def name(self, name: str) -> str:
        """Keep a name that markup or an instance gives, such as a class, a key or an engine.

        Only the parts of it in which the query or the instance shows are masked, unless every
        instance uses them.
        """
        name = _IP.sub("word", _SURROGATE.sub("?", name))
        if "%" in name:  # encoded for an address, as no name is
            name = _RUN.sub(lambda run: self.text(run[0]) if "%" in run[0] else run[0], name)
        name = self._host_name.sub("word", name)
        return _PART.sub(lambda part: "word" if self._shows(part[0]) else part[0], name)

    def address(self, address: str) -> str:
        """Replace an address by a numbered one, and keep the paths of SearXNG itself."""
        scheme = _SCHEME.match(address)
        match scheme and scheme[1].lower():
            case None if address.lstrip()[:2] not in {"//", "/\\", "\\\\"}:
                return self._local(address)
            case None | "http" | "https" | "ftp":
                return self._remote(address)
            case "magnet":
                return f"magnet:?xt=urn:btih:{'1' * 40}"
            case "data":
                return "data:,"
            case _:
                return "other:word"

    def _shows(self, part: str) -> bool:
        folded = _folded(part)
        if folded in VOCABULARY:
            return False
        return folded in self._secrets or any(
            len(secret) >= _SHORT and secret in folded for secret in self._secrets
        )

    def _remote(self, address: str) -> str:
        try:
            url = urlsplit(address.strip())
            host = (url.hostname or "").casefold()
        except ValueError:
            return "https://broken.example/"
        if host == self._host:
            return INSTANCE.rstrip("/") + self._local(url._replace(scheme="", netloc="").geturl())
        site = self._hosts.setdefault(host, len(self._hosts) + 1)
        rest = url._replace(scheme="", netloc="").geturl()
        page = self._pages.setdefault((host, rest), len(self._pages) + 1)
        path = "" if rest in {"", "/"} else str(page)
        return f"{'http' if url.scheme == 'http' else 'https'}://site{site}.example/{path}"

    def _local(self, address: str) -> str:
        try:
            url = urlsplit(address)
        except ValueError:
            return self.text(address)
        path = url.path
        if path.startswith(self._path):
            path = "/" + path.removeprefix(self._path)
        path = "/".join(_segment(part) for part in path.split("/"))
        query = urlencode([*self._arguments(url)])
        return SplitResult("", "", path, query, self.text(url.fragment)).geturl()

    def _arguments(self, url: SplitResult) -> Iterator[tuple[str, str]]:
        for key, value in parse_qsl(url.query, keep_blank_values=True):
            if key == "url" or _SCHEME.match(value):
                yield self.name(key), self.address(value)
            elif key in PARAMETERS or key.startswith("category_"):
                yield self.name(key), self.name(value)
            else:
                yield self.name(key), self.text(value)


def looks_like_address(text: str) -> bool:
    """Whether a string is an absolute address."""
    return bool(re.match(r"\s*(?:https?:|magnet:|data:|//)", text, re.IGNORECASE))


def _words(text: str) -> set[str]:
    return {_folded(word) for word in _PART.findall(text)}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _segment(part: str) -> str:
    """Keep a part of a path that SearXNG itself has, and the ending of a file's name."""
    if all(_folded(name) in VOCABULARY for name in _PART.findall(part)):
        return part
    if _STYLESHEET.fullmatch(part):
        return _STYLESHEET_NAME
    ending = _ENDING.search(part)
    return f"word{ending[0] if ending else ''}"


def _masked(word: re.Match[str]) -> str:
    text = word[0]
    if text in {"T", "Z"} and word.start() and word.string[word.start() - 1].isdigit():
        return text
    if text.isdigit() and text.isascii():
        return "1"
    if text.isupper() and len(text) > 1:
        return "WORD"
    return "Word" if text[:1].isupper() else "word"
