"""Scores the links of pages by how likely they lead to the answer."""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.content.addresses import slug_words
from searx_mcp.content.passages import score_all
from searx_mcp.models.page import PageLink

_NO_PAGE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|bmp|mp[34]|m4[av]|webm|ogg|wav|avi|mov|zip|gz|tgz|bz2|xz|7z|rar|tar|exe"
    r"|msi|dmg|deb|rpm|apk|iso|whl|jar|css|js|woff2?|ttf|csv|xlsx?|pptx?|docx?)$",
    re.IGNORECASE,
)
_DOES_SOMETHING: Final = frozenset(
    [
        "account", "cart", "checkout", "donate", "edit", "imprint", "impressum", "login",
        "logout", "print", "privacy", "register", "search", "share", "signin", "signout",
        "signup", "subscribe", "terms",
    ]
)  # fmt: skip
"""Path segments of forms and of boilerplate pages; followed only if the question asks for them."""
_CONTEXT_SHARE: Final = 0.5
"""Weight of a word next to a link, relative to a word of the link. Chosen."""
_NEAR: Final = 1.15
"""Factor for a page in the same folder, relative to other folders. Chosen: it only breaks ties."""
_LEAST: Final = 0.01
"""Score of a link that shares no word with the question: it is followed last."""
_SCORED: Final = 300
"""Links of a page that are scored; those in its content come first."""
_LIKELY: Final = 0.35
"""Share of a question in a link's text from which the link is read even if the question seems to be answered: a
page that announces another one contains the question's words, too. Chosen: two of four words, since a word that no
link has weighs more."""


@dataclass(frozen=True, slots=True)
class ScoredLink:
    """A link that may lead to the answer.

    Attributes:
        url: without its fragment.
        parent: the page that contains it.
        depth: number of links from the pages that the call named.
        score: 0 to 1, higher is better.
        coverage: share of a question in its text and address, 0 to 1.
    """

    url: str
    parent: str
    depth: int
    score: float
    coverage: float = 0.0


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
        known: addresses that were read or are pending.

    Returns:
        Best first, without links to files, and without links to forms and to other sites that share no word
        with a question.
    """
    wanted: dict[str, PageLink] = {}
    for link in links[:_SCORED]:
        url = link.url.partition("#")[0]
        if url not in known and not _NO_PAGE.search(urlsplit(url).path):
            wanted.setdefault(url, link)
    named = [(f"{link.text} {slug_words(url)}", ()) for url, link in wanted.items()]
    around = [(link.context, ()) for link in wanted.values()]
    best, coverage = [0.0] * len(wanted), [0.0] * len(wanted)
    for question in questions:
        beside = score_all(around, question)
        for index, name in enumerate(score_all(named, question)):
            best[index] = max(best[index], name.score + _CONTEXT_SHARE * beside[index].score)
            coverage[index] = max(coverage[index], name.coverage)
    here = _folder(parent)
    scored = [
        ScoredLink(
            url,
            parent,
            depth,
            min(1.0, (best[index] or _LEAST) * (_NEAR if _folder(url) == here else 1.0)),
            coverage[index],
        )
        for index, url in enumerate(wanted)
        if best[index] or (_host(url) == _host(parent) and not _does_something(url))
    ]
    return sorted(scored, key=lambda link: -link.score)


def is_promising(link: ScoredLink) -> bool:
    """Return whether a link, or the words next to it, share a word with the question."""
    return link.score > _LEAST * _NEAR


def is_likely(link: ScoredLink) -> bool:
    """Return whether a link names enough of the question to be about it."""
    return link.coverage >= _LIKELY


def _does_something(url: str) -> bool:
    parts = urlsplit(url).path.lower().replace("-", "").split("/")
    return not _DOES_SOMETHING.isdisjoint(part.partition(".")[0] for part in parts)


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _folder(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path.rpartition('/')[0]}"
