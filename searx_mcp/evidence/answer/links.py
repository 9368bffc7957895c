"""Links of pages that were read, by how likely they lead to what is asked."""

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
"""Parts of a path that lead to a form, or to what every site says; followed only if they are asked for."""
_CONTEXT_SHARE: Final = 0.5
"""What a word beside a link counts, in words of the link. Chosen."""
_NEAR: Final = 1.15
"""What a page of the same folder is worth, in pages of another one. Chosen: it parts equals, no more."""
_LEAST: Final = 0.01
"""Score of a link that shares no word with the question: it is followed after all others."""
_SCORED: Final = 300
"""Links of a page that are looked at; those of its content come first."""
_LIKELY: Final = 0.35
"""Share of a question that the name of a link has, from which on it is read even if the question seems to be
answered: a page that announces another one has the question's words, too. Chosen: two of four words, since one that
no link has weighs more."""


@dataclass(frozen=True, slots=True)
class ScoredLink:
    """A link that may lead to what is asked.

    Attributes:
        url: without its fragment.
        parent: the page that it stands on.
        depth: links away from the pages that the call named.
        score: 0 to 1, higher is better.
        coverage: share of a question that its words and address have, 0 to 1.
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
        known: addresses that were read or are waiting.

    Returns:
        Best first; links to files are left out, and of those without a word of a question the ones to forms and
        to other sites.
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
            score = name.score + _CONTEXT_SHARE * beside[index].score
            best[index] = max(best[index], score)
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
    """Tell whether a link, or the words beside it, share a word with the question."""
    return link.score > _LEAST * _NEAR


def is_likely(link: ScoredLink) -> bool:
    """Tell whether a link names enough of the question to be what it is about."""
    return link.coverage >= _LIKELY


def _does_something(url: str) -> bool:
    parts = urlsplit(url).path.lower().replace("-", "").split("/")
    return not _DOES_SOMETHING.isdisjoint(part.partition(".")[0] for part in parts)


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _folder(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path.rpartition('/')[0]}"
