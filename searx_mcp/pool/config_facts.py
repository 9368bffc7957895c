"""What an instance reports at `/config`, without a search: limiter, version, engines.

Facts and formats, from searx 1.1 to SearXNG of 2026: `docs/decisions/discovery.md`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict

from searx_mcp.models.request import TimeRange

MAX_TEXT: Final = 2_000_000
"""Characters of a `/config`. With the 272 engines of SearXNG's defaults it has 0.11 million."""

MAX_ENGINES: Final = 1_000
MAX_NAMES: Final = 8_000
"""Characters of all engine names, and of all category names; SearXNG's defaults have 3,000 and 250. A
longer list is dropped, so that facts stay small whatever an instance sends."""
_MAX_CATEGORIES: Final = 20
_MAX_NAME: Final = 100


class _Kept(BaseModel):
    # Facts are stored for a long time: ignore fields of newer versions.
    model_config = ConfigDict(frozen=True, extra="ignore")


class CategoryFacts(_Kept):
    """What at least one enabled engine of a category supports; `None` is unknown.

    Attributes:
        time_range: a time range.
        paging: further pages.
        both: further pages with a time range, in the same engine.
    """

    time_range: bool | None = None
    paging: bool | None = None
    both: bool | None = None

    def can(self, *, time_range: bool, further_page: bool) -> bool | None:
        """Return whether one engine supports the request; always true if it needs neither."""
        match time_range, further_page:
            case True, True:
                return self.both
            case True, False:
                return self.time_range
            case False, True:
                return self.paging
            case _:
                return True


class ConfigFacts(_Kept):
    """The content of `/config`; `None` where it is missing or not understood.

    It says neither which formats are enabled, nor whether engines work.

    Attributes:
        limiter_enabled: whether the limiter runs.
        link_token: whether the limiter requires the link token.
        public_instance: whether the operator declared it public, which forces both.
        engines: the names of all engines; disabled ones answer if they are asked by name.
        categories: those with an enabled engine, by name; also empty if the engines are unknown.
    """

    version: str | None = None
    limiter_enabled: bool | None = None
    link_token: bool | None = None
    public_instance: bool | None = None
    engines: tuple[str, ...] | None = None
    categories: Mapping[str, CategoryFacts] = {}

    def serves(
        self,
        category: str,
        time_range: TimeRange = TimeRange.ANY,
        *,
        page: int = 1,
        engines: Iterable[str] = (),
    ) -> bool | None:
        """Return whether at least one engine can serve such a search; `None` if unknown.

        SearXNG leaves out engines that cannot do a time range or a further page, and replaces categories or
        engines that it does not have by `general`.

        Args:
            category: as the instance spells it.
            time_range: the age of results asked for.
            page: the 1-based number of the result page.
            engines: engines asked for by name instead of the category's; they are assumed to support the time
                range and the page.
        """
        if self.engines is None:
            return None
        if wanted := set(engines):
            return not wanted.isdisjoint(self.engines)
        able = self.categories.get(category)
        if able is None:
            return False
        return able.can(time_range=time_range is not TimeRange.ANY, further_page=page > 1)


def access_factor(facts: ConfigFacts | None, *, page_token: bool | None = None) -> float:
    """Return how likely a program is admitted, 0 to 1: a factor of the score.

    1 without a limiter; .6 with a limiter without link token; .25 with the link token; .5 if unknown.
    `docs/decisions/discovery.md` says why.

    Args:
        facts: from `/config`.
        page_token: whether its pages contain the link token, which overrides the facts; `None` if unknown.
    """
    if facts is not None and facts.limiter_enabled is False and not page_token:
        return 1.0
    wants_token = month_limited(facts) if page_token is None else page_token
    return {True: 0.25, False: 0.6, None: 0.5}[wants_token]


def month_limited(facts: ConfigFacts | None) -> bool | None:
    """Return whether the limiter counts requests of programs over 30 days; `None` if unknown.

    It does so for everyone without the link token.
    """
    match facts:
        case ConfigFacts(limiter_enabled=False):
            return False
        case ConfigFacts(link_token=True) | ConfigFacts(public_instance=True):
            return True
        case ConfigFacts(limiter_enabled=True, link_token=False):
            return False
        case _:
            return None


def parse_config(text: str) -> ConfigFacts | None:
    """Parse the text of `/config`; `None` if it is not one."""
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
    names, categories = _engines(document.get("engines"))
    return ConfigFacts(
        version=_name(document.get("version")),
        limiter_enabled=_flag(limiter.get("enabled")),
        link_token=_flag(limiter.get("botdetection.ip_limit.link_token")),
        public_instance=_flag(document.get("public_instance")),
        engines=names,
        categories=categories,
    )


# Without one of these it is other JSON, such as an error message.
_KEYS: Final = {"version", "limiter", "public_instance", "engines"}


def _engines(value: object) -> tuple[tuple[str, ...] | None, Mapping[str, CategoryFacts]]:
    listed = value[:MAX_ENGINES] if isinstance(value, list) else []
    objects = [each for each in listed if isinstance(each, dict)]
    engines = {name: each for each in objects if (name := _name(each.get("name")))}
    categories: dict[str, CategoryFacts] = {}
    for each in engines.values():
        if each.get("enabled") is not False:
            able = _able(each)
            for label in _labels(each.get("categories")):
                categories[label] = _joined(categories.get(label), able)
    # There is no instance without engines: the list could not be parsed.
    if not engines or max(_length(engines), _length(categories)) > MAX_NAMES:
        return None, {}
    return tuple(engines), categories


def _length(names: Iterable[str]) -> int:
    return sum(len(name) for name in names)


def _labels(categories: object) -> dict[str, None]:
    listed = categories if isinstance(categories, list) else [categories]
    return dict.fromkeys(label for each in listed[:_MAX_CATEGORIES] if (label := _name(each)))


def _able(engine: Mapping[str, object]) -> CategoryFacts:
    time_range, paging = _flag(engine.get("time_range_support")), _flag(engine.get("paging"))
    return CategoryFacts(time_range=time_range, paging=paging, both=_all(time_range, paging))


def _joined(one: CategoryFacts | None, other: CategoryFacts) -> CategoryFacts:
    if one is None:
        return other
    return CategoryFacts(
        time_range=_any(one.time_range, other.time_range),
        paging=_any(one.paging, other.paging),
        both=_any(one.both, other.both),
    )


def _all(*answers: bool | None) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _any(*answers: bool | None) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False


def _name(value: object) -> str | None:
    if not isinstance(value, str) or not value.isprintable():
        return None
    return value.strip()[:_MAX_NAME].rstrip() or None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
