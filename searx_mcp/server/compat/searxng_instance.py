"""SearXNG's routes about an instance: `/config`, `/autocompleter` and `/stats/errors`."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ConfigDict, RootModel

from searx_mcp import __version__
from searx_mcp.models.base import Frozen
from searx_mcp.models.instance import EngineReport
from searx_mcp.models.request import FURTHER_CATEGORIES, MAX_QUERY_LENGTH, Category, SafeSearch
from searx_mcp.server.rest.encoding import encode_json
from searx_mcp.server.rest.operation import Body, Call, Text, read_pool

_SUGGESTIONS: Final = "application/x-suggestions+json"
_STEP: Final = 5
"""Percent; SearXNG rounds to a multiple of it."""


class SearxngPrefix(Frozen):
    """The beginning of a query; other parameters are ignored.

    Attributes:
        q: the text typed so far.
    """

    model_config = ConfigDict(extra="ignore")

    q: str = ""


class SearxngEngine(Frozen):
    """An engine of one of your own instances.

    Attributes:
        name: name of the engine.
        enabled: whether it is used; always true.
    """

    name: str
    enabled: bool


class SearxngConfig(Frozen):
    """What can be searched.

    Attributes:
        categories: names of the categories.
        engines: engines that answered for your own instances.
        instance_name: name of the program.
        version: version of the program, not of SearXNG.
        default_locale: empty.
        autocomplete: empty, since there is none.
        safe_search: level of a search that sets none.
        public_instance: always false.
    """

    categories: tuple[str, ...]
    engines: tuple[SearxngEngine, ...]
    instance_name: str = "searx-mcp"
    version: str = f"searx-mcp {__version__}"
    default_locale: str = ""
    autocomplete: str = ""
    safe_search: int = SafeSearch.MODERATE
    public_instance: bool = False


class SearxngSuggestions(RootModel[tuple[Any, ...]]):
    """The beginning of the query, and no suggestions, as from an instance without autocompletion."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class SearxngFault(Frozen):
    """What went wrong with an engine.

    Attributes:
        log_message: the latest reason, in the words of an instance.
        percentage: share of its requests, in steps of five.
        secondary: always false.
    """

    log_message: str
    percentage: int
    secondary: bool = False


class SearxngFaults(RootModel[dict[str, tuple[SearxngFault, ...]]]):
    """Faults by the name of the engine; of your own instances only."""

    model_config = ConfigDict(frozen=True, defer_build=True)


async def config(call: Call) -> Body:
    """Report what can be searched; sends no request."""
    engines = await _engines(call)
    further = call.backend.settings.search_defaults().categories
    answer = SearxngConfig(
        categories=tuple(dict.fromkeys((*Category, *FURTHER_CATEGORIES, *further))),
        engines=tuple(SearxngEngine(name=name, enabled=True) for name in engines),
    )
    return answer.model_dump(mode="json")


async def autocompleter(call: Call) -> Body:
    """Suggest nothing: suggestions would cost a request per keystroke."""
    given = call.arguments.get("q", "")
    typed = given[0] if isinstance(given, list) else given
    words = str(typed)[:MAX_QUERY_LENGTH]
    return Text(encode_json([words, [], [], [], {}]).decode(), _SUGGESTIONS)


async def stats_errors(call: Call) -> Body:
    """Report the engines' failures; sends no request."""
    engines = await _engines(call)
    return {name: faults for name, each in engines.items() if (faults := _faults(each))}


async def _engines(call: Call) -> dict[str, list[EngineReport]]:
    """Return the engines of own instances, by name."""
    found: dict[str, list[EngineReport]] = {}
    for instance in (await read_pool(call)).instances:
        for engine in instance.engines:
            found.setdefault(engine.name, []).append(engine)
    return found


def _faults(reports: list[EngineReport]) -> list[Mapping[str, object]]:
    failed = sum(each.refused + each.failed for each in reports)
    if not failed:
        return []
    share = failed / (failed + sum(each.answered for each in reports))
    reason = next((each.reason for each in reports if each.reason), "")
    percentage = round(share * 100 / _STEP) * _STEP
    return [{"log_message": reason, "percentage": percentage, "secondary": False}]
