"""Parses arguments of callers into requests, and describes them: one place for every front.

Callers are models and people, so parsing is lenient about spelling and strict about meaning:

- Names: any of `results_count`, `resultsCount`, `results-count`, and other servers' names for the same.
- `null`, an empty text except for `time_range`, and an empty list except for those of a profile count as not
  given.
- Numbers and booleans may be text; a list may be one value, a comma list or a JSON text.
- `safe_search` takes 0 to 2 and their names; `true` is 1, as it is as a number, and `false` is 0.
- A category is any that SearXNG or the settings know, with any spelling of its spaces.
- A domain is extracted from an address; `www.` stays, since `gov.uk` is more than `www.gov.uk`.
- An address that starts with a host, such as `example.org/page`, gets `https://`.

Anything else that is wrong raises one `InvalidArgumentError` that lists all problems, by the names as the
caller wrote them. A message shows at most 60 characters of a value, and nothing of a query. The arguments
themselves are declared with the requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from searx_mcp.errors import MOST_PROBLEMS, InvalidArgumentError
from searx_mcp.models.argument import Declared, arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.models.coercion import ANY_AGE, Limits, Reader
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import MAX_RESULTS, Category, SearchRequest
from searx_mcp.models.spelling import did_you_mean, folded, is_blank, shown


@dataclass(frozen=True)
class SearchDefaults:
    """Defaults of a search.

    Attributes:
        results_count: results of a call that names no number.
        max_results: the most results a call may ask for.
        category: category of a call that names none.
        language: language of a call that names none.
        categories: accepted in addition to SearXNG's known categories.
        profile: arguments, in any spelling that a caller may use, that have priority over the ones above.
    """

    results_count: int = 10
    max_results: int = MAX_RESULTS
    category: str = Category.GENERAL
    language: str = "en"
    categories: tuple[str, ...] = ()
    profile: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def arguments(self) -> Mapping[str, Declared]:
        """The arguments of a search, with these bounds."""
        declared = dict(arguments_of(SearchRequest))
        for name, bounds in (
            ("results_count", {"le": self.max_results}),
            ("category", {"names": self.categories}),
        ):
            limits = declared[name].limits._replace(**bounds)
            declared[name] = declared[name]._replace(limits=limits)
        return declared


def parse_search(raw: Mapping[str, object], *, defaults: SearchDefaults) -> SearchRequest:
    """Parse the arguments of a `web_search` call.

    Args:
        raw: by name, as the caller wrote them.
        defaults: for arguments that are not given.

    Raises:
        InvalidArgumentError: arguments are unknown, missing or wrong; lists all of them.
    """
    declared = defaults.arguments
    wrong = _Wrong()
    given = _named(defaults.profile, declared, wrong) | _named(raw, declared, wrong)
    if "query" in given and isinstance(given["query"].raw, list | tuple):
        several = given.pop("query")
        if "queries" in given:
            wrong.add(several.written, "must be one text beside queries")
        else:
            given["queries"] = several._replace(
                read=declared["queries"].argument.read, limits=declared["queries"].limits
            )
    if "query" not in given and "queries" not in given:
        wrong.add("query", "is missing; say what to search for")
    values = wrong.read(given)
    if values.get("page", 1) > 1 and values.get("offset"):
        wrong.add(
            given["offset"].written,
            f"cannot be combined with {given['page'].written}: both say where to begin",
        )
    for domain in values.get("blocked_domains", ()):
        if domain in values.get("allowed_domains", ()):
            wrong.add(
                given["blocked_domains"].written,
                f"{shown(domain)} is also in {given['allowed_domains'].written}; leave it in one",
            )
    wrong.check()
    if "query" not in values:
        values["query"], *values["queries"] = values["queries"]
    if "queries" in values:
        values["queries"] = [each for each in values["queries"] if each != values["query"]]
    return SearchRequest.model_validate(
        {
            "category": defaults.category,
            "language": defaults.language,
            "results_count": defaults.results_count,
            **values,
        }
    )


def check_profile(raw: Mapping[str, object], *, defaults: SearchDefaults) -> None:
    """Check a profile: search arguments without a query.

    Args:
        raw: by name, as its author wrote them.
        defaults: for arguments that are not given.

    Raises:
        InvalidArgumentError: arguments are unknown or wrong; lists all of them.
    """
    named = _named(raw, defaults.arguments, _Wrong())
    if field := next((name for name in ("query", "queries") if name in named), ""):
        raise InvalidArgumentError(field, "belongs to a call, not to a profile")
    parse_search({"query": "-"}, defaults=replace(defaults, profile=raw))


def parse_fetch(raw: Mapping[str, object], *, by_person: bool = False) -> FetchRequest:
    """Parse the arguments of a `web_fetch` call.

    Args:
        raw: by name, as the caller wrote them.
        by_person: whether a person makes the call, who may ignore robots.txt.

    Raises:
        InvalidArgumentError: arguments are unknown, missing or wrong; lists all of them.
    """
    wrong = _Wrong()
    given = _named(
        raw,
        {
            name: declared
            for name, declared in arguments_of(FetchRequest).items()
            if by_person or not declared.argument.by_person
        },
        wrong,
    )
    if "cursor" in given and "url" in given and is_blank(given["url"].raw):
        del given["url"]
    if "url" not in given and "cursor" not in given:
        wrong.add("url", "is missing; give the address of the page, or a cursor")
    values = wrong.read(given)
    wrong.check()
    if "url" in values:
        values["url"], *values["further_urls"] = values["url"]
    return FetchRequest.model_validate({"by_person": by_person, **values})


CorpusRequest = TypeVar("CorpusRequest", bound=Frozen)


def parse_corpus(request: type[CorpusRequest], raw: Mapping[str, object]) -> CorpusRequest:
    """Parse the arguments of a call to the corpus.

    Args:
        request: type of the request.
        raw: by name, as the caller wrote them.

    Raises:
        InvalidArgumentError: arguments are unknown, missing or wrong; lists all of them.
    """
    wrong = _Wrong()
    given = _named(raw, arguments_of(request), wrong, blank_matters=frozenset())
    for advice, names in _wanted(request).items():
        if not any(name in given for name in names):
            wrong.add(names[0], f"is missing; {advice}")
    values = wrong.read(given)
    wrong.check()
    return request.model_validate(values)


def corpus_schema(request: type[CorpusRequest]) -> dict[str, object]:
    """Describe the arguments of a call to the corpus, as `search_schema` does."""
    wanted = [names[0] for names in _wanted(request).values()]
    return _schema(request, {}) | ({"required": wanted} if wanted else {})


def _wanted(request: type[Frozen]) -> dict[str, list[str]]:
    """Return arguments of which a call must name one, by the advice for a call that names none."""
    found: dict[str, list[str]] = {}
    for name, declared in arguments_of(request).items():
        if declared.argument.wanted:
            found.setdefault(declared.argument.wanted, []).append(name)
    return found


def search_schema(defaults: SearchDefaults) -> dict[str, object]:
    """Describe the arguments of `web_search` as a JSON schema that every known client supports.

    It has no unions, references or nulls, and only non-empty text in an `enum`. What else is accepted is not
    described, because each word costs every conversation.
    """
    default = parse_search({"query": "-"}, defaults=defaults)
    return _schema(
        SearchRequest,
        {
            "category": {
                "enum": list(dict.fromkeys((*Category, default.category))),
                "default": default.category,
            },
            "language": {"default": default.language},
            "results_count": {"maximum": defaults.max_results, "default": default.results_count},
            "fetch_content": {"default": default.fetch_content},
            "safe_search": {"default": default.safe_search.value},
            "time_range": {"default": default.time_range.value or ANY_AGE},
        },
    )


def fetch_schema(
    *, timeout: float = 30.0, max_content_length: int = 1_048_576
) -> dict[str, object]:
    """Describe the arguments of `web_fetch` in the same way.

    Args:
        timeout: the default, in seconds.
        max_content_length: the default, in bytes.
    """
    return _schema(
        FetchRequest,
        {
            "timeout": {"default": max(5, round(timeout))},
            "max_content_length": {"default": max_content_length},
        },
    )


class _Given(NamedTuple):
    """An argument of a call: its name as written, its value, and its reader."""

    written: str
    raw: object
    read: Reader
    limits: Limits


class _Wrong(list[InvalidArgumentError]):
    """The problems with the arguments of a call, reported together at the end."""

    def add(self, written: str, message: str) -> None:
        self.append(InvalidArgumentError(written, message))

    def read(self, given: Mapping[str, _Given]) -> dict[str, Any]:
        """Return the values of the arguments that have one."""
        values = {}
        for name, each in given.items():
            try:
                values[name] = each.read(each.raw, each.limits)
            except ValueError as error:
                self.add(each.written, str(error))
        return values

    def check(self) -> None:
        if self:
            raise InvalidArgumentError.of(self)


_BLANK_MATTERS = frozenset({"query", "url", "time_range"})
_NONE_MATTERS = frozenset({"allowed_domains", "blocked_domains"})
"""Lists of a profile, which may be empty; elsewhere models write `[]` for nothing."""


def _named(
    raw: Mapping[str, object],
    arguments: Mapping[str, Declared],
    wrong: _Wrong,
    *,
    blank_matters: frozenset[str] = _BLANK_MATTERS,
) -> dict[str, _Given]:
    """Find the argument for each name that a caller wrote."""
    if not raw:
        return {}
    known = {
        spelling: (name, read)
        for name, declared in arguments.items()
        for spelling, read in declared.readers.items()
    }
    found: dict[str, _Given] = {}
    unknown: list[str] = []
    for written, value in raw.items():
        if (spelling := folded(written)) not in known:
            unknown.append(written)
            continue
        name, read = known[spelling]
        if value is None or (name not in blank_matters and is_blank(value)):
            continue
        is_list = arguments[name].argument.repeated and name not in _NONE_MATTERS
        if is_list and (value == [] or (isinstance(value, str) and value.strip() == "[]")):
            continue
        if name in found:
            wrong.add(written, f"is the same as {found[name].written}; give one")
            continue
        found[name] = _Given(written, value, read, arguments[name].limits)
    is_listed = False
    for written in unknown:
        # Searching for the nearest name is slow, and there may be any number of them.
        hint = did_you_mean(written, arguments) if len(wrong) < MOST_PROBLEMS else ""
        if not (hint or is_listed):
            hint, is_listed = f"; known: {', '.join(arguments)}", True
        wrong.add(shown(written)[1:-1], f"is unknown{hint}")
    return found


_UNSAID = frozenset({"title", "$ref", "anyOf"})
_LONG = frozenset({"minLength", "maxLength", "minItems", "maxItems", "pattern"})
"""Bounds that a model cannot count or never reaches; a call that violates one gets an error."""


def _schema(
    request: type[Frozen], configured: Mapping[str, Mapping[str, object]]
) -> dict[str, object]:
    """Resolve pydantic's references and unions, and drop what carries no information."""
    whole = request.model_json_schema()
    properties = {}
    for name, declared in arguments_of(request).items():
        if (told := declared.argument.schema) is None:
            continue
        rules = whole["properties"][name]
        rules = {**rules.get("anyOf", [{}])[0], **rules}  # the first of a union
        definition = whole.get("$defs", {}).get(rules.get("$ref", "").rpartition("/")[2], {})
        merged = {**definition, "description": "", **rules}
        merged = {rule: value for rule, value in merged.items() if rule not in _LONG}
        if isinstance(items := merged.get("items"), dict):
            merged["items"] = {rule: value for rule, value in items.items() if rule not in _LONG}
        merged |= {**told, **configured.get(name, {})}
        properties[name] = {
            rule: value
            for rule, value in merged.items()
            if rule not in _UNSAID and value not in (None, "", [])
        }
    # We refuse unknown names ourselves. Gemini's clients refuse a schema that says so.
    schema: dict[str, object] = {"type": "object", "properties": properties}
    return {**schema, "required": whole["required"]} if "required" in whole else schema
