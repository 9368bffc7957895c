"""Expansion: follows links from the pages of a call, as long as that helps."""

import asyncio
import heapq
import re
from collections.abc import Container, Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.content.addresses import slug_words
from searx_mcp.content.passages import score_all
from searx_mcp.errors import ErrorCode
from searx_mcp.evidence.answer.gathering import OUT_OF_TIME, Gathering, ScoredLink, Stopwatch
from searx_mcp.evidence.corpus.corpus import Corpus
from searx_mcp.evidence.corpus.ingestion import Ingested, earlier
from searx_mcp.evidence.storage.store import StoredPage
from searx_mcp.fetch.site_index import Listed, SiteIndexes
from searx_mcp.fetch.turns import FOUND, LINKED
from searx_mcp.models.page import PageLink
from searx_mcp.models.progress import Progress
from searx_mcp.urls.hosts import host_in

RETRIEVED: Final = 30
"""Number of chunks retrieved for each part of a question."""
_GAIN: Final = 0.01
"""Smallest improvement that counts. Chosen."""
_PATIENCE: Final = 2
"""Rounds without an improvement after which reading stops: the answer may be two links away, behind a page that
says nothing about it. One round, if no pending link names anything of the question."""
_AT_ONCE: Final = 4
"""Pages per round. Chosen: enough to hide one slow site, few enough that their content guides the choice of the
next ones."""
AT_ONCE_LISTED: Final = 2
"""The same for entries of an index, the best first: of twelve questions to Python's index, one of the first two
answers eight."""
_RESERVE: Final = 2.0
_RESERVE_SHARE: Final = 0.2
"""Seconds reserved for assembling the answer; of a shorter time, this share."""
_SITES: Final = 2
"""Sites whose indexes are asked for one question."""
_SLACK: Final = 0.25
"""Maximum share of a round's time that page readers reserve for themselves."""
_LATE: Final = frozenset({ErrorCode.TIMEOUT, ErrorCode.DEADLINE_EXCEEDED})
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

PLATEAU: Final = "score plateau — further pages brought no better passage"
OFF: Final = "no expansion was asked for"
SPENT: Final = "expansion budget exhausted"
DEEP: Final = "maximum depth reached"
NO_LINKS: Final = "no promising links left"
COVERED: Final = "every part of the question is answered"
COVERED_BY_SOME: Final = "the question is answered, but not by every page that was named"


class Frontier:
    """Links that wait to be followed, each address once."""

    def __init__(self, questions: Sequence[str], *, max_depth: int) -> None:
        """Start empty.

        Args:
            questions: for scoring links.
            max_depth: maximum number of links from the named pages.
        """
        self._questions = questions
        self._max_depth = max_depth
        self._links: list[tuple[float, int, ScoredLink]] = []
        self._known: set[str] = set()
        self._pushed = 0
        self._is_listed = False
        self.is_cut = False
        """Whether a page had links beyond the maximum depth."""

    @property
    def best(self) -> ScoredLink | None:
        """The link to follow next."""
        return self._links[0][2] if self._links else None

    def add(self, asked: str, done: Ingested, depth: int) -> None:
        """Add the links of a page.

        Args:
            asked: the requested address.
            done: the result of reading it.
            depth: of the page.
        """
        self._known |= {asked, done.url}
        if done.page is None:
            return
        self._known.add(done.page.final_url)
        links = score_links(
            done.page.document.links,
            self._questions,
            parent=done.url,
            depth=depth + 1,
            known=self._known,
        )
        if depth >= self._max_depth:
            self.is_cut = self.is_cut or bool(links)
            return
        for link in links:
            if is_promising(link) or not self._is_listed:
                self._push(link, -link.score)

    def add_listed(self, listed: Listed) -> None:
        """Add the entries that a site's index has for the question, before all links.

        From then on, links that share no word with the question are not followed.
        """
        if listed.pages:
            self._is_listed = True
            urls = {page.url for page in listed.pages}
            self._known -= urls & {link.url for *_, link in self._links}
            self._links = [
                each for each in self._links if is_promising(each[2]) and each[2].url not in urls
            ]
            heapq.heapify(self._links)
        for place, page in enumerate(listed.pages):
            if page.url not in self._known:
                # An entry may answer although its name does not show it, so the first ones are always read.
                coverage = 1.0 if place < AT_ONCE_LISTED else 0.0
                link = ScoredLink(page.url, listed.url, 1, page.score, coverage)
                self._push(link, -1.0 - page.score)

    def _push(self, link: ScoredLink, place: float) -> None:
        self._known.add(link.url)
        self._pushed += 1
        heapq.heappush(self._links, (place, self._pushed, link))

    def take(self, most: int) -> list[ScoredLink]:
        """Remove and return the best links; fewer if an index says which they are."""
        if self._links and self._links[0][0] < -1:
            most = min(most, AT_ONCE_LISTED)
        return [heapq.heappop(self._links)[2] for _ in range(min(most, len(self._links)))]


class Expander:
    """Follows links, best first, a few pages at a time."""

    def __init__(self, corpus: Corpus, indexes: SiteIndexes, *, max_depth: int) -> None:
        """Keep the parts.

        Args:
            corpus: reads, stores and searches pages.
            indexes: asked for the pages to open on the site of a named page.
            max_depth: maximum number of links from the named pages.
        """
        self._corpus = corpus
        self._indexes = indexes
        self._max_depth = max_depth

    async def gather(
        self,
        gathering: Gathering,
        seeds: Sequence[str],
        *,
        budget: int,
        is_automatic: bool,
        watch: Stopwatch,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Read the named pages, then linked ones until they stop helping; fills `gathering`.

        Args:
            gathering: changed in place, so that a caller that times out keeps what was gathered.
            seeds: addresses of the named pages.
            budget: maximum number of linked pages to try.
            is_automatic: whether to stop once the question is answered.
            watch: notified of each step.
            deadline: the loop time by which to return.
            progress: called with each step.
        """
        now = asyncio.get_running_loop().time
        stop_at = earlier(deadline, share=_RESERVE_SHARE, most=_RESERVE)
        frontier = Frontier(gathering.questions, max_depth=self._max_depth)
        wanted = [ScoredLink(url, "", 0, 1.0) for url in dict.fromkeys(seeds)]
        left, idle = budget, 0
        wait = None if gathering.named else FOUND
        while True:
            begun = now()
            read = await self._corpus.ingest_several(
                [link.url for link in wanted],
                deadline=stop_at,
                wait=wait,
                progress=progress,
            )
            # Readers also reserve some of a page's time, so it ends a little earlier.
            is_over = stop_at is not None and now() >= stop_at - _SLACK * (stop_at - begun)
            watch.mark("expansion" if left < budget else "ingestion")
            before = gathering.add_read(wanted, read)
            tell(progress, f"Searching {len(gathering.pages)} documents...")
            await search_each_part(
                self._corpus,
                gathering,
                watch,
                urls=list(gathering.pages),
                limit=RETRIEVED,
                deadline=deadline,
                progress=progress,
            )
            for url in gathering.unheard:
                for question in gathering.questions:
                    best = await self._corpus.retrieve(
                        question, urls=(url,), limit=1, deadline=deadline
                    )
                    gathering.add_best(question, best)
            gathering.add_steps(wanted, read, before)
            for link, done in zip(wanted, read, strict=True):
                frontier.add(link.url, done, link.depth)
            if gathering.named and budget and left == budget and self._max_depth and not is_over:
                await self._ask_indexes(gathering, frontier, read, deadline=stop_at)
                watch.mark("expansion")
            # Both scores are of the current hits: every page changes the weights of words.
            gain = gathering.score(list(gathering.pages)) - gathering.score(before)
            idle = 0 if gain > _GAIN or left == budget else idle + 1
            reason = OFF
            if budget:
                reason = _reason_to_stop(gathering, frontier, left, idle, is_automatic=is_automatic)
            if is_over and (
                not reason or any(done.error and done.error.code in _LATE for done in read)
            ):
                reason = OUT_OF_TIME
            if reason:
                gathering.stop_reason = reason
                return
            wanted = frontier.take(min(left, _AT_ONCE))
            left -= len(wanted)
            wait = LINKED
            tell(progress, f"Expanding to linked pages (iteration {budget - left}/{budget})...")

    async def _ask_indexes(
        self,
        gathering: Gathering,
        frontier: Frontier,
        read: Sequence[Ingested],
        *,
        deadline: float | None,
    ) -> None:
        """Ask the indexes of the named pages' sites, while the pages themselves are read."""
        best = frontier.best
        is_lost = not gathering.is_covered() and (best is None or not is_promising(best))
        sites: dict[str, StoredPage] = {}
        for done in read:
            if done.page is not None:
                told = done.page.document.indexes
                sites.setdefault(told[0].url if told else host_in(done.page.final_url), done.page)
        for page in [*sites.values()][:_SITES]:
            listed = await self._indexes.ask(
                page.final_url,
                page.document.indexes,
                gathering.questions,
                deadline=deadline,
                # Also ask a site that announces no index, if its links would be followed blindly.
                guess=is_lost,
            )
            if listed is not None:
                frontier.add_listed(listed)


async def search_each_part(
    corpus: Corpus,
    gathering: Gathering,
    watch: Stopwatch,
    *,
    urls: Sequence[str] | None,
    limit: int,
    deadline: float | None,
    progress: Progress | None,
) -> None:
    """Search the corpus for each part of the question.

    Args:
        corpus: to search.
        gathering: has the parts; collects the hits.
        watch: notified of the time, and how much of it was reranking.
        urls: the pages to search; `None` for all.
        limit: chunks per part.
        deadline: the loop time by which to return.
        progress: called before a reranker is asked.
    """
    reranking = 0.0
    for question in gathering.questions:
        found = await corpus.retrieve(
            question, urls=urls, limit=limit, deadline=deadline, progress=progress
        )
        gathering.add_found(question, found)
        reranking += found.reranking_ms
    watch.mark("retrieval", reranking=reranking)


def _reason_to_stop(
    gathering: Gathering, frontier: Frontier, left: int, idle: int, *, is_automatic: bool
) -> str:
    """Return the first reason to stop reading; empty if there is none.

    Args:
        gathering: what was read and found.
        frontier: the pending links.
        left: number of pages that may still be read.
        idle: rounds without an improvement.
        is_automatic: whether to stop once the question is answered.
    """
    best = frontier.best
    if best is None:
        return DEEP if frontier.is_cut else NO_LINKS
    if left <= 0:
        return SPENT
    # A page that announces another one contains the words of the question, too.
    if is_automatic and gathering.is_covered() and not is_likely(best):
        return COVERED if gathering.is_answered_by_all() else COVERED_BY_SOME
    return PLATEAU if idle >= (_PATIENCE if is_promising(best) else 1) else ""


def tell(progress: Progress | None, message: str) -> None:
    """Report what the call is doing, if there is a listener."""
    if progress is not None:
        progress(message)


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
