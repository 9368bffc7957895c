"""Requests to the corpus. Each field is declared here as an argument of its tool, too."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final, Self, TypedDict

from pydantic import Field, model_validator

from searx_mcp.models import coercion as read
from searx_mcp.models.argument import Argument
from searx_mcp.models.base import Frozen
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.models.request import MAX_TIMEOUT, MAX_TOKENS

MAX_QUESTION_LENGTH: Final = 2_000
MAX_QUESTIONS: Final = 20
MAX_KNOWN_LENGTH: Final = 20_000
MAX_CONSTRAINTS: Final = 10
MAX_EXPANSION: Final = 20

Url = Annotated[str, Field(min_length=1, max_length=MAX_URL_LENGTH)]
Question = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_LENGTH)]


class Intent(StrEnum):
    """Kinds of question: each has its own analysis and ranking of passages."""

    FACTUAL = "factual"
    COMPARISON = "comparison"
    HOW_TO = "how_to"
    EXPLORATORY = "exploratory"


_ADDRESS: Final = "give the address of the page"
_QUESTION: Final = "say what you want to know"

_TIMEOUT: Final = Argument(
    read.seconds, "Seconds the whole call may take, {ge} to {le}.", "SECONDS", schema=None
)
_MAX_TOKENS: Final = Argument(
    read.number, "Keep the text within N tokens, {ge} to {le:,}.", "N", schema=None
)
_INTENT: Final = Argument(
    read.choice(
        {"".join(filter(str.isalpha, intent)): intent for intent in Intent},
        f"one of {', '.join(Intent)}",
    ),
    f"{', '.join(Intent)}; detected by default.",
    "KIND",
    schema={"enum": [*Intent], "description": ""},
)


class ReadRequest(Frozen):
    """The arguments of one `read_page` call."""

    url: Annotated[
        str,
        Field(min_length=1, max_length=MAX_URL_LENGTH),
        Argument(
            read.one_url,
            "The public http or https address.",
            schema={},
            names=("uri", "link", "source_url"),
            wanted=_ADDRESS,
        ),
    ]
    query: Annotated[
        tuple[Question, ...],
        Field(max_length=MAX_QUESTIONS),
        Argument(
            read.texts(MAX_QUESTION_LENGTH),
            "What you want to know from the page.",
            "TEXT",
            short="q",
            repeated=True,
            schema={"type": "string", "items": None},
            names=("q", "question", "prompt"),
            wanted=_QUESTION,
        ),
    ] = ()
    queries: Annotated[
        tuple[Question, ...],
        Field(max_length=MAX_QUESTIONS),
        Argument(
            read.texts(MAX_QUESTION_LENGTH),
            "Several questions, each answered separately.",
            "TEXT",
            repeated=True,
            schema={"description": ""},
            names=("questions",),
            wanted=_QUESTION,
        ),
    ] = ()
    force_refresh: Annotated[
        bool,
        Argument(
            read.boolean,
            "Fetch again even if a copy is kept; at most every 30 s.",
            schema={"description": "", "default": None},
        ),
    ] = False
    max_results: Annotated[
        int,
        Field(ge=1, le=50),
        Argument(
            read.number,
            "Passages for each question, {ge} to {le}.",
            "N",
            short="n",
            schema={"description": ""},
            names=("top_k", "limit", "count", "num_results", "results_count"),
        ),
    ] = 8
    include_metadata: Annotated[
        bool,
        Argument(
            read.boolean,
            "Add ETag, hash, language and counts of the kept page.",
            schema=None,
            names=("metadata",),
        ),
    ] = False
    timeout: Annotated[float | None, Field(ge=1, le=MAX_TIMEOUT), _TIMEOUT] = None
    max_tokens: Annotated[int | None, Field(ge=200, le=MAX_TOKENS), _MAX_TOKENS] = None

    @model_validator(mode="after")
    def _check_questions(self) -> Self:
        if not self.questions:
            raise ValueError("give query or queries")
        return self

    @property
    def questions(self) -> tuple[str, ...]:
        """All questions, each once."""
        return tuple(dict.fromkeys((*self.query, *self.queries)))


class AnswerRequest(Frozen):
    """One `answer` call; without an address the web is searched first."""

    query: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUESTION_LENGTH),
        Argument(
            read.text,
            "The question in plain words; it may have several parts.",
            schema={"description": ""},
            names=("q", "question", "prompt"),
            wanted=_QUESTION,
        ),
    ]
    url: Annotated[
        tuple[Url, ...],
        Argument(
            read.urls,
            "Pages to answer from; without any, the web is searched first.",
            "URL",
            repeated=True,
            schema={"type": "string", "items": None, "description": ""},
            names=("uri", "source_url"),
        ),
    ] = ()
    urls: Annotated[
        tuple[Url, ...],
        Argument(
            read.urls,
            "Further pages.",
            "URL",
            repeated=True,
            schema={"description": ""},
            names=("sources", "source_urls"),
        ),
    ] = ()
    intent: Annotated[Intent | None, _INTENT] = None
    known_context: Annotated[
        str,
        Field(max_length=MAX_KNOWN_LENGTH),
        Argument(
            read.prose,
            "What you already know; it is not repeated.",
            "TEXT",
            schema={"description": ""},
            names=("known", "context"),
        ),
    ] = ""
    constraints: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=300)], ...],
        Field(max_length=MAX_CONSTRAINTS),
        Argument(
            read.texts(300),
            "What passages should contain, such as code examples.",
            "TEXT",
            repeated=True,
            schema={"description": ""},
            names=("constraint",),
        ),
    ] = ()
    expansion_budget: Annotated[
        int | None,
        Field(ge=0, le=MAX_EXPANSION),
        Argument(
            read.number,
            "Maximum linked pages to read, {ge} to {le}; by default, as many as help.",
            "N",
            schema={"description": "Linked pages"},
            names=("budget", "max_expansion"),
        ),
    ] = None
    timeout: Annotated[float | None, Field(ge=1, le=MAX_TIMEOUT), _TIMEOUT] = None
    max_tokens: Annotated[int | None, Field(ge=200, le=MAX_TOKENS), _MAX_TOKENS] = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """The named pages, each once."""
        return tuple(dict.fromkeys((*self.url, *self.urls)))


class CorpusSearchRequest(Frozen):
    """One `search_corpus` call: it makes no request."""

    query: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUESTION_LENGTH),
        Argument(
            read.text,
            "What you want to know.",
            schema={"description": ""},
            names=("q", "question", "prompt"),
            wanted=_QUESTION,
        ),
    ]
    source_urls: Annotated[
        tuple[Url, ...],
        Argument(
            read.urls,
            "Only these pages.",
            "URL",
            repeated=True,
            schema={"description": "Only these pages"},
            names=("source_url", "url", "urls"),
        ),
    ] = ()
    intent: Annotated[Intent | None, _INTENT] = None
    top_k: Annotated[
        int,
        Field(ge=1, le=100),
        Argument(
            read.number,
            "Maximum passages, {ge} to {le}.",
            "N",
            short="n",
            schema={"description": "Passages"},
            names=("max_results", "limit", "count", "num_results", "results_count"),
        ),
    ] = 20
    max_tokens: Annotated[int | None, Field(ge=200, le=MAX_TOKENS), _MAX_TOKENS] = None


class StatusRequest(Frozen):
    """One `corpus_status` call."""

    source_url: Annotated[
        str,
        Field(max_length=MAX_URL_LENGTH),
        Argument(
            read.one_url, "Only this page.", schema={"description": "", "default": None},
            names=("url", "uri"),
        ),
    ] = ""  # fmt: skip
    include_urls: Annotated[
        bool,
        Argument(read.boolean, "List the pages.", names=("list", "urls")),
    ] = True


class IngestRequest(Frozen):
    """One `ingest` call: pages are read and kept, nothing is asked of them."""

    url: Annotated[
        tuple[Url, ...],
        Field(min_length=1),
        Argument(
            read.urls,
            "Pages to keep.",
            repeated=True,
            schema={"type": "string", "items": None, "description": ""},
            names=("urls", "uri", "source_url", "source_urls"),
            wanted=_ADDRESS,
        ),
    ]
    force_refresh: Annotated[
        bool,
        Argument(
            read.boolean,
            "Fetch again even if a copy is kept; at most every 30 s.",
            schema={"description": "", "default": None},
        ),
    ] = False
    timeout: Annotated[float | None, Field(ge=1, le=MAX_TIMEOUT), _TIMEOUT] = None


class ReadArguments(TypedDict, total=False):
    """The fields of a `ReadRequest` except its address, as a program writes them; for type checkers."""

    query: str | Sequence[str]
    queries: Sequence[str]
    force_refresh: bool
    max_results: int
    include_metadata: bool
    timeout: float | None
    max_tokens: int | None


class AnswerArguments(TypedDict, total=False):
    """The fields of an `AnswerRequest` except its question; for type checkers."""

    url: str | Sequence[str]
    urls: Sequence[str]
    intent: Intent | str | None
    known_context: str
    constraints: str | Sequence[str]
    expansion_budget: int | None
    timeout: float | None
    max_tokens: int | None


class CorpusSearchArguments(TypedDict, total=False):
    """The fields of a `CorpusSearchRequest` except its question; for type checkers."""

    source_urls: str | Sequence[str]
    intent: Intent | str | None
    top_k: int
    max_tokens: int | None
