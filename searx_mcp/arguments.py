"""What callers send, turned into requests: one place for every front.

Callers are models and people, so spellings are forgiven and meanings are not:

- Names: any of `results_count`, `resultsCount`, `results-count`; also `max_results`, `num_results`,
  `count` and `limit` for `results_count`, and `recency` for `time_range`.
- `null`, and an empty text but for `time_range`, count as not given.
- Numbers and booleans may be text; a list may be one value, a comma list or JSON in a text.
- `safe_search` takes 0 to 2 and their names; `true` is 1, as it is as a number, and `false` is 0.
- A domain is taken out of an address; `www.` stays, since `gov.uk` is more than `www.gov.uk`.
- An address that starts with a host, such as `example.org/page`, gets `https://`.

Whatever else is wrong raises `InvalidArgumentError` with the name as the caller wrote it. A message
shows at most 60 characters of a value, and nothing of a query.
"""

import json
import re
import reprlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.base import ByteCount, Frozen
from searx_mcp.models.request import (
    LANGUAGE_PATTERN,
    MAX_CONTENT_LENGTH,
    MAX_QUERY_LENGTH,
    MAX_RESULTS,
    MAX_URL_LENGTH,
    MIN_CONTENT_LENGTH,
    USER_AGENT_PATTERN,
    Category,
    FetchRequest,
    SafeSearch,
    SearchRequest,
    TimeRange,
)

MAX_DOMAINS: Final = 50
_SHOWN_LENGTH: Final = 60
_MAX_RAW_LENGTH: Final = 20_000  # what is longer is refused before anything else looks at it

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_FORBIDDEN_IN_URL = re.compile(r"[\s\x00-\x20\x7f-\x9f\ud800-\udfff]")
_BARE_HOST = re.compile(r"([\w-]+\.)+([^\W\d_]{2,}|xn--[\w-]+)(:[0-9]{1,5})?([/?#].*)?")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_BYTES = TypeAdapter[int](ByteCount)

_AGES = [*filter(None, TimeRange), "any"]
_TIME_RANGES = {
    **{f"{prefix}{age}": age for prefix in ("", "one") for age in TimeRange if age},
    **dict.fromkeys(("", "any", "all", "nolimit"), TimeRange.ANY),
}
_CATEGORIES = {**{str(name): name for name in Category}, "image": "images", "video": "videos"}
_SAFE_SEARCH = {
    **dict.fromkeys(("0", "off", "none", "false"), SafeSearch.OFF),
    **dict.fromkeys(("1", "moderate", "on", "true"), SafeSearch.MODERATE),
    **dict.fromkeys(("2", "strict"), SafeSearch.STRICT),
}
_BOOLEANS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(
    ("0", "false", "no", "off"), False
)
_ALIASES = {
    **dict.fromkeys(("maxresults", "numresults", "count", "limit"), "results_count"),
    "recency": "time_range",
}
_BLANK_MATTERS = frozenset({"query", "url", "time_range"})

# A converter takes an argument's name as written and its value, and gives the request's value.
_Converters: TypeAlias = Mapping[str, Callable[[str, object], object]]
_Changes: TypeAlias = dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class SearchDefaults:
    """What a search takes where the call names nothing.

    Attributes:
        results_count: results of a call that names no number.
        max_results: the most results a call may ask for.
        category: category of a call that names none.
        language: language of a call that names none.
        profile: arguments, spelled as a caller may spell them, that come before the ones above.
    """

    results_count: int = 10
    max_results: int = MAX_RESULTS
    category: Category = Category.GENERAL
    language: str = "en"
    profile: Mapping[str, object] = field(default_factory=dict)


def parse_search(raw: Mapping[str, object], *, defaults: SearchDefaults) -> SearchRequest:
    """Turn the arguments of a `web_search` call into a request.

    Raises:
        InvalidArgumentError: for the first argument that is unknown, missing or wrong.
    """
    converters = _search_converters(defaults.max_results)
    given = _named(defaults.profile, converters) | _named(raw, converters)
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
    for domain in request.blocked_domains:
        if domain in request.allowed_domains:
            raise InvalidArgumentError(
                given["blocked_domains"][0],
                f"{shown(domain)} is also in {given['allowed_domains'][0]}; leave it in one",
            )
    return request


def parse_fetch(raw: Mapping[str, object]) -> FetchRequest:
    """Turn the arguments of a `web_fetch` call into a request.

    Raises:
        InvalidArgumentError: for the first argument that is unknown, missing or wrong.
    """
    given = _named(raw, _FETCH_CONVERTERS)
    if "url" not in given:
        raise InvalidArgumentError("url", "is missing; give the address of the page")
    return FetchRequest.model_validate(
        {name: _FETCH_CONVERTERS[name](*argument) for name, argument in given.items()}
    )


def check_profile(raw: Mapping[str, object], *, max_results: int = MAX_RESULTS) -> None:
    """Check a profile: search arguments without a query.

    Raises:
        InvalidArgumentError: for the first argument that is unknown or wrong.
    """
    if "query" in _named(raw, _search_converters(max_results)):
        raise InvalidArgumentError("query", "belongs to a call, not to a profile")
    parse_search({"query": "-"}, defaults=SearchDefaults(max_results=max_results, profile=raw))


def search_schema(defaults: SearchDefaults) -> dict[str, object]:
    """Describe the arguments of `web_search` as a JSON schema that every known client reads.

    It has no unions, references and nulls, and only non-empty text in an `enum`. What is accepted
    beyond it stays unsaid, because each word costs every conversation.
    """
    default = parse_search({"query": "-"}, defaults=defaults)
    changes: _Changes = {
        "category": {"default": default.category.value},
        "language": {"description": "en, en-US, all, auto", "default": default.language},
        "results_count": {"maximum": defaults.max_results, "default": default.results_count},
        "fetch_content": {"description": "Also read the pages", "default": default.fetch_content},
        "safe_search": {
            "description": "0 off, 1 moderate, 2 strict",
            "minimum": 0,
            "maximum": 2,
            "enum": None,
            "default": default.safe_search.value,
        },
        "time_range": {"enum": _AGES, "default": default.time_range.value or "any"},
        "allowed_domains": {"description": "Only these and subdomains", "maxItems": MAX_DOMAINS},
        "blocked_domains": {"maxItems": MAX_DOMAINS},
        "search_prompt": {"description": "What you want to know; guides summaries"},
        "timeout": {"type": "integer", "description": "Seconds"},
        "max_tokens": {"description": "Size of the answer"},
    }
    return _schema(SearchRequest, changes)


def fetch_schema(
    *, timeout: float = 30.0, max_content_length: int = 1_048_576
) -> dict[str, object]:
    """Describe the arguments of `web_fetch` likewise; the defaults are seconds and bytes."""
    changes: _Changes = {
        "url": {"description": "http or https"},
        "timeout": {"type": "integer", "description": "Seconds", "default": max(5, round(timeout))},
        "max_content_length": {"description": "Bytes", "default": max_content_length},
        "user_agent": {"description": "Replaces the User-Agent", "pattern": None},
    }
    return _schema(FetchRequest, changes)


def _schema(model: type[Frozen], changes: _Changes) -> dict[str, object]:
    """Resolve what pydantic writes with references and unions, and leave out what says nothing."""
    whole = model.model_json_schema()
    properties = {}
    for name, rules in whole["properties"].items():
        definition = whole.get("$defs", {}).get(rules.get("$ref", "").rpartition("/")[2], {})
        merged = {**definition, "description": "", **rules.get("anyOf", [{}])[0], **rules}
        properties[name] = {
            rule: value
            for rule, value in (merged | changes.get(name, {})).items()
            if rule not in {"title", "$ref", "anyOf"} and value not in (None, "", [])
        }
    required = {"required": whole["required"], "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


def shown(value: object) -> str:
    """Show a value in an error message: at most 60 characters, escaped, whatever its size."""
    if isinstance(value, int) and abs(value) >= 10**_SHOWN_LENGTH:
        return "a huge number"
    # The quotes alone make the start of a longer text too long, so that it ends in dots.
    text = repr(value[:_SHOWN_LENGTH]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 3]}..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Say which known name is nearest to an unknown one; empty if none is near."""
    near = get_close_matches(name[:_SHOWN_LENGTH], [*known], n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _named(raw: Mapping[str, object], converters: _Converters) -> dict[str, tuple[str, object]]:
    """Find the parameter behind each name; gives the name as written and the value."""
    parameters = {_folded(name): name for name in converters}
    parameters |= {alias: name for alias, name in _ALIASES.items() if name in converters}
    found: dict[str, tuple[str, object]] = {}
    for written, value in raw.items():
        name = parameters.get(_folded(written))
        if name is None:
            hint = f"{did_you_mean(written, converters)}; known: {', '.join(converters)}"
            raise InvalidArgumentError(shown(written)[1:-1], f"is unknown{hint}")
        if value is None or (name not in _BLANK_MATTERS and _is_blank(value)):
            continue
        if name in found:
            raise InvalidArgumentError(written, f"is the same as {found[name][0]}; give one")
        found[name] = (written, value)
    return found


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _folded(text: str) -> str:
    """Reduce a spelling to what tells it from others; longer ones than we know stay as they are."""
    return re.sub(r"[ _-]", "", text).lower() if len(text) <= _SHOWN_LENGTH else text


def _wrong(written: str, value: object, allowed: str) -> InvalidArgumentError:
    return InvalidArgumentError(written, f"{shown(value)} is not {allowed}")


def _check_length(written: str, text: str, limit: int, *, unless: int | None = None) -> None:
    if len(text) > (unless or limit):
        raise InvalidArgumentError(written, f"has {len(text):,} characters; at most {limit:,}")


def _text(written: str, value: object, *, limit: int) -> str:
    """Clean what a person or a model wrote; none of it is ever shown in a message."""
    if not isinstance(value, str):
        raise InvalidArgumentError(written, f"must be a text, not {type(value).__name__}")
    _check_length(written, value, limit, unless=_MAX_RAW_LENGTH)
    if forbidden := _FORBIDDEN.search(value):
        where = f"U+{ord(forbidden[0]):04X} at position {forbidden.start() + 1}"
        raise InvalidArgumentError(written, f"has the control character {where}; leave it out")
    text = " ".join(unicodedata.normalize("NFC", value).split())
    if not any(character.isprintable() and character != " " for character in text):
        raise InvalidArgumentError(written, "is empty")
    _check_length(written, text, limit)
    return text


def _choice(written: str, value: object, *, choices: Mapping[str, object], allowed: str) -> object:
    spelling = str(int(value)) if isinstance(value, int | float) and value in (0, 1, 2) else value
    if isinstance(spelling, str) and (folded := _folded(spelling.strip())) in choices:
        return choices[folded]
    raise _wrong(written, value, allowed)


def _number(
    written: str, value: object, *, low: int, high: int, fraction: bool = False
) -> int | float:
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value
    match number:
        case bool():
            pass
        case int() | float() if low <= number <= high and (fraction or number == int(number)):
            return number if fraction else int(number)
    raise _wrong(written, value, f"a {'' if fraction else 'whole '}number from {low:,} to {high:,}")


def _size(written: str, value: object) -> int | float:
    try:
        size = _BYTES.validate_python(value)
    except ValidationError:
        raise _wrong(written, value, "a number of bytes or a size such as 2MB") from None
    return _number(written, size, low=MIN_CONTENT_LENGTH, high=MAX_CONTENT_LENGTH)


def _language(written: str, value: object) -> str:
    if isinstance(value, str) and len(value) <= _SHOWN_LENGTH:
        language, hyphen, region = value.strip().replace("_", "-").partition("-")
        tag = f"{language.lower()}{hyphen}{region.upper()}"
        if re.fullmatch(LANGUAGE_PATTERN, tag):
            return tag
    raise _wrong(written, value, "a language such as en, a region such as en-US, all or auto")


def _domains(written: str, value: object) -> tuple[str, ...]:
    entries = value
    if isinstance(value, str):
        _check_length(written, value, _MAX_RAW_LENGTH)
        entries = value.split(",")
        if value.lstrip().startswith("["):
            try:
                entries = json.loads(value)
            except (ValueError, RecursionError):
                raise _wrong(written, value, "a JSON list of domains") from None
    if not isinstance(entries, list | tuple):
        raise _wrong(written, value, "a list of domains")
    if len(entries) > MAX_DOMAINS:
        raise InvalidArgumentError(written, f"has {len(entries):,} entries; at most {MAX_DOMAINS}")
    return tuple(
        dict.fromkeys(_domain(written, entry) for entry in entries if not _is_blank(entry))
    )


def _domain(written: str, value: object) -> str:
    """Take the domain out of `https://*.Example.ORG.:443/path`: `example.org`, in ASCII."""
    if isinstance(value, str) and len(value) <= MAX_URL_LENGTH:
        authority = re.split(r"[/?#]", re.sub(r"^\s*\w+://", "", value), maxsplit=1)[0]
        host = re.sub(r":[0-9]{1,5}$", "", authority.strip().lower()).lstrip("*.").rstrip(".")
        if _DOMAIN.fullmatch(host if host.isascii() else (host := _to_ascii(host))):
            return host
    raise _wrong(written, value, "a domain such as example.org")


def _to_ascii(host: str) -> str:
    """Encode a host name as the HTTP edge does; empty if it cannot be one."""
    from yarl import URL  # noqa: PLC0415 - 9 ms of start-up that only such a name has to pay

    try:
        return URL.build(scheme="https", host=host).raw_host or ""
    except ValueError:
        return ""


def _url(written: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong(written, value, "an address such as https://example.org/page")
    url = value.strip(" \t\r\n")
    if forbidden := _FORBIDDEN_IN_URL.search(url):
        code = f"U+{ord(forbidden[0]):04X}"
        raise InvalidArgumentError(written, f"{shown(url)} has the character {code}; encode it")
    url = f"https://{url}" if _BARE_HOST.fullmatch(url) else url
    _check_length(written, url, MAX_URL_LENGTH)
    return url


def _user_agent(written: str, value: object) -> str:
    if isinstance(value, str) and re.fullmatch(USER_AGENT_PATTERN.removesuffix("$"), value):
        return value
    raise _wrong(written, value, "printable ASCII of at most 256 characters")


_boolean = partial(_choice, choices=_BOOLEANS, allowed="true or false")


def _search_converters(max_results: int) -> _Converters:
    return {
        "query": partial(_text, limit=MAX_QUERY_LENGTH),
        "category": partial(_choice, choices=_CATEGORIES, allowed=f"one of {', '.join(Category)}"),
        "language": _language,
        "results_count": partial(_number, low=1, high=max_results),
        "fetch_content": _boolean,
        "safe_search": partial(
            _choice, choices=_SAFE_SEARCH, allowed="0, 1, 2, off, moderate, strict"
        ),
        "time_range": partial(_choice, choices=_TIME_RANGES, allowed=f"one of {', '.join(_AGES)}"),
        "allowed_domains": _domains,
        "blocked_domains": _domains,
        "search_prompt": partial(_text, limit=2_000),
        "timeout": partial(_number, low=1, high=120, fraction=True),
        "max_tokens": partial(_number, low=200, high=200_000),
    }


_FETCH_CONVERTERS: _Converters = {
    "url": _url,
    "timeout": partial(_number, low=5, high=120, fraction=True),
    "follow_redirects": _boolean,
    "max_content_length": _size,
    "user_agent": _user_agent,
}
