"""Feeds: RSS 0.9x, 1.0 and 2.0, Atom and JSON Feed, as a readable list.

Feeds are parsed leniently, since half of them are not well-formed. No document type reaches the parser, so there are
no entities to expand and no files to load.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from html.entities import html5
from typing import Any, Final, Protocol

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.clean import clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.markdown import escape, link, safe_address
from searx_mcp.content.outline import cut
from searx_mcp.content.values import iso_date
from searx_mcp.errors import ContentError

MAX_ENTRIES: Final = 100

_MAX_CHARS: Final = 4_000_000
"""Characters that are parsed; a longer feed has its newest entries at the beginning."""

_MISC = re.compile(r"(?:\s++|<\?(?:[^?]|\?(?!>))*+\?>|<!--(?:[^-]|-(?!->))*+-->)*+")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*+", re.IGNORECASE)
_SUBSET_END = re.compile(r"\]\s*+>")
_ROOT = re.compile(r"<(?:[\w.-]{1,40}:)?(rss|feed|rdf|html)(?=[\s>])", re.IGNORECASE)
_FEEDS: Final = frozenset({"rss", "feed", "rdf"})
_REPAIRED = re.compile(
    r"<!\[CDATA\[(?:[^\]]|\](?!\]>))*+(?:\]\]>|\Z)"
    r"|&(?:(?P<name>[A-Za-z][A-Za-z0-9]{1,30});|\#(?:x(?P<hex>[0-9A-Fa-f]{1,8})|(?P<code>[0-9]{1,9}));)?"
)
"""Entities outside CDATA, and `&` that begins no entity."""

_ALLOWED = re.compile("[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters of XML 1.0, section 2.2."""

_XML_ENTITIES: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})

_PREFIXES: Final = {
    "": "",
    "http://purl.org/rss/1.0/": "",
    "http://my.netscape.com/rdf/simple/0.9/": "",
    "http://channel.netscape.com/rdf/simple/0.9/": "",
    "http://backend.userland.com/rss2": "",
    "http://www.w3.org/2005/Atom": "atom:",
    "http://purl.org/atom/ns#": "atom:",
    "http://purl.org/dc/elements/1.1/": "dc:",
    "http://purl.org/dc/terms/": "dcterms:",
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
}
_XML: Final = "{http://www.w3.org/XML/1998/namespace}"
_RDF_ABOUT: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_MAIL_AND_NAME = re.compile(r"\S+@\S+\s*\(([^()]+)\)")

_VERSION: Final = "jsonfeed.org/version/"
_MAX_AUTHORS: Final = 5


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One entry; nothing is cleaned, and missing values are empty.

    Attributes:
        title: text, perhaps with markup.
        link: as written.
        date: as written.
        author: names.
        html: its summary, or else its content.
    """

    title: str
    link: str
    date: str
    author: str
    html: str


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed; nothing is cleaned, and missing values are empty.

    Attributes:
        title: text, perhaps with markup.
        description: likewise.
        link: of the site, as written.
        author: names.
        language: a tag, as written.
        updated: time of the last change, as written.
        entries: the first ones, in order.
        count: of all entries that were read.
    """

    title: str
    description: str
    link: str
    author: str
    language: str
    updated: str
    entries: tuple[FeedEntry, ...]
    count: int


class _Element(Protocol):
    """The part of an lxml element that is used here; lxml has no types."""

    tag: object
    text: str | None

    def get(self, name: str) -> str | None: ...
    def itertext(self) -> Iterator[str]: ...
    def __iter__(self) -> Iterator["_Element"]: ...
    def __len__(self) -> int: ...


_Children = Mapping[str, list[_Element]]


def is_html(text: str) -> bool:
    """Whether the root element of an XML document is HTML's."""
    return _root(text)[0] == "html"


def xml_feed(text: str) -> Feed | None:
    """Read a feed, or return `None` for a document whose root element is not that of a feed.

    Args:
        text: a decoded XML document; a truncated or broken one is read as far as possible.
    """
    name, start = _root(text)
    if name not in _FEEDS:
        return None
    from lxml import etree  # noqa: PLC0415 - most processes never read a feed

    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    xml = _REPAIRED.sub(_repaired, text[start : start + _MAX_CHARS])
    try:
        root: _Element | None = etree.fromstring(xml.encode("utf-8", "replace"), parser)
        return None if root is None else _feed(root)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _feed(root: _Element) -> Feed | None:
    children = _children(root)
    if "atom:entry" in children or _local(root).endswith("atom:feed"):
        return _atom(root, children)
    channels = children.get("channel")
    if not channels:
        return None
    return _rss(root, _children(channels[0]), children)


def _root(text: str) -> tuple[str, int]:
    """The name of the root element, if it is one of a feed or of HTML, and its position."""
    position = _after_misc(text, 0)
    if doctype := _DOCTYPE.match(text, position):
        position = doctype.end()
        if text[position : position + 1] == "[":
            subset = _SUBSET_END.search(text, position)
            position = len(text) if subset is None else subset.end()
        else:
            position += 1
        position = _after_misc(text, position)
    root = _ROOT.match(text, position)
    return (root[1].lower(), position) if root else ("", position)


def _rss(root: _Element, channel: _Children, around: _Children) -> Feed:
    # In RSS 0.9 and 1.0 the entries are siblings of the channel.
    items = channel.get("item") or around.get("item") or []
    return Feed(
        title=_text(channel, "title", "dc:title"),
        description=_text(channel, "description", "itunes:summary", "dc:description"),
        link=_link(channel),
        author=_person(channel),
        language=_text(channel, "language", "dc:language") or (root.get(f"{_XML}lang") or ""),
        updated=_text(channel, "lastBuildDate", "pubDate", "dc:date"),
        entries=tuple(_item(item) for item in items[:MAX_ENTRIES]),
        count=len(items),
    )


def _item(item: _Element) -> FeedEntry:
    children = _children(item)
    return FeedEntry(
        title=_text(children, "title", "dc:title", "itunes:title"),
        link=_link(children) or item.get(_RDF_ABOUT) or "",
        date=_text(
            children, "pubDate", "dc:date", "atom:published", "atom:updated", "dcterms:created"
        ),
        author=_person(children),
        html=_text(children, "description", "content:encoded", "itunes:summary", "dc:description"),
    )


def _atom(root: _Element, feed: _Children) -> Feed:
    entries = feed.get("atom:entry", [])
    return Feed(
        title=_text(feed, "atom:title"),
        description=_text(feed, "atom:subtitle", "atom:tagline"),
        link=_link(feed),
        author=_person(feed),
        language=root.get(f"{_XML}lang") or _text(feed, "dc:language"),
        updated=_text(feed, "atom:updated", "atom:modified"),
        entries=tuple(_entry(entry) for entry in entries[:MAX_ENTRIES]),
        count=len(entries),
    )


def _entry(entry: _Element) -> FeedEntry:
    children = _children(entry)
    content = next(
        (found for name in ("atom:summary", "atom:content") for found in children.get(name, ())),
        None,
    )
    return FeedEntry(
        title=_text(children, "atom:title"),
        link=_link(children),
        date=_text(children, "atom:published", "atom:updated", "atom:issued", "atom:modified"),
        author=_person(children),
        html="" if content is None else _markup(content),
    )


def _markup(content: _Element) -> str:
    """A text construct of Atom as HTML (RFC 4287, section 3.1)."""
    kind = (content.get("type") or "text").lower()
    if len(content):  # XHTML, or HTML that was not escaped
        from lxml import etree  # noqa: PLC0415 - most processes never read a feed

        inner = (etree.tostring(child, encoding="unicode", method="html") for child in content)
        return (content.text or "") + "".join(inner)
    text = content.text or ""
    if "html" in kind:
        return text
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _link(children: _Children) -> str:
    for element in children.get("link", ()):
        if text := _inner(element) or (element.get("href") or "").strip():
            return text
    for element in children.get("atom:link", ()):
        if (element.get("rel") or "alternate") == "alternate" and (href := element.get("href")):
            return href.strip()
    for guid in children.get("guid", ()):
        text = _inner(guid)
        if text.startswith(("http://", "https://")) and guid.get("isPermaLink") != "false":
            return text
    return ""


def _person(children: _Children) -> str:
    for person in (*children.get("atom:author", ()), *children.get("author", ())):
        if name := _text(_children(person), "atom:name", "name"):
            return name
    stated = _text(children, "dc:creator", "author", "itunes:author", "managingEditor")
    found = _MAIL_AND_NAME.fullmatch(stated)
    return found[1].strip() if found else stated


def _text(children: _Children, *names: str) -> str:
    return next(
        (text for name in names for found in children.get(name, ()) if (text := _inner(found))), ""
    )


def _inner(element: _Element) -> str:
    return "".join(element.itertext()).strip()


def _children(element: _Element) -> dict[str, list[_Element]]:
    found: dict[str, list[_Element]] = {}
    for child in (each for each in element if isinstance(each.tag, str)):
        found.setdefault(_local(child), []).append(child)
    return found


def _local(element: _Element) -> str:
    """The name with the usual prefix of its namespace; with an unknown one, it matches nothing."""
    namespace, _, name = str(element.tag).rpartition("}")
    return f"{_PREFIXES.get(namespace[1:], '?')}{name}"


def _after_misc(text: str, position: int) -> int:
    found = _MISC.match(text, position)
    return position if found is None else found.end()


def _repaired(match: re.Match[str]) -> str:
    """An HTML entity as a number, since XML has only five; an unknown one as text."""
    if match[0].startswith("<"):
        return match[0]
    if name := match["name"]:
        numbers = "".join(f"&#{ord(letter)};" for letter in html5.get(f"{name};", ""))
        return match[0] if name in _XML_ENTITIES else numbers or f"&amp;{name};"
    if match["hex"] or match["code"]:
        code = int(match["hex"], 16) if match["hex"] else int(match["code"])
        is_allowed = code <= sys.maxunicode and _ALLOWED.match(chr(code))
        return match[0] if is_allowed else ""
    return "&amp;"


def json_feed(text: str) -> Feed | None:
    """Read a feed, or return `None` for JSON that is not a feed."""
    if _VERSION not in text:
        return None
    try:
        feed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(feed, dict) or _VERSION not in _string(feed, "version"):
        return None
    items = feed.get("items")
    entries = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return Feed(
        title=_string(feed, "title"),
        description=_string(feed, "description"),
        link=_string(feed, "home_page_url"),
        author=_authors(feed),
        language=_string(feed, "language"),
        updated="",
        entries=tuple(_json_entry(item) for item in entries[:MAX_ENTRIES]),
        count=len(entries),
    )


def _json_entry(item: Mapping[str, Any]) -> FeedEntry:
    plain = _string(item, "summary", "content_text")
    return FeedEntry(
        title=_string(item, "title"),
        link=_string(item, "url", "external_url"),
        date=_string(item, "date_published", "date_modified"),
        author=_authors(item),
        html=plain.replace("&", "&amp;").replace("<", "&lt;") or _string(item, "content_html"),
    )


def _authors(item: Mapping[str, Any]) -> str:
    authors = item.get("authors") or item.get("author")
    people = authors if isinstance(authors, list) else [authors]
    names = (
        _string(person, "name") for person in people[:_MAX_AUTHORS] if isinstance(person, dict)
    )
    return ", ".join(filter(None, names))


def _string(item: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := item.get(name), str) and value), "")


_TITLE_CHARS: Final = 300
_NAME_CHARS: Final = 100
_SUMMARY_CHARS: Final = 600
_FRAGMENT_CHARS: Final = 4_000
"""Characters of HTML of one entry that are converted: enough for its summary."""
_ALL_FRAGMENTS: Final = 100_000
"""Characters of HTML of all entries that are converted, shared among them: the worst kind takes a second."""
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|cite|code|em|font|i|p|q|s|small|span|strong|sub|sup|u)\b[^<>]*>"
)
_HEADING = re.compile(r"(?m)^#{1,6} +([^\n]+)$")
_FENCE = re.compile(r"(?m)^ {0,3}(?:`{3,}|~{3,})")
_OPEN_LINK = re.compile(r"!?\[[^\[\]]*(?:\]\([^()]*)?$")


@dataclass(frozen=True, slots=True)
class ListedFeed:
    """A feed as Markdown.

    Attributes:
        markdown: a heading, and a list of at most 100 entries.
        links: of the site and the entries, absolute.
        is_cut: whether there are more entries.
    """

    markdown: str
    links: tuple[str, ...]
    is_cut: bool


def plain_text(text: str, max_chars: int) -> str:
    """A title or a name from a feed as one clean line; many contain entities or tags."""
    return clean_line(unescape(_TAG.sub("", text[: 4 * max_chars])), max_chars)


def listed_feed(feed: Feed, *, url: str, config: ContentConfig) -> ListedFeed:
    """Convert a feed to a list.

    Args:
        feed: the parsed feed.
        url: its address, against which links are resolved.
        config: how fragments are converted to Markdown.
    """
    site = absolute_web(url, feed.link) if feed.link else ""
    title = escape(plain_text(feed.title, _TITLE_CHARS)) or "Feed"
    description = escape(plain_text(feed.description, _SUMMARY_CHARS))
    share = min(_FRAGMENT_CHARS, _ALL_FRAGMENTS // max(1, len(feed.entries)))
    lines, links = [], [site]
    for entry in feed.entries:
        address = absolute_web(site or url, entry.link) if entry.link else ""
        summary = _summary(entry.html[:share], address or url, config)
        lines.append(_listed(entry, address, summary))
        links.append(address)
    head = [f"# {title}", description, f"Feed of <{safe_address(site)}>." if site else ""]
    return ListedFeed(
        markdown="\n\n".join(filter(None, [*head, "\n\n".join(lines)])),
        links=tuple(dict.fromkeys(filter(None, links))),
        is_cut=feed.count > MAX_ENTRIES,
    )


def _listed(entry: FeedEntry, address: str, summary: str) -> str:
    title = escape(plain_text(entry.title, _TITLE_CHARS))
    if not title and summary:  # a note, which has only a text
        title, summary = summary, ""
        head = [f"{title} {link('link', address)}" if address else title]
    else:
        title = title or escape(address) or "Untitled"
        head = [link(title, address) if address else title]
    head += [escape(iso_date(entry.date)), escape(plain_text(entry.author, _NAME_CHARS))]
    item = "- " + ", ".join(filter(None, head))
    return "\n".join(_indented(f"{item}\n\n{summary}" if summary else item))


def _indented(item: str) -> Iterator[str]:
    first, *rest = item.split("\n")
    yield first
    yield from (f"  {line}" if line else "" for line in rest)


def _summary(fragment: str, url: str, config: ContentConfig) -> str:
    if not fragment.strip():
        return ""
    from searx_mcp.content.fragments import (  # noqa: PLC0415 - 0.1 s that few pages need
        fragment_markdown,
    )

    try:
        markdown = fragment_markdown(fragment, url=url, config=config)
    except ContentError:
        return ""
    return _capped(_HEADING.sub(r"**\1**", markdown))


def _capped(markdown: str) -> str:
    """The beginning of some Markdown, without open markup."""
    if len(markdown) <= _SUMMARY_CHARS:
        return markdown
    head = markdown[: cut(markdown, 0, _SUMMARY_CHARS)].rstrip()
    marks = [found.start() for found in _FENCE.finditer(head)]
    if len(marks) % 2:
        head = head[: marks[-1]]
    return _OPEN_LINK.sub("", head).rstrip() + " …"
