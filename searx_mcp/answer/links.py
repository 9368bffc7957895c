"""Links of pages that were read, by how likely they lead to what is asked."""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from searx_mcp.content.passages import score_parts
from searx_mcp.models.page import PageLink

_NO_PAGE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|bmp|mp[34]|m4[av]|webm|ogg|wav|avi|mov|zip|gz|tgz|bz2|xz|7z|rar|tar|exe"
    r"|msi|dmg|deb|rpm|apk|iso|whl|jar|css|js|woff2?|ttf|csv|xlsx?|pptx?|docx?)$",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"(?:^|[/._-])(?:log-?in|log-?out|sign-?(?:in|up)|register|account|subscribe|cart|checkout|donate|share"
    r"|print|edit|history|privacy|terms|cookies?|imprint|impressum|contact|careers|advertise|feed|rss"
    r"|tag|tags|category|author|user|profile|search)(?:$|[/._?=-])",
    re.IGNORECASE,
)
"""Paths that lead to no text about a subject."""
_WORDS = re.compile(r"[^\W_]+")
_CONTEXT_SHARE: Final = 0.5
"""What a word beside a link counts, in words of the link."""
_NEAR: Final = 1.15
"""A page of the same folder is worth so much more than one of another site."""
_LEAST: Final = 0.01
"""Score of a link that shares no word with the question: it is followed after all others."""
_SCORED: Final = 300
"""Links of a page that are looked at; those of its content come first."""


@dataclass(frozen=True, slots=True)
class ScoredLink:
    """A link that may lead to what is asked.

    Attributes:
        url: without its fragment.
        parent: the page that it stands on.
        depth: links away from the pages that the call named.
        score: 0 to 1, higher is better.
    """

    url: str
    parent: str
    depth: int
    score: float


def score_links(
    links: Sequence[PageLink],
    questions: Iterable[str],
    *,
    parent: str,
    depth: int,
    known: Container[str],
) -> list[ScoredLink]:
    """Score the links of a page, each address once.

    Args:
        links: of the page's content, in order.
        questions: what is asked.
        parent: the address of the page.
        depth: of the pages that the links lead to.
        known: addresses that were read or are waiting.

    Returns:
        Best first; links to files, accounts and the like are left out.
    """
    wanted = {}
    for link in links[:_SCORED]:
        url = link.url.partition("#")[0]
        parts = urlsplit(url)
        if url in known or url in wanted or _NO_PAGE.search(parts.path):
            continue
        if not _NO_ANSWER.search(parts.path):
            wanted[url] = link
    if not wanted:
        return []
    named = [(f"{link.text} {_slug(url)}", ()) for url, link in wanted.items()]
    around = [(link.context, ()) for link in wanted.values()]
    best = [0.0] * len(wanted)
    for question in questions:
        for index, (name, context) in enumerate(
            zip(score_parts(named, question), score_parts(around, question), strict=True)
        ):
            best[index] = max(best[index], name.score + _CONTEXT_SHARE * context.score)
    here = _folder(parent)
    scored = [
        ScoredLink(
            url,
            parent,
            depth,
            min(1.0, (score or _LEAST) * (_NEAR if _folder(url) == here else 1.0)),
        )
        for url, score in zip(wanted, best, strict=True)
    ]
    return sorted(scored, key=lambda link: -link.score)


def is_promising(link: ScoredLink) -> bool:
    """Tell whether a link shares a word with the question."""
    return link.score > _LEAST * _NEAR


def is_external(url: str, parent: str) -> bool:
    """Tell whether a page is of another host than the one that links to it."""
    return urlsplit(url).netloc != urlsplit(parent).netloc


def _slug(url: str) -> str:
    """The words of an address."""
    path = unquote(urlsplit(url).path, errors="replace")
    return " ".join(_WORDS.findall(path)[-8:])


def _folder(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path.rpartition('/')[0]}"
