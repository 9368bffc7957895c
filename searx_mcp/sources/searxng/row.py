"""Rows and parts of answers, between format and model, and the kinds of bodies.

Times are as the instance sent them: JSON has ISO 8601 since 2023-06, with and without an offset; HTML has it
since 2025-03. Before that, and still for papers, there is a date in the reader's language, or within the last
day only its age.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from searx_mcp.content.values import MONTHS
from searx_mcp.models.hits import Hit, Infobox, ResultPage
from searx_mcp.sources.searxng.fields import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_TITLE,
    image_address,
    line,
    lines,
    web_address,
)
from searx_mcp.sources.searxng.template_fields import table, template_fields

TABLE: Final = "keyvalue"
"""The template of rows that may be a table of facts without an address."""
_YEAR = re.compile(r"[0-9]{4}")
_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d)?", re.ASCII)
_DATE_LENGTH: Final = len("2026-02-01")
_AMERICAN = re.compile(r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>[0-9]{1,2}), (?P<year>[0-9]{4})")
_BRITISH = re.compile(r"(?P<day>[0-9]{1,2}) (?P<month>[A-Za-z]{3,9})\.?,? (?P<year>[0-9]{4})")
"""The medium and long dates of English, `Feb 5, 2026` and `5 February 2026` (Unicode CLDR)."""


def instant(value: object) -> str | None:
    """Parse an ISO 8601 date, date and time, or year.

    Offsets are kept and never guessed. English dates are supported, since instances are asked for English;
    `None` for other languages and for ages such as `5 minute(s) ago`: their reference time is unknown, and an
    answer may come from a cache.
    """
    text = line(value, MAX_NAME)
    if not text:
        return None
    if _YEAR.fullmatch(text):
        return text
    try:
        if len(text) == _DATE_LENGTH:
            return date.fromisoformat(text).isoformat()
        read = datetime.fromisoformat(text)
    except ValueError:
        return _english_date(text)
    # Usually it already has our form, and checking that is faster than formatting it.
    return text if _CANONICAL.fullmatch(text) else read.isoformat()


def words(value: object) -> str:
    """Return the words of a time that `instant` cannot parse; empty for `None` in words."""
    text = line(value, MAX_NAME)
    return "" if text == "None" else text


def _english_date(text: str) -> str | None:
    found = _AMERICAN.fullmatch(text) or _BRITISH.fullmatch(text)
    month = found["month"][:3].lower() if found else ""
    if found is None or month not in MONTHS:
        return None
    try:
        return date(int(found["year"]), MONTHS.index(month) + 1, int(found["day"])).isoformat()
    except ValueError:
        return None


@dataclass(slots=True, kw_only=True)
class Row:
    """One result row, the same for both formats; fields are as sent.

    Attributes:
        template: from `row_template`.
        details: the fields of the row's template, under the names of upstream's JSON.
    """

    url: object = None
    title: object = None
    description: object = None
    engines: Iterable[object] = ()
    published: object = None
    thumbnail: object = None
    category: object = None
    template: str = "default"
    author: object = None
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_box(self) -> bool:
        """Whether it is a table of labels and values without an address, which is not a result."""
        return self.template == TABLE and web_address(self.url) is None

    def to_hit(self, *, position: int, base_url: str) -> Hit | None:
        """Convert the row to a hit.

        Args:
            position: the row's 1-based place in the list.
            base_url: the instance, for addresses that point into it.

        Returns:
            `None` if the row has no usable address.
        """
        url = web_address(self.url)
        if url is None and self.template == "images":
            url = image_address(self.details.get("img_src"), base_url)
        if url is None:
            return None
        published_at = instant(self.published) if self.published else None
        return Hit(
            url=url,
            # Some engines return images without a title; use the address.
            title=line(self.title, MAX_TITLE) or line(url.partition("://")[2], MAX_TITLE),
            description=line(self.description, MAX_DESCRIPTION),
            engines=tuple(sorted(lines(self.engines))),
            position=position,
            published_at=published_at,
            published_text=words(self.published) if self.published and not published_at else "",
            thumbnail=image_address(self.thumbnail, base_url) if self.thumbnail else None,
            category=line(self.category, MAX_NAME),
            template=self.template,
            author=line(self.author, MAX_NAME) if self.author else "",
            **template_fields(self.template, self.details, base_url),
        )

    def to_infobox(self) -> Infobox | None:
        """Convert a table without an address to a fact box.

        Returns:
            A box named by the table's caption, its title or its engine; `None` for any other row, and for a
            table without a readable value.
        """
        if not self.is_box:
            return None
        facts = table(self.details)
        engine = next(iter(sorted(lines(self.engines))), "")
        title = (
            line(self.details.get("caption"), MAX_TITLE) or line(self.title, MAX_TITLE) or engine
        )
        if not facts or not title:
            return None
        return Infobox(
            title=title,
            content=line(self.description, MAX_DESCRIPTION),
            attributes=facts,
            engine=engine,
        )


class BodyKind(StrEnum):
    """Kinds of bodies."""

    RESULTS = "results"
    """A result page, with or without results."""
    SEARCH_ERROR = "search_error"
    """SearXNG reports that it could not search."""
    HOME = "home"
    """SearXNG's start page: the query was removed from the request."""
    MALFORMED = "malformed"
    """Neither parseable nor clearly something else."""
    FOREIGN = "foreign"
    """A valid answer of some other program."""


@dataclass(frozen=True, slots=True)
class ParsedBody:
    """A parsed body.

    Attributes:
        kind: of the body.
        page: the result page; present exactly for `BodyKind.RESULTS`.
        detail: the problem, one sentence for a person; never text of the instance.
    """

    kind: BodyKind
    page: ResultPage | None = None
    detail: str = ""


FORECAST: Final = "Forecast"
"""The label of a part of a weather report about a later time."""


def forecast(heading: str, measures: Iterable[tuple[str, str]]) -> str:
    """Write a forecast on one line."""
    return "; ".join(
        filter(None, (heading, *(f"{label} {value}" for label, value in measures if value)))
    )
