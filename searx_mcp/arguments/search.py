"""The arguments of `web_search`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from searx_mcp.arguments.lists import domains, engines
from searx_mcp.arguments.messages import shown
from searx_mcp.arguments.names import Converters, named
from searx_mcp.arguments.values import (
    SAFE_SEARCH,
    SOURCES,
    age,
    boolean,
    category,
    choice,
    language,
    number_of,
    text_of,
)
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.request import (
    MAX_PAGE,
    MAX_QUERY_LENGTH,
    MAX_RESULTS,
    MAX_SKIPPED,
    Category,
    SearchRequest,
)


@dataclass(frozen=True, slots=True)
class SearchDefaults:
    """What a search takes where the call names nothing.

    Attributes:
        results_count: results of a call that names no number.
        max_results: the most results a call may ask for.
        category: category of a call that names none.
        language: language of a call that names none.
        categories: what is accepted besides the categories SearXNG is known to have.
        profile: arguments, spelled as a caller may spell them, that come before the ones above.
    """

    results_count: int = 10
    max_results: int = MAX_RESULTS
    category: str = Category.GENERAL
    language: str = "en"
    categories: tuple[str, ...] = ()
    profile: Mapping[str, object] = field(default_factory=dict)


def parse_search(raw: Mapping[str, object], *, defaults: SearchDefaults) -> SearchRequest:
    """Turn the arguments of a `web_search` call into a request.

    Raises:
        InvalidArgumentError: for the first argument that is unknown, missing or wrong.
    """
    converters = _converters(defaults)
    given = named(defaults.profile, converters) | named(raw, converters)
    if "query" not in given:
        raise InvalidArgumentError("query", "is missing; say what to search for")
    request = SearchRequest.model_validate(
        {
            "category": defaults.category,
            "language": defaults.language,
            "results_count": defaults.results_count,
            **{name: converters[name](*argument) for name, argument in given.items()},
        }
    )
    if request.page > 1 and request.offset:
        raise InvalidArgumentError(
            given["offset"][0], f"says where to begin, as {given['page'][0]} does; give one"
        )
    for domain in request.blocked_domains:
        if domain in request.allowed_domains:
            raise InvalidArgumentError(
                given["blocked_domains"][0],
                f"{shown(domain)} is also in {given['allowed_domains'][0]}; leave it in one",
            )
    return request


def check_profile(raw: Mapping[str, object], *, defaults: SearchDefaults | None = None) -> None:
    """Check a profile: search arguments without a query.

    Raises:
        InvalidArgumentError: for the first argument that is unknown or wrong.
    """
    defaults = defaults or SearchDefaults()
    if "query" in named(raw, _converters(defaults)):
        raise InvalidArgumentError("query", "belongs to a call, not to a profile")
    parse_search({"query": "-"}, defaults=replace(defaults, profile=raw))


def _converters(defaults: SearchDefaults) -> Converters:
    return {
        "query": partial(text_of, limit=MAX_QUERY_LENGTH),
        "category": partial(category, further=defaults.categories),
        "language": language,
        "results_count": partial(number_of, low=1, high=defaults.max_results),
        "fetch_content": boolean,
        "safe_search": partial(
            choice, choices=SAFE_SEARCH, allowed="0, 1, 2, off, moderate, strict"
        ),
        "time_range": age,
        "allowed_domains": domains,
        "blocked_domains": domains,
        "engines": engines,
        "search_prompt": partial(text_of, limit=2_000),
        "source": partial(choice, choices=SOURCES, allowed=f"one of {', '.join(SOURCES)}"),
        "timeout": partial(number_of, low=1, high=120, fraction=True),
        "max_tokens": partial(number_of, low=200, high=200_000),
        "page": partial(number_of, low=1, high=MAX_PAGE),
        "offset": partial(number_of, low=0, high=MAX_SKIPPED),
    }
