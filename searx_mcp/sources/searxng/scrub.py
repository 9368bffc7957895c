"""Captured answers without what they say: fixtures for bug reports.

What a parser looks at stays: tags, classes, keys, kinds and lengths of values, names of engines and
categories, the instance's version. What was searched for, what was found and where does not: every
other word becomes `word`, every digit `1`, every address a numbered one. HTML is written as it was,
with masked texts: mistakes of the markup stay mistakes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from searx_mcp.content.clean import unescaped
from searx_mcp.http.body import Response
from searx_mcp.sources.searxng.mask import LABELS, PARAMETERS, Mask, looks_like_address

MAX_BODY: Final = 1_048_576
"""Bytes of a body that are kept; the largest page measured has 0.2 MB."""

_HEADERS: Final = (
    "content-type", "content-encoding", "date", "retry-after", "server", "server-timing",
    "cf-mitigated",
)  # fmt: skip
_REFUSAL: Final = b"Too Many Requests"
"""The whole body of a 429 of SearXNG's limiter."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """One answer without query and address.

    Attributes:
        status: the HTTP status.
        headers: those that say something of the answer, by lower-case name.
        body: the masked body, to be read with `searx_mcp.sources.searxng.mask.INSTANCE` as the base.
        kind: `html`, `json` or `txt`.
    """

    status: int
    headers: Mapping[str, str]
    body: str
    kind: str


def scrub(response: Response, *, mask: Mask) -> Fixture:
    """Make a fixture of an answer.

    Args:
        response: the answer as it came.
        mask: knows the query and the instance.
    """
    given = {name.lower(): value for name, value in response.headers.items()}
    headers: dict[str, str] = {name: mask.name(given[name]) for name in _HEADERS if name in given}
    if "location" in given:
        headers["location"] = mask.address(given["location"])
    body, kind = _body(response.body[:MAX_BODY], mask)
    return Fixture(response.status, headers, body, kind)


def _body(body: bytes, mask: Mask) -> tuple[str, str]:
    if body.strip() == _REFUSAL:
        return _REFUSAL.decode(), "txt"
    text = body.decode("utf-8-sig", "replace")
    if text.lstrip().startswith("<"):
        return scrub_html(text, mask), "html"
    if text.lstrip().startswith(("{", "[")):
        return scrub_json(text, mask), "json"
    return mask.text(text), "txt"


_MARKUP_TOKEN = re.compile(
    r"(?P<hidden><!--.*?(?:-->|\Z))"
    r"|(?P<raw><(?P<element>script|style)\b[^>]{0,20000}>.*?(?:</(?P=element)\s*>|\Z))"
    r"|(?P<doctype><![a-z]{1,10} ?[a-z]{0,10}>)"
    r"""|(?P<tag></?[a-z][^\s/>"'<]{0,40}(?:"[^"]{0,200000}"|'[^']{0,200000}'|[^'"<>]++){0,2000}+>)"""
    r"|(?P<text>[^<]++|<)",
    re.IGNORECASE | re.DOTALL,
)
_START = re.compile(r"""(</?)([^\s/>"'<]+)""")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+))?|["'=]+""")
_NAMES: Final = frozenset(
    {
        "charset", "class", "colspan", "dir", "for", "id", "itemprop", "itemtype", "lang", "method",
        "name", "rel", "role", "scope", "type",
    }
)  # fmt: skip
"""Attributes whose values are names."""
_ADDRESSES: Final = frozenset({"action", "data-src", "formaction", "href", "poster", "src"})
_METAS: Final = frozenset({"endpoint", "generator"})
_ENGINES: Final = frozenset(
    {"engines", "engine-name", "response-error", "result-engine", "result-engines"}
)
"""Classes of elements that hold names of engines, or their fixed reasons."""
_VERSION = re.compile(r"searx(?:ng)?/[\w.+-]{1,60}", re.ASCII)
_LABEL = re.compile(r"\s*([A-Za-z][A-Za-z -]{0,40}):\s*")


def scrub_html(text: str, mask: Mask) -> str:
    """Mask the texts and values of a page and keep its markup; scripts and comments go."""
    return _Page(mask).scrub(text)


class _Page:
    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._open_element = ""
        self._depth = 0

    def scrub(self, text: str) -> str:
        return "".join(self._token(token) for token in _MARKUP_TOKEN.finditer(text))

    def _token(self, token: re.Match[str]) -> str:
        match token.lastgroup:
            case "hidden":
                return ""
            case "raw":
                start = token[0][: token[0].index(">") + 1]
                return f"{self._tag(start)}</{token['element']}>"
            case "doctype":
                return token[0]
            case "tag":
                return self._tag(token[0])
            case _:
                return self._text(token[0], is_cut=token.end() == len(token.string))

    def _tag(self, tag: str) -> str:
        _, opening, element, rest = _START.split(tag[:-1], maxsplit=1)
        attributes = {
            found[1].lower(): unescaped((found[3] or "").strip("\"'"))
            for found in _ATTRIBUTE.finditer(rest)
            if found[1]
        }
        self._follow(element.lower(), attributes, is_end=opening == "</")
        scrubbed = _ATTRIBUTE.sub(lambda found: self._attribute(found, attributes), rest)
        return f"{opening}{self._mask.name(element)}{scrubbed}>"

    def _follow(self, element: str, attributes: dict[str, str], *, is_end: bool) -> None:
        """Know whether a text stands in an element of engines' names."""
        if not self._depth:
            if _ENGINES & set(attributes.get("class", "").split()) and not is_end:
                self._open_element, self._depth = element, 1
        elif element == self._open_element:
            self._depth += -1 if is_end else 1

    def _attribute(self, found: re.Match[str], attributes: dict[str, str]) -> str:
        if found[1] is None:
            return found[0]
        name = self._mask.name(found[1])
        if found[3] is None:
            return name
        quote = found[3][0] if found[3][0] in "\"'" else ""
        value = unescaped(found[3][1:-1] if quote else found[3])
        scrubbed = escape(self._value(found[1].lower(), value, attributes))
        return f"{name}{found[2]}{quote or chr(34)}{scrubbed}{quote or chr(34)}"

    def _value(self, name: str, value: str, attributes: dict[str, str]) -> str:
        if name == "content" and attributes.get("name", "").lower() in _METAS:
            return value if _VERSION.fullmatch(value) else self._mask.name(value)
        if name in _NAMES or (name == "value" and attributes.get("name") in PARAMETERS):
            return self._mask.name(value)
        if name in _ADDRESSES or looks_like_address(value):
            return self._mask.address(value)
        if value.lstrip().startswith(("[", "{")):
            return scrub_json(value, self._mask)
        return self._mask.text(value)

    def _text(self, text: str, *, is_cut: bool) -> str:
        if text == "<":  # begins nothing, or a tag that is cut off
            return text
        plain = unescaped(text)
        label = _LABEL.fullmatch(plain)
        # A name shows the query in whole words only, so that nothing is kept of one that is cut.
        if self._depth and not is_cut:
            plain = self._mask.name(plain)
        elif label is None or not set(label[1].lower().split()) <= LABELS:
            plain = self._mask.text(plain)
        return plain.replace("&", "&amp;").replace("<", "&lt;")


_JSON_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\]++|\\.)*+"?)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<mark>[:,])'
    r'|(?P<space>\s++)|(?P<scalar>[^\s"\[\]{},:]++)',
    re.DOTALL,
)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: Final = frozenset({"true", "false", "null", "NaN", "Infinity", "-Infinity"})
_NAMED: Final = frozenset({"category", "engine", "engines", "template", "unresponsive_engines"})
"""Keys whose values are names."""


def scrub_json(text: str, mask: Mask) -> str:
    """Mask the values of a JSON text and keep its keys, its shape and its mistakes."""
    keys: list[str] = []
    """The key that leads to each open bracket, outermost first."""
    objects: list[bool] = []
    key, is_key = "", False
    written: list[str] = []
    for token in _JSON_TOKEN.finditer(text):
        match token.lastgroup, token[0]:
            case "string", string if is_key:
                key, is_key = _decoded(string), False
                written.append(_encoded(_value(key, string, is_name=True, mask=mask), like=string))
            case "string", string:
                value = _value(_decoded(string), string, is_name=key in _NAMED, mask=mask)
                written.append(_encoded(value, like=string))
            case "open", bracket:
                keys.append(key)
                is_key = bracket == "{"
                objects.append(is_key)
                written.append(bracket)
            case "close", bracket:
                if keys:
                    key = keys.pop()
                    objects.pop()
                is_key = False
                written.append(bracket)
            case "mark", mark:
                is_key = mark == "," and bool(objects) and objects[-1]
                written.append(mark)
            case "scalar", scalar:
                written.append(_scalar(scalar, mask))
            case _, space:
                written.append(" " if space.strip(" ") == "" else "\n")
    return "".join(written)


def _value(text: str, token: str, *, is_name: bool, mask: Mask) -> str:
    # A name shows the query in whole words only, so that nothing is kept of one that is cut.
    if is_name and _is_closed(token):
        return mask.name(text)
    return mask.address(text) if looks_like_address(text) else mask.text(text)


def _scalar(text: str, mask: Mask) -> str:
    if text in _WORDS:
        return text
    return re.sub("[0-9]", "1", text) if _NUMBER.fullmatch(text) else mask.text(text)


def _decoded(token: str) -> str:
    closed = token if _is_closed(token) else f'{token}"'
    try:
        return str(json.loads(closed, strict=False))
    except ValueError:
        # A wrong escape: it may spell anything, so that nothing of it is kept.
        return "word"


def _encoded(text: str, *, like: str) -> str:
    token = json.dumps(text, ensure_ascii=False)
    return token if _is_closed(like) else token[:-1]


def _is_closed(token: str) -> bool:
    return len(token) > 1 and token.endswith('"')
