"""An open source: its row in the table, the query, and the parsed answer."""

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Final, Self
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from pydantic import SecretStr

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Hit
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.question import Ecosystem, Identifier, IdentifierKind, Question, Signal

MAX_BYTES: Final = 2_097_152
"""Maximum bytes of an answer. Ten records of Europe PMC, the largest, are said to have some hundred
thousand."""

FORBIDDEN: Final = 3_600.0
"""Seconds to pause after a 403 without a reason: usually a refused address or User-Agent."""

ANY_AGE: Final = frozenset({TimeRange.DAY, TimeRange.WEEK, TimeRange.MONTH, TimeRange.YEAR})

AWAY: Final = 0.5
"""Weight of a vote outside the engine's own route, or without the requested filter by age."""

_DAYS: Final = {TimeRange.DAY: 1, TimeRange.WEEK: 7, TimeRange.MONTH: 30, TimeRange.YEAR: 365}

LUCENE_OPERATORS: Final = frozenset({"AND", "OR", "NOT", "TO"})
_LUCENE_RANGES = re.compile(r'[<>="\s]+')
"""Range operators, which a backslash does not escape (Elasticsearch, query string syntax), and quotes."""
_LUCENE_SIGNS = re.compile(r"[+\-&|!(){}\[\]^~*?:\\/]")
"""The other operators of Lucene's classic query parser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuery:
    """A query to one engine.

    Attributes:
        text: the caller's question, without `site:` words and search syntax. A long one also loses function
            words and frames, unless the engine searches by meaning, and is reduced to the keywords for an
            engine that requires every word.
        keywords: the question without function words and frames such as `how do I`: at most six, in their
            order and spelling; a quoted phrase is one, without its quotes.
        now: the time of the question, with its zone.
        category: the category to search.
        language: two letters, perhaps with a region, as in `en-US`; or `all`.
        safe_search: 0 off, 1 moderate, 2 strict.
        time_range: maximum age of a result.
        page: 1-based.
        aim: the part of the engine to search, such as a site of Stack Exchange.
        identifier: the work that the question names, if it names one.
        contact: our contact for the engine's operator; empty if none is set or wanted.
    """

    text: str
    keywords: tuple[str, ...]
    now: datetime
    category: Category = Category.GENERAL
    language: str = "en"
    safe_search: int = 1
    time_range: TimeRange = TimeRange.ANY
    page: int = 1
    aim: str = ""
    identifier: Identifier | None = None
    contact: str = ""

    @property
    def since(self) -> date | None:
        """The earliest day of a result; a month has 30 days, a year 365."""
        days = _DAYS.get(self.time_range)
        return None if days is None else (self.now - timedelta(days=days)).date()

    @property
    def spoken(self) -> str:
        """The language without its region."""
        return self.language.partition("-")[0]

    @property
    def today(self) -> date:
        """The day of the question."""
        return self.now.date()

    def words(self) -> str:
        """The keywords on one line, phrases in quotes."""
        return one_line(self.keywords)


@dataclass(frozen=True, slots=True)
class Ask:
    """The part of a request that depends on the query.

    Attributes:
        parameters: of the query string, besides those in the table.
        path: segments after the endpoint, each percent-encoded as a whole; an empty last one adds a trailing
            slash.
        language: the host label for an endpoint with `{language}`; from a fixed list.
        body: posted as JSON; without one the request is a GET.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    language: str = ""
    body: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed answer.

    Attributes:
        hits: the usable rows, in the engine's order.
        rows_seen: number of all rows.
        has_next: whether there is a next page; `None` if the engine does not say.
        pause: seconds for which the engine asks for a pause, or `None`.
    """

    hits: tuple[Hit, ...] = ()
    rows_seen: int = 0
    has_next: bool | None = None
    pause: float | None = None


class RefusedError(Exception):
    """An engine's refusal, in its own words.

    Attributes:
        verdict: of the attempt.
        detail: a sentence for a person; never the query.
        pause: seconds for which the engine asks for a pause, or `None` if it does not say.
        ours: whether our request is at fault, which says nothing about the engine.
        again: whether one more request may follow at once: the refusal is due to the engine's load, not to a
            limit of ours.
    """

    def __init__(
        self,
        verdict: Verdict,
        detail: str,
        *,
        pause: float | None = None,
        ours: bool = False,
        again: bool = False,
    ) -> None:
        super().__init__(detail)
        self.verdict = verdict
        self.detail = detail
        self.pause = pause
        self.ours = ours
        self.again = again


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text; an underscore stands for the space in an expression."""
    return frozenset(word.replace("_", " ") for word in text.split())


def lies_on(host: str, domain: str) -> bool:
    """Return whether a host is a domain or a subdomain of it."""
    return host == domain or host.endswith(f".{domain}")


def one_line(words: Iterable[str]) -> str:
    """Join words on one line, phrases in quotes."""
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def fitting(words: Iterable[str], most: int) -> str:
    """Join the first words on one line, up to `most` characters."""
    line = ""
    for word in words:
        longer = f"{line} {word}".strip()
        if len(longer) > most:
            break
        line = longer
    return line


def lucene_terms(keywords: Iterable[str]) -> list[str]:
    """Return each keyword as literal text for Lucene's query parser: escaped, or quoted if it is a phrase.

    Args:
        keywords: words, and phrases without quotes; one without letters and digits is left out.
    """
    return [term for term in map(_lucene_term, keywords) if term]


def _lucene_term(keyword: str) -> str:
    text = _LUCENE_RANGES.sub(" ", keyword).strip()
    if not any(map(str.isalnum, text)):
        return ""
    if " " in text or text in LUCENE_OPERATORS:
        doubled = text.replace("\\", "\\\\")
        return f'"{doubled}"'
    return _LUCENE_SIGNS.sub(r"\\\g<0>", text)


def spelled(language: str, known: Container[str], spellings: Mapping[str, str]) -> str:
    """Return an engine's name for a language, or for the language without its region; empty if unknown.

    Args:
        language: two letters, perhaps with a region, in the case of `known`.
        known: languages in the engine's spelling.
        spellings: the engine's names of other languages.
    """
    names = (spellings.get(each, each) for each in (language, language.partition("-")[0]))
    return next((name for name in names if name in known), "")


@dataclass(frozen=True, slots=True)
class Scope:
    """A question with its category and restrictions.

    Attributes:
        question: the parsed question.
        category: one of the nine.
        further: the additional SearXNG category that was given; empty for one of the nine.
        language: two letters, `all` or `auto`; empty if none was given.
    """

    question: Question
    category: Category
    further: str = ""
    language: str = ""

    def form(self, forms: Mapping[Signal, str]) -> str:
        """Choose the part of a collection for a question without a category; empty in a category.

        Args:
            forms: the parts by the signal for them.
        """
        if self.category is not Category.GENERAL:
            return ""
        told = (signal for signal in Signal if signal in self.question.signals & forms.keys())
        return next((forms[signal] for signal in told), "")


MakeAim = Callable[[Scope], str]
"""Chooses the part of an engine to search; empty leaves that to the engine."""

Identify = Callable[[str, SplitResult], str]
"""Returns the key of the thing at an address, from its host without `www.` and its path parts; empty if
none."""

MakeAsk = Callable[[OpenQuery], Ask | None]
"""Builds the request for a query; `None` if the engine does not support it."""

Parse = Callable[[bytes, OpenQuery], Parsed]
"""Parses an answer of status 200.

Raises `ValueError` if it is not as documented, `RefusedError` if it explains why it does not answer.
"""

ReadRefusal = Callable[[int, Mapping[str, str], bytes], RefusedError | None]
"""Parses an answer of another status; `None` if only the status counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Points for asking an engine: the more, the better it fits.

    Attributes:
        anyway: for any question without a category.
        signals: for subjects of such a question.
        pairs: for two signals together.
        topic: for a question that one of its sites fits; without such a site it is asked only by name.
        topic_how_to: the same if the question asks how to do something.
        within: for subjects, in a category; `Engine.categories` has the points without them.
        homes: categories that are its own route only with one of these signals; without them, its vote counts
            less.
        further: its rank, from 1, among the engines of an additional SearXNG category.
        ecosystem: the packages that it has.
        is_registry: whether it is asked for a package of unknown ecosystem if only packages are wanted.
        on_code: factor of its vote on questions about code outside its own route.
    """

    anyway: float = 0.0
    signals: Mapping[Signal, float] = field(default_factory=dict)
    pairs: Mapping[frozenset[Signal], float] = field(default_factory=dict)
    topic: float = 0.0
    topic_how_to: float = 0.0
    within: Mapping[Category, Mapping[Signal, float]] = field(default_factory=dict)
    homes: Mapping[Category, frozenset[Signal]] = field(default_factory=dict)
    further: Mapping[str, int] = field(default_factory=dict)
    ecosystem: Ecosystem | None = None
    is_registry: bool = False
    on_code: float = AWAY


class EngineWords:
    """Words related to an engine, in lower case and without accents.

    Args:
        names: by which a question names it; an underscore stands for the space in an expression.
        frames: that point to it, and are not part of the subject.
        implied: that describe its kind of content; its rows need not contain them.
    """

    def __init__(self, names: str = "", *, frames: str = "", implied: str = "") -> None:
        self.names = word_set(names)
        self.frames = word_set(frames)
        self.implied = word_set(implied)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A row of the table: one documented API of an open collection.

    Attributes:
        name: in settings, lists and results.
        title: its name for a person.
        operator: its operator, and from which country.
        categories: the categories it is asked for, with points in addition to its `routing`.
        endpoint: `https` address; `{language}` stands for a subdomain. Empty: a setting must provide it.
        parameters: of every request.
        ask, parse: see `MakeAsk` and `Parse`.
        read_refusal: see `ReadRefusal`.
        aim: see `MakeAim`.
        identify: see `Identify`.
        routing: reasons for asking it.
        words: words related to it.
        finds: kinds of identifiers that find a work without other words.
        weight: of its vote.
        gap: seconds between two requests, by all processes.
        gap_without_contact: the same while no contact is set; by default, `gap`.
        burst: requests that may be sent at once before the gap counts.
        per_day: requests in 24 hours; 0 is unlimited.
        per_month: requests in 30 days; 0 is unlimited.
        patience: seconds one search may wait for the gap.
        concurrency: concurrent requests of one process.
        timeout: seconds one request may take.
        rest: minimum seconds of pause after a limit or a timeout.
        limits: statuses that mean a limit here, besides 429 and 503.
        bucket: the name under which requests are counted; engines of one operator may share one.
        accept: media type to request.
        headers: more headers of every request.
        wants_contact: whether to send the operator's contact in the User-Agent.
        key: ours, if the operator of this program has set one; it is sent to this engine's host alone.
        key_parameter: query parameter for the key.
        key_header: header for the key; with neither it is a bearer token.
        gap_with_key, per_day_with_key: `gap` and `per_day` with a key; by default the same.
        licence: the credit that its data's licence requires, a sentence; empty if none.
        notice: what a person who enables it should know, a sentence; empty for collections.
        terms_url: the page with limits and terms.
        terms_checked: the month in which they were read, `YYYY-MM`.
        switch: reads the setting that enables it; most need none.
        endpoint_setting: reads the setting of its endpoint, if there is one.
        key_setting: reads the setting of `key`, if there is one.
        triggered: ask it only if the query names its subject, not for its category alone.
        is_slow: at most one of these is asked in a search without a category.
        is_web_index: whether it covers the whole web, unlike a collection.
        is_semantic: whether it searches by meaning, so that results need not share words with the query.
        searches_unseen: whether it searches texts or tags that its rows do not show.
        demands_all: whether it requires every word, so that a long question is reduced to its keywords.
        time_ranges: ages it can filter by.
        languages: two letters each; empty if it supports all or has no language.
        languages_of_code: more languages, for questions about programs.
        filters_language: whether it answers in the requested language.
        filters_safely: whether it filters explicit results on request.
        pages: whether it has further pages.
        page_size: rows of a page.
        hosts: domains of its results; empty if they may be anywhere.
        also: SearXNG's names of engines for the same collection, if they differ: together they have one vote.
    """

    name: str
    title: str
    operator: str
    categories: Mapping[Category, float]
    endpoint: str
    ask: MakeAsk
    parse: Parse
    terms_url: str
    terms_checked: str
    per_day: int
    gap: float
    routing: Routing
    per_month: int = 0
    weight: float = 1.0
    parameters: Mapping[str, str] = field(default_factory=dict)
    read_refusal: ReadRefusal | None = None
    aim: MakeAim | None = None
    identify: Identify | None = None
    words: EngineWords = field(default_factory=EngineWords)
    finds: frozenset[IdentifierKind] = frozenset()
    gap_without_contact: float | None = None
    burst: int = 1
    patience: float = 1.0
    concurrency: int = 1
    timeout: float = 5.0
    rest: float = 0.0
    limits: frozenset[int] = frozenset()
    bucket: str = ""
    accept: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    wants_contact: bool = False
    key: SecretStr | None = None
    key_parameter: str = ""
    key_header: str = ""
    gap_with_key: float | None = None
    per_day_with_key: int | None = None
    licence: str = ""
    notice: str = ""
    switch: Callable[[OpenSourcesConfig], bool] | None = None
    endpoint_setting: Callable[[OpenSourcesConfig], str] | None = None
    key_setting: Callable[[OpenSourcesConfig], SecretStr] | None = None
    triggered: bool = False
    is_slow: bool = False
    is_web_index: bool = False
    is_semantic: bool = False
    searches_unseen: bool = False
    demands_all: bool = False
    time_ranges: frozenset[TimeRange] = frozenset()
    languages: frozenset[str] = frozenset()
    languages_of_code: frozenset[str] = frozenset()
    filters_language: bool = False
    filters_safely: bool = False
    pages: bool = True
    page_size: int = 10
    hosts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """The address that represents it in lists: the root of its host, without a language."""
        origin = "/".join(self.endpoint.split("/")[:3])
        return f"{origin.replace('{language}.', '')}/"

    @property
    def host(self) -> str:
        """The host of its address."""
        return urlsplit(self.address).hostname or ""

    def keyed(self, key: SecretStr) -> Self:
        """Return the row with a key and the limits that its operator grants with it."""
        return replace(
            self,
            key=key,
            gap=self.gap_with_key or self.gap,
            per_day=self.per_day_with_key or self.per_day,
        )

    @property
    def key_headers(self) -> Mapping[str, str]:
        """The header with the key, a secret in the clear; empty without a key."""
        if not self.key or self.key_parameter:
            return {}
        key = self.key.get_secret_value()
        return {self.key_header: key} if self.key_header else {"Authorization": f"Bearer {key}"}

    def url(self, ask: Ask) -> str:
        """Return the address of a request; a secret in the clear, if the key is a query parameter."""
        base = self.endpoint.replace("{language}", ask.language)
        path = "".join(f"/{quote(segment, safe='')}" for segment in ask.path)
        given = {**self.parameters, **ask.parameters}
        if self.key and self.key_parameter:
            given[self.key_parameter] = self.key.get_secret_value()
        parameters = urlencode(given, quote_via=quote)
        return f"{base}{path}?{parameters}" if parameters else f"{base}{path}"
