"""A feed as a page: its entries become a Markdown list."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.clean import clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.feeds import MAX_ENTRIES, Feed, FeedEntry
from searx_mcp.content.markdown import escape, link, safe_address
from searx_mcp.content.outline import cut
from searx_mcp.content.values import iso_date
from searx_mcp.errors import ContentError

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
