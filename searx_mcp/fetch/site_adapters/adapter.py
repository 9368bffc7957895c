"""The contract of a site adapter: it maps an address to sources that read better than its page.

An adapter plans from the address alone. A path segment, decoded, is a part. Segments that a server might
resolve differently, such as `..` or an encoded slash, are refused, so that joining parts cannot lead elsewhere.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from yarl import URL

from searx_mcp.content.addresses import pages_of
from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.document import Document
from searx_mcp.content.markdown import disarm
from searx_mcp.content.outline import headings
from searx_mcp.content.values import Fields, loads, objects
from searx_mcp.content.words import count
from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.fetch.hops.answers import ReceivedPage

MAX_NOTE: Final = 300
"""Characters of a note on a page."""

_MAX_TITLE: Final = 300
_MAX_DESCRIPTION: Final = 1_000
_UNCLEAR = re.compile(r"[\x00-\x1f\x7f\\]")
_PCHAR: Final = "!$&'()*+,;=:@"
"""Characters a part may hold unencoded besides letters, digits and `-._~` (RFC 3986, section 3.3)."""
_LINES = re.compile(r"L([0-9]{1,7})(?:C[0-9]{1,7})?(?:-L?([0-9]{1,7})(?:C[0-9]{1,7})?)?")
"""The fragments of GitHub (`L10`, `L10-L40`, `L10C1-L12C5`), GitLab (`L10-40`) and Forgejo."""
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class AdapterSource:
    """One address that an adapter needs.

    It passes the same policy, robots.txt, limits and guard as an address from a caller.

    Attributes:
        url: absolute.
        accept: the Accept header; the default if empty.
        headers: more headers, sent to this origin only and never after a redirect to another.
        is_required: whether the adapter gives up without it.
    """

    url: str
    accept: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Composed:
    """A page composed from answers.

    Attributes:
        document: clean, with the whole content of the page.
        content_type: of the text that was read, such as `text/x-python`.
    """

    document: Document
    content_type: str = "text/markdown"


@dataclass(frozen=True, slots=True)
class AsPage:
    """An answer to read like any page: an HTML file, a PDF, a feed."""

    answer: ReceivedPage


Compose = Callable[[Sequence[ReceivedPage | None]], Composed | AsPage]
"""Composes the page from the sources' answers, in their order; `None` stands for an optional one that is
missing. Pure; it runs in a thread. Raises `ValueError` or `ContentError` if an answer is not as its service
documents it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How an adapter reads one address.

    Attributes:
        tier: its name in the response, such as `github`.
        sources: fetched concurrently.
        compose: makes the page.
    """

    tier: str
    sources: tuple[AdapterSource, ...]
    compose: Compose


class Adapter(NamedTuple):
    """Plans how to read an address, fragment included; `None` if it is not one of the adapter's.

    If an adapter fails, the page itself is read.

    Attributes:
        sign: a pattern found in every address of the adapter; the address is parsed only if it is there.
        plan: pure.
    """

    sign: str
    plan: Callable[[URL], Plan | None]

    def __call__(self, url: URL) -> Plan | None:
        """Plan how to read an address."""
        return self.plan(url) if re.search(self.sign, str(url)) else None


def parts_of(url: URL, *, with_slashes: bool = False) -> tuple[str, ...] | None:
    """Split the path of an address.

    Args:
        url: absolute.
        with_slashes: whether a part may hold encoded slashes.

    Returns:
        The decoded parts, without the empty one after a trailing slash; `None` if the path is not plain, or
        the address has user information.
    """
    if url.scheme not in {"http", "https"} or url.user is not None or url.password is not None:
        return None
    raw = url.raw_path.removeprefix("/").removesuffix("/")
    if not raw:
        return ()
    try:
        parts = tuple(unquote(part, errors="strict") for part in raw.split("/"))
    except UnicodeDecodeError:
        return None
    for part in parts:
        pieces = part.split("/") if with_slashes else [part]
        if any(piece in {"", ".", ".."} or "/" in piece for piece in pieces):
            return None
        if _UNCLEAR.search(part):
            return None
    return parts


def is_at(url: URL, hosts: Collection[str]) -> bool:
    """Return whether an address is at one of the hosts, at the default port of its scheme."""
    return url.host in hosts and url.is_default_port()


def address(origin: str, *parts: str, query: Mapping[str, str] | None = None) -> str:
    """Build an address.

    Args:
        origin: scheme and host, without a trailing slash.
        parts: decoded; a slash in one is encoded.
        query: names and values, decoded.

    Returns:
        The address, encoded.
    """
    path = "/".join(quote(part, safe=_PCHAR) for part in parts)
    url = URL(f"{origin}/{path}", encoded=True)
    return str(url.with_query(query) if query else url)


def lines_of(fragment: str) -> tuple[int, int] | None:
    """Parse the line numbers of a fragment, first and last; `None` if it names none."""
    match = _LINES.fullmatch(fragment)
    if match is None:
        return None
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    return (min(first, last), max(first, last)) if min(first, last) > 0 else None


def captured_part(url: URL) -> str:
    """Return the fragment of an address if it changes what is captured, else nothing.

    That is: lines of a file and pages of a PDF. Any other fragment names a place in the whole page.
    """
    fragment = url.fragment
    return fragment if fragment and (lines_of(fragment) or pages_of(fragment)) else ""


def object_of(answer: ReceivedPage | None) -> Fields:
    """Parse an answer that is a JSON object.

    Raises:
        ValueError: it is not an object, or was cut.
    """
    value = loads(_given(answer).body.data)
    if not isinstance(value, dict):
        raise ValueError("the answer is not a JSON object")  # noqa: TRY004 - says what the service sent
    return Fields(value)


def list_of(answer: ReceivedPage | None) -> tuple[list[Fields], bool]:
    """Parse an answer that is a JSON list of objects.

    Returns:
        The objects, and whether the list is whole: of an answer that was cut, the complete ones.

    Raises:
        ValueError: it is not a list.
    """
    given = _given(answer)
    if given.body.truncated:
        return _beginning(given.body.data.decode(errors="replace"))
    value = loads(given.body.data)
    if not isinstance(value, list):
        raise ValueError("the answer is not a JSON list")  # noqa: TRY004 - says what the service sent
    return objects(value), True


def _given(answer: ReceivedPage | None) -> ReceivedPage:
    if answer is None:
        raise ValueError("the answer is missing")
    return answer


def _beginning(text: str) -> tuple[list[Fields], bool]:
    position = len(text) - len(text.lstrip())
    if not text.startswith("[", position):
        raise ValueError("the answer is not a JSON list")
    position += 1
    decoder = json.JSONDecoder()
    values: list[object] = []
    while True:
        if between := _BETWEEN.match(text, position):
            position = between.end()
        if text.startswith("]", position):
            return objects(values), True
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return objects(values), False
        values.append(value)


def composed(
    markdown: str,
    *,
    title: str,
    description: str = "",
    author: str = "",
    published: str = "",
    modified: str = "",
    content_type: str = "text/markdown",
    is_truncated: bool = False,
    notes: Sequence[str] = (),
) -> Composed:
    """Make a page of strangers' texts, which are cleaned and escaped here.

    Args:
        markdown: all of it.
        title: on one line.
        description: the site's own, on one line.
        author: a name, on one line.
        published: date, as the site writes it.
        modified: date of the last change, likewise.
        content_type: of the text that was read.
        is_truncated: whether text is missing at its end.
        notes: sentences for the caller.

    Raises:
        ContentError: it has no text.
    """
    clean, hidden = clean_counted(markdown.strip("\n"))
    inert = disarm(clean)
    if not inert.strip():
        raise ContentError("it has no text", code=ErrorCode.EXTRACTION_FAILED)
    document = Document(
        markdown=inert,
        word_count=count(inert),
        title=clean_line(title, _MAX_TITLE),
        description=clean_line(description, _MAX_DESCRIPTION),
        author=clean_line(author, _MAX_TITLE),
        published=clean_line(published, _MAX_TITLE),
        modified=clean_line(modified, _MAX_TITLE),
        outline=headings(inert),
        truncated=is_truncated,
        hidden_chars_removed=hidden,
        notes=tuple(clean_line(note, MAX_NOTE) for note in notes),
    )
    return Composed(document, content_type)
