"""An open source: its row in the table, the question asked, and the parsed answer."""

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
"""Bytes read of an answer. Ten records of Europe PMC, the largest, are said to have some hundred thousand."""

FORBIDDEN: Final = 3_600.0
"""Seconds after a 403 without a reason: usually a refused address or User-Agent."""

ANY_AGE: Final = frozenset({TimeRange.DAY, TimeRange.WEEK, TimeRange.MONTH, TimeRange.YEAR})

AWAY: Final = 0.5
"""Factor of a vote outside the engine's own route, or without the requested filter by age."""

_DAYS: Final = {TimeRange.DAY: 1, TimeRange.WEEK: 7, TimeRange.MONTH: 30, TimeRange.YEAR: 365}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuery:
    """A question to one engine.

    Attributes:
        text: the question in the caller's words, without `site:` words and search syntax; a long one without
            function words and frames too, unless the engine finds by meaning, and cut down to the keywords for
            one that finds only what has every word.
        keywords: what is left of it without function words and frames such as `how do I`: at most six, in
            their order and spelling; a quoted phrase is one, without its quotes.
        now: the time of the question, with its zone.
        category: what kind of thing is wanted.
        language: two letters, perhaps with a region, as in `en-US`; or `all`.
        safe_search: 0 off, 1 moderate, 2 strict.
        time_range: how old a result may be.
        page: 1-based.
        aim: which part of the engine is meant, where it has several, such as a site of Stack Exchange.
        identifier: the one work that is meant, if the question names one.
        contact: where the engine's operator reaches ours; empty if not given or not asked for.
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
    def today(self) -> date:
        """The day of the question."""
        return self.now.date()

    def words(self) -> str:
        """The keywords in one line, phrases in quotes."""
        return one_line(self.keywords)


@dataclass(frozen=True, slots=True)
class Ask:
    """The part of a request that changes from question to question.

    Attributes:
        parameters: of the query string, besides those that the table gives.
        path: segments behind the endpoint, each percent-encoded whole; an empty last one ends the
            address with a slash.
        language: the label in front of the host, for an endpoint with `{language}`; of a fixed list.
        body: sent by POST as JSON; without one the request is a GET.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    language: str = ""
    body: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """The content of an answer.

    Attributes:
        hits: the rows that can be used, in the engine's order.
        rows_seen: how many there were.
        has_next: whether there is a next page; `None` if the engine does not tell.
        pause: seconds the engine asks to be left alone from now on, or `None`.
    """

    hits: tuple[Hit, ...] = ()
    rows_seen: int = 0
    has_next: bool | None = None
    pause: float | None = None


class RefusedError(Exception):
    """An engine's own message that it does not answer.

    Attributes:
        verdict: what the attempt came to.
        detail: a sentence for a person; never the query.
        pause: seconds the engine asks to be left alone, or `None` if it does not say.
        ours: whether what we sent is at fault, which says nothing about the engine.
        again: whether one more request may follow at once: it is the engine's load, and no limit of ours.
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
    """The words of a text; an underscore stands for the space in an expression."""
    return frozenset(word.replace("_", " ") for word in text.split())


def lies_on(host: str, domain: str) -> bool:
    """Tell whether a host is a domain or below it."""
    return host == domain or host.endswith(f".{domain}")


def one_line(words: Iterable[str]) -> str:
    """Words in one line, phrases in quotes."""
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def fitting(words: Iterable[str], most: int) -> str:
    """Join the first words, in one line, up to `most` characters."""
    line = ""
    for word in words:
        longer = f"{line} {word}".strip()
        if len(longer) > most:
            break
        line = longer
    return line


def spelled(language: str, known: Container[str], spellings: Mapping[str, str]) -> str:
    """Give an engine's name for a language or the language that it is a form of; empty if unknown.

    Args:
        language: two letters, perhaps with a region, in the case of `known`.
        known: in the engine's spelling.
        spellings: those that the engine has for others.
    """
    names = (spellings.get(each, each) for each in (language, language.partition("-")[0]))
    return next((name for name in names if name in known), "")


@dataclass(frozen=True, slots=True)
class Scope:
    """A question with its category and restrictions.

    Attributes:
        question: as read.
        category: the one of the nine that is meant.
        further: the further category of SearXNG that was given; empty for one of the nine.
        language: two letters, `all` or `auto`; empty if none was given.
    """

    question: Question
    category: Category
    further: str = ""
    language: str = ""

    def form(self, forms: Mapping[Signal, str]) -> str:
        """The part of a collection that a question without a category is about; empty in a category.

        Args:
            forms: the parts by what speaks for them.
        """
        if self.category is not Category.GENERAL:
            return ""
        told = (signal for signal in Signal if signal in self.question.signals & forms.keys())
        return next((forms[signal] for signal in told), "")


MakeAim = Callable[[Scope], str]
"""Names the part of an engine that a question means; empty leaves that to the engine."""

Identify = Callable[[str, SplitResult], str]
"""Gives the key of the thing that an address is of, by its host without `www.` and its parts; empty if none."""

MakeAsk = Callable[[OpenQuery], Ask | None]
"""Gives the request for a query; `None` if the engine cannot be asked that."""

Parse = Callable[[bytes, OpenQuery], Parsed]
"""Reads an answer of status 200.

Raises `ValueError` if it is not shaped as documented, `RefusedError` if it says why it does not answer.
"""

ReadRefusal = Callable[[int, Mapping[str, str], bytes], RefusedError | None]
"""Reads an answer of another status; `None` where the status says it all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Points for asking an engine: the more, the better it fits.

    Attributes:
        anyway: for any question of no category.
        signals: for what such a question is about.
        pairs: for two signals at once.
        topic: for a question that one of its sites fits; without such a site it is asked only by name.
        topic_how_to: the same where the question asks how to do something.
        within: in a category, for what the question is about; `Engine.categories` has the points without.
        homes: categories in which it is at home only with one of these signals; elsewhere its vote counts less.
        further: its place, from 1 on, among the engines that a further category of SearXNG is confined to.
        ecosystem: the packages that it has.
        is_registry: whether it is asked for a package of unknown sort where packages are all that is wanted.
        on_code: what is left of its vote on code that is not its own route.
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


class Words:
    """Words that have to do with an engine, in lower case and without accents.

    Args:
        names: by which a question asks for it; an underscore stands for the space in an expression.
        frames: that say that it is meant, and are no part of what is asked for.
        implied: that say what sort of thing it has; its rows need not say it again.
    """

    def __init__(self, names: str = "", *, frames: str = "", implied: str = "") -> None:
        self.names = word_set(names)
        self.frames = word_set(frames)
        self.implied = word_set(implied)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A row of the table: one documented API of an open collection.

    Attributes:
        name: as it stands in settings, lists and results.
        title: its name for a person.
        operator: who runs it, and from which country.
        categories: what it is asked for, with points, besides what its `routing` brings it.
        endpoint: `https` address; `{language}` stands for a subdomain. Empty: it has to come from a setting.
        parameters: of every request.
        ask, parse: see `MakeAsk` and `Parse`.
        read_refusal: see `ReadRefusal`.
        aim: see `MakeAim`.
        identify: see `Identify`.
        routing: what speaks for asking it.
        words: that have to do with it.
        finds: kinds of names by which alone it finds a work.
        weight: of its vote.
        gap: seconds between two requests, by all processes.
        gap_without_contact: the same while no contact is set; `gap` unless given.
        burst: requests that may come at once before the gap counts.
        per_day: requests in 24 hours; 0 for any number.
        per_month: requests in 30 days; 0 for any number.
        patience: seconds one search may wait for the gap.
        concurrency: requests at the same time by one process.
        timeout: seconds one request may take.
        rest: seconds it is left alone at least after a limit, or when it did not answer in time.
        limits: statuses that are a limit here, besides 429 and 503.
        bucket: the name under which requests are counted; engines of one operator may share one.
        accept: media type asked for.
        headers: further headers of every request.
        wants_contact: whether the operator's contact goes into the User-Agent.
        key: ours, where the operator of this program has set one; it is sent to this engine's host alone.
        key_parameter: of the query string, that has the key.
        key_header: that has the key; with neither it is a bearer token.
        gap_with_key, per_day_with_key: `gap` and `per_day` with a key; the same unless given.
        licence: what the licence of its data asks to be said, a sentence; empty if it asks for nothing.
        notice: what a person should know who has switched it on, a sentence; empty for collections.
        terms_url: where limits and terms stand.
        terms_checked: the month in which they were read, `YYYY-MM`.
        switch: reads the setting without which it is not asked; none for most.
        endpoint_setting: reads the setting that has its endpoint, if one has.
        key_setting: reads the setting that has `key`, if one has.
        triggered: asked only if the query names its subject, not for its category alone.
        is_slow: of these at most one is asked in a search of no category.
        is_web_index: has pages of the whole web, as no collection has.
        is_semantic: finds by meaning, so that its results need not share words with the query.
        searches_unseen: finds in texts or tags, of which a row shows little more than a title.
        demands_all: finds only what has every word, so that a long question is cut down to its keywords.
        time_ranges: ages it can filter by.
        languages: those it knows, two letters each; none means that it knows all or has no language.
        languages_of_code: further ones, which it knows for questions about programs.
        filters_language: whether it answers in the language asked for.
        filters_safely: whether it filters explicit results when asked to.
        pages: whether it has further pages.
        page_size: rows of a page.
        hosts: domains its results lie on; none if they lie anywhere.
        also: names of SearXNG's engines for the same collection, where they differ: together they have one vote.
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
    words: Words = field(default_factory=Words)
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
        """The address that stands for it in lists: the root of its host, without a language."""
        origin = "/".join(self.endpoint.split("/")[:3])
        return f"{origin.replace('{language}.', '')}/"

    @property
    def host(self) -> str:
        """The host of its address."""
        return urlsplit(self.address).hostname or ""

    def keyed(self, key: SecretStr) -> Self:
        """Give the same row with a key and the limits that its operator grants with it."""
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
        """The address of a request; a secret in the clear, if the engine has a key for the query string."""
        base = self.endpoint.replace("{language}", ask.language)
        path = "".join(f"/{quote(segment, safe='')}" for segment in ask.path)
        given = {**self.parameters, **ask.parameters}
        if self.key and self.key_parameter:
            given[self.key_parameter] = self.key.get_secret_value()
        parameters = urlencode(given, quote_via=quote)
        return f"{base}{path}?{parameters}" if parameters else f"{base}{path}"
