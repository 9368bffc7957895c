"""What an instance tells of itself at `/config`, without a search: limiter, version, engines.

Facts and shapes, searx 1.1 to SearXNG of 2026: `docs/decisions/discovery.md`.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from searx_mcp.models.base import Frozen
from searx_mcp.models.request import TimeRange

MAX_TEXT: Final = 2_000_000
"""Characters of a `/config`. One with the 272 engines of SearXNG's defaults has 0.11 million."""

MAX_ENGINES: Final = 1_000
_MAX_CATEGORIES: Final = 20
_MAX_NAME: Final = 100

Name = Annotated[str, Field(min_length=1, max_length=_MAX_NAME)]


class EngineFacts(Frozen):
    """One engine that the instance uses unless told otherwise; `None` is unknown.

    Attributes:
        categories: as the instance spells them; SearXNG's are in lower case.
        time_range: whether it can search a time range.
        safesearch: whether it can filter.
        paging: whether it has further pages.
    """

    name: Name
    categories: tuple[Name, ...] = ()
    time_range: bool | None = None
    safesearch: bool | None = None
    paging: bool | None = None


class ConfigFacts(Frozen):
    """What `/config` says; `None` where it says nothing or nothing we understand.

    It does not tell which formats are on, nor whether engines work.

    Attributes:
        limiter_enabled: whether the limiter runs.
        link_token: whether it asks for the token of the style sheet.
        public_instance: whether the operator declared it public, which forces both.
        engines: the enabled ones.
    """

    version: str | None = None
    limiter_enabled: bool | None = None
    link_token: bool | None = None
    public_instance: bool | None = None
    engines: tuple[EngineFacts, ...] | None = None

    @property
    def categories(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the enabled engines by category; empty when they are unknown."""
        names: dict[str, tuple[str, ...]] = {}
        for engine in self.engines or ():
            for category in engine.categories:
                names[category] = (*names.get(category, ()), engine.name)
        return names

    def serves(
        self, category: str, time_range: TimeRange = TimeRange.ANY, *, page: int = 1
    ) -> bool | None:
        """Whether at least one enabled engine can take such a search; `None` when unknown.

        SearXNG leaves out engines that cannot do a time range or a further page.
        """
        if self.engines is None:
            return None
        able = [
            _all((time_range is TimeRange.ANY or engine.time_range, page == 1 or engine.paging))
            for engine in self.engines
            if category in engine.categories
        ]
        if True in able:
            return True
        return None if None in able else False


def _all(answers: tuple[bool | None, ...]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def access_factor(facts: ConfigFacts | None) -> float:
    """How likely a program gets in, 0 to 1: a factor of the score.

    1 without limiter; .6 with a limiter that asks for no token; .25 with the token; .5 when
    unknown. `docs/decisions/discovery.md`.
    """
    match facts:
        case ConfigFacts(limiter_enabled=False):
            return 1.0
        case ConfigFacts(link_token=True) | ConfigFacts(public_instance=True):
            return 0.25
        case ConfigFacts(limiter_enabled=True, link_token=False):
            return 0.6
        case _:
            return 0.5


def parse_config(text: str) -> ConfigFacts | None:
    """Read the text of `/config`; `None` if it is none."""
    if len(text) > MAX_TEXT:
        return None
    try:
        document = json.loads(text, parse_int=float, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not _KEYS & document.keys():
        return None
    limiter = document.get("limiter")
    if not isinstance(limiter, dict):
        limiter = {"enabled": limiter}
    return ConfigFacts(
        version=_name(document.get("version")),
        limiter_enabled=_flag(limiter.get("enabled")),
        link_token=_flag(limiter.get("botdetection.ip_limit.link_token")),
        public_instance=_flag(document.get("public_instance")),
        engines=_engines(document.get("engines")),
    )


# Without one of them it is some other JSON, such as an error message.
_KEYS: Final = {"version", "limiter", "public_instance", "engines"}


def _engines(value: object) -> tuple[EngineFacts, ...] | None:
    listed = value[:MAX_ENGINES] if isinstance(value, list) else []
    engines = {name: each for each in listed if (name := _name(_get(each, "name")))}
    if not engines:
        # An instance without any engine does not exist: the list cannot be read.
        return None
    return tuple(
        _engine(name, each) for name, each in engines.items() if each.get("enabled") is not False
    )


def _engine(name: str, value: Mapping[str, object]) -> EngineFacts:
    categories = value.get("categories")
    listed = categories if isinstance(categories, list) else [categories]
    labels = [label for each in listed[:_MAX_CATEGORIES] if (label := _name(each))]
    return EngineFacts(
        name=name,
        categories=tuple(dict.fromkeys(labels)),
        time_range=_flag(value.get("time_range_support")),
        safesearch=_flag(value.get("safesearch")),
        paging=_flag(value.get("paging")),
    )


def _get(data: object, key: str) -> object:
    return data.get(key) if isinstance(data, dict) else None


def _name(value: object) -> str | None:
    if not isinstance(value, str) or not value.isprintable():
        return None
    return value.strip()[:_MAX_NAME].rstrip() or None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
