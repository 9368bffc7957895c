"""What routes in the shape of other services share: conversion of their arguments into ours, countries, reading pages.

A model declares every argument that is accepted. A field without effect here is accepted and ignored, a field with
only one supported value is a `Literal`, and any other name is refused.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from searx_mcp.arguments import SearchDefaults, parse_fetch, parse_search
from searx_mcp.errors import DeadlineError, InvalidArgumentError, SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.request import MAX_TIMEOUT, SearchRequest
from searx_mcp.models.spelling import shown
from searx_mcp.server.rest.operation import Call, run_verb, status_of
from searx_mcp.verbs.web import WEB_FETCH

DEFAULT_CHARS: Final = 200_000
"""Characters of a page unless the call sets a number; specified by that project."""
_MIN_TIMEOUT: Final = 5.0
"""Shortest timeout of a `FetchRequest`."""
_BOOLEAN: Final = re.compile(r"\b(True|False)\b")
_UNION_MEMBERS: Final = frozenset({"str", "int", "float", "bool"})
"""Members of a union, which pydantic appends to the path of a wrong field."""


class Foreign(Frozen):
    """Arguments that another project specifies; further spellings are not accepted."""

    model_config = ConfigDict(hide_input_in_errors=True)


def _refuse_number(value: object) -> object:
    """Refuse a number in place of a boolean; pydantic would accept 0 and 1.

    Raises:
        ValueError: the value is a number.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - pydantic reports it
    return value


NO_NUMBER: Final = BeforeValidator(_refuse_number)
AlwaysOn: TypeAlias = Annotated[Literal[True], NO_NUMBER] | None
"""A feature that cannot be turned off."""
NotOffered: TypeAlias = Annotated[Literal[False], NO_NUMBER] | None
"""A feature that is not offered and may be turned off."""
ForeignT = TypeVar("ForeignT", bound=Foreign)


def read(model: type[ForeignT], raw: Mapping[str, Any]) -> ForeignT:
    """Validate the arguments of a call.

    Args:
        model: model of the arguments.
        raw: arguments as the caller sent them.

    Raises:
        InvalidArgumentError: some arguments are unknown, missing, wrong or not offered; the error names all of them.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        found: dict[str, str] = {}
        for problem in exc.errors(include_url=False, include_input=False):
            found.setdefault(_name(problem), _reason(problem))
    raise InvalidArgumentError.of([InvalidArgumentError(*each) for each in found.items()])


def to_search(
    arguments: Foreign, names: Mapping[str, str], extra: Mapping[str, Any], defaults: SearchDefaults
) -> SearchRequest:
    """Convert arguments to a search request.

    Args:
        arguments: arguments of the caller.
        names: our name of each field that is also an argument of ours.
        extra: further arguments, by our names.
        defaults: values of arguments that are absent.

    Raises:
        InvalidArgumentError: some arguments are wrong; the error has the caller's names for them.
    """
    with _with_their_names(arguments, names):
        return parse_search({**_our_arguments(arguments, names), **extra}, defaults=defaults)


def to_fetch(
    arguments: Foreign, names: Mapping[str, str], extra: Mapping[str, Any]
) -> FetchRequest:
    """Convert arguments to a request for a page, like `to_search`."""
    with _with_their_names(arguments, names):
        return parse_fetch(
            {"max_chars": DEFAULT_CHARS, **_our_arguments(arguments, names), **extra}
        )


def page_timeout(seconds: float) -> float:
    """Clamp the timeout of a page, in seconds, to what a `FetchRequest` accepts."""
    return min(max(seconds, _MIN_TIMEOUT), MAX_TIMEOUT)


def status_for(error: SearxMcpError) -> int:
    """Return the HTTP status of an error; 400 for wrong arguments, where our own routes have 422."""
    return 400 if isinstance(error, InvalidArgumentError) else status_of(error)


def _our_arguments(arguments: Foreign, names: Mapping[str, str]) -> dict[str, Any]:
    given = ((ours, getattr(arguments, theirs)) for theirs, ours in names.items())
    return {ours: value for ours, value in given if value is not None}


@contextmanager
def _with_their_names(arguments: Foreign, names: Mapping[str, str]) -> Iterator[None]:
    fields = type(arguments).model_fields
    their_names = {ours: fields[theirs].alias or theirs for theirs, ours in names.items()}
    try:
        yield
    except InvalidArgumentError as error:
        raise InvalidArgumentError.of(
            [InvalidArgumentError(their_names.get(name, name), why) for name, why in error.problems]
        ) from None


def _name(problem: ErrorDetails) -> str:
    """Return the path of a wrong field, without list indexes and members of a union."""
    parts: list[str] = []
    for part in problem["loc"]:
        if not isinstance(part, str):
            break
        parts.append(shown(part)[1:-1])
    last = parts[-1] if parts else ""
    is_member = last in _UNION_MEMBERS or "[" in last
    return ".".join(parts[:-1] if is_member and len(parts) > 1 else parts) or "body"


_REASONS: Final = {
    "extra_forbidden": "is not offered here",
    "missing": "is missing",
    "model_type": "must be an object",
    "tuple_type": "must be a list",
}
"""What pydantic would say as of Python, by its type of the problem."""


def _reason(problem: ErrorDetails) -> str:
    if told := _REASONS.get(problem["type"]):
        return told
    if problem["type"] == "literal_error":
        allowed = str(problem["ctx"]["expected"])
        only = "" if " or " in allowed else " here"
        return f"must be {_BOOLEAN.sub(lambda found: found[0].lower(), allowed)}{only}"
    text = problem["msg"].removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


_NAMES: Final = (
    "AF afghanistan, AL albania, DZ algeria, AD andorra, AO angola, AR argentina, AM armenia, AU australia, "
    "AT austria, AZ azerbaijan, BS bahamas, BH bahrain, BD bangladesh, BB barbados, BY belarus, BE belgium, "
    "BZ belize, BJ benin, BT bhutan, BO bolivia, BA bosnia and herzegovina, BW botswana, BR brazil, "
    "BN brunei, BG bulgaria, BF burkina faso, BI burundi, KH cambodia, CM cameroon, CA canada, "
    "CV cape verde, CF central african republic, TD chad, CL chile, CN china, CO colombia, KM comoros, "
    "CG congo, CR costa rica, HR croatia, CU cuba, CY cyprus, CZ czech republic, DK denmark, DJ djibouti, "
    "DO dominican republic, EC ecuador, EG egypt, SV el salvador, GQ equatorial guinea, ER eritrea, "
    "EE estonia, ET ethiopia, FJ fiji, FI finland, FR france, GA gabon, GM gambia, GE georgia, DE germany, "
    "GH ghana, GR greece, GT guatemala, GN guinea, HT haiti, HN honduras, HU hungary, IS iceland, IN india, "
    "ID indonesia, IR iran, IQ iraq, IE ireland, IL israel, IT italy, JM jamaica, JP japan, JO jordan, "
    "KZ kazakhstan, KE kenya, KW kuwait, KG kyrgyzstan, LV latvia, LB lebanon, LS lesotho, LR liberia, "
    "LY libya, LI liechtenstein, LT lithuania, LU luxembourg, MG madagascar, MW malawi, MY malaysia, "
    "MV maldives, ML mali, MT malta, MR mauritania, MU mauritius, MX mexico, MD moldova, MC monaco, "
    "MN mongolia, ME montenegro, MA morocco, MZ mozambique, MM myanmar, NA namibia, NP nepal, "
    "NL netherlands, NZ new zealand, NI nicaragua, NE niger, NG nigeria, KP north korea, MK north macedonia, "
    "NO norway, OM oman, PK pakistan, PA panama, PG papua new guinea, PY paraguay, PE peru, PH philippines, "
    "PL poland, PT portugal, QA qatar, RO romania, RU russia, RW rwanda, SA saudi arabia, SN senegal, "
    "RS serbia, SG singapore, SK slovakia, SI slovenia, SO somalia, ZA south africa, KR south korea, "
    "SS south sudan, ES spain, LK sri lanka, SD sudan, SE sweden, CH switzerland, SY syria, TW taiwan, "
    "TJ tajikistan, TZ tanzania, TH thailand, TG togo, TT trinidad and tobago, TN tunisia, TR turkey, "
    "TM turkmenistan, UG uganda, UA ukraine, AE united arab emirates, GB united kingdom, US united states, "
    "UY uruguay, UZ uzbekistan, VE venezuela, VN vietnam, YE yemen, ZM zambia, ZW zimbabwe"
)  # fmt: skip
"""The countries of Tavily's documentation, each after its code (ISO 3166-1)."""
_CODES: Final = {
    "uk": "GB",
    **{name: code for code, _, name in (row.partition(" ") for row in _NAMES.split(", "))},
}
_CODE: Final = re.compile(r"[a-z]{2}")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?=[-_]|\Z)")
_DEFAULT_LANGUAGE: Final = "en"
"""The language if the caller and the settings name more than one, or none."""


def language_in(country: str, language: str) -> str:
    """Return the language of a search, such as `en-DE`: instances treat the region as part of it.

    Args:
        country: English name or two-letter code.
        language: language code; a region in it is ignored.

    Raises:
        InvalidArgumentError: there is no such country.
    """
    name = country.strip().lower()
    code = _CODES.get(name) or (name.upper() if _CODE.fullmatch(name) else None)
    if code is None:
        raise InvalidArgumentError("country", "must be an English name or a code of two letters")
    found = _LANGUAGE.match(language)
    base = found[0].lower() if found else _DEFAULT_LANGUAGE
    return f"{_DEFAULT_LANGUAGE if base == 'all' else base}-{code}"


MAX_PAGES: Final = 20
"""Maximum per call: Tavily's limit, which Open WebUI uses."""
PARTS: Final = " [...] "
"""Tavily's separator between parts of a page."""
_CONCURRENCY: Final = 5
_LATE: Final = "The page was not read in time"


def warning_of(page: Page) -> str | None:
    """Return what a reader of a page should know, in sentences."""
    notes = [*page.notes]
    if page.next_offset is not None:
        shown = page.next_offset - page.offset
        notes.append(f"These are the first {shown:,} of {page.total_chars:,} characters.")
    return " ".join(notes) or None


async def read_page(call: Call, request: FetchRequest, max_age: float | None = None) -> Page:
    """Read a page.

    Args:
        call: call that the page is for.
        request: request for the page.
        max_age: maximum age of a stored copy in seconds; `None` for the cache's own rule.

    Raises:
        SearxMcpError: the page cannot be read.
    """
    page = await run_verb(WEB_FETCH, request, call)
    if max_age is not None and page.from_cache and page.age_seconds > max_age:
        again = request.model_copy(update={"force_refresh": True})
        page = await run_verb(WEB_FETCH, again, call)
    return page


async def read_pages(
    call: Call, urls: Sequence[str], build_request: Callable[[str], FetchRequest]
) -> list[tuple[str, Page | SearxMcpError]]:
    """Read several pages, a few at a time, within the deadline of the call.

    Args:
        call: call that the pages are for.
        urls: addresses, at least one.
        build_request: returns the request for an address.

    Returns:
        Each address with its page, or with the reason why it cannot be read, in their order.
    """
    slots = asyncio.Semaphore(_CONCURRENCY)

    async def read(url: str) -> Page | SearxMcpError:
        async with slots:
            try:
                return await read_page(call, build_request(url))
            except SearxMcpError as error:
                return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(read(url)) for url in urls]
        _, late = await asyncio.wait(tasks, timeout=call.limit)
        for task in late:
            task.cancel()
    found = [DeadlineError(_LATE) if task.cancelled() else task.result() for task in tasks]
    return list(zip(urls, found, strict=True))
