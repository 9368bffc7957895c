"""Parses JSON result pages of SearXNG and searx, of any year.

The format changed: answers were strings and are objects, results gained and lost fields. So every field is
optional, and a value of an unexpected type counts as absent. Pages in HTML are read into the same rows.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from searx_mcp.models.hits import (
    Answer,
    Fact,
    Hit,
    Infobox,
    ResultPage,
    UnresponsiveEngine,
)
from searx_mcp.sources.searxng.fields import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_NAMES,
    MAX_ROWS,
    MAX_TITLE,
    image_address,
    instant,
    line,
    lines,
    number,
    row_template,
    untagged,
    web_address,
    words,
)
from searx_mcp.sources.searxng.template_fields import facts, links, table, template_fields

_TABLE: Final = "keyvalue"
"""The template of rows that may be a table of facts without an address."""
FORECAST: Final = "Forecast"
"""The label of a part of a weather report about a later time."""
_POINTS: Final = (
    "N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW",
)  # fmt: skip
_PARTS: Final = {"examples": "Examples", "definitions": "Definitions", "synonyms": "Synonyms"}
"""Lists of a translation, in the order of the page."""


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
            A box named by the table's caption, its title or its engine; `None` for a table without a readable
            value.
        """
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


def parse_json(body: bytes, *, base_url: str) -> ParsedBody:
    """Parse a body that should be a result page in JSON.

    Args:
        body: the whole body; SearXNG sends UTF-8.
        base_url: the instance, for addresses that point into it.

    Returns:
        `RESULTS` with the page; `SEARCH_ERROR` for `{"error": …}`; `FOREIGN` for other JSON; `MALFORMED` for
        anything else. Never raises.
    """
    try:
        document = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        # ValueError is also raised for an integer with more digits than Python converts.
        return ParsedBody(BodyKind.MALFORMED, detail="The answer is not JSON.")
    if not isinstance(document, dict):
        return ParsedBody(BodyKind.FOREIGN, detail="The answer is JSON from another program.")
    if not isinstance(document.get("results"), list):
        if "error" in document:
            return ParsedBody(BodyKind.SEARCH_ERROR, detail="The instance could not search.")
        return ParsedBody(BodyKind.FOREIGN, detail="The answer is JSON from another program.")
    rows = [
        _row(row if isinstance(row, dict) else {}) for row in _list(document["results"], MAX_ROWS)
    ]
    page = page_of(
        rows,
        _infoboxes(document.get("infoboxes"), base_url),
        base_url=base_url,
        answers=tuple(_answers(document.get("answers"))),
        suggestions=lines(document.get("suggestions"), max_chars=MAX_TITLE),
        corrections=lines(document.get("corrections"), max_chars=MAX_TITLE),
        unresponsive_engines=tuple(_unresponsive(document.get("unresponsive_engines"))),
    )
    return ParsedBody(BodyKind.RESULTS, page=page)


def page_of(
    rows: Sequence[Row],
    infoboxes: Iterable[Infobox],
    *,
    base_url: str,
    **parts: Any,  # noqa: ANN401 - fields of the page
) -> ResultPage:
    """Make a result page of its rows, where tables without an address are fact boxes, and its other parts."""
    hits = (row.to_hit(position=place, base_url=base_url) for place, row in enumerate(rows, 1))
    tables = [row for row in rows if row.template == _TABLE and web_address(row.url) is None]
    return ResultPage(
        hits=tuple(hit for hit in hits if hit is not None),
        rows_seen=len(rows) - len(tables),
        infoboxes=(*infoboxes, *filter(None, (row.to_infobox() for row in tables))),
        **parts,
    )


def _row(fields: dict[str, object]) -> Row:
    engines = fields.get("engines")
    template = row_template(fields.get("template"))
    thumbnail = fields.get("thumbnail_src") if template == "images" else None
    published = fields.get("publishedDate")
    if not published and "date_of_publication" in fields:
        published = _publication(fields)
    return Row(
        url=fields.get("url"),
        title=fields.get("title"),
        description=fields.get("content"),
        engines=engines if isinstance(engines, list) and engines else (fields.get("engine"),),
        published=published,
        thumbnail=thumbnail or fields.get("thumbnail") or fields.get("img_src"),
        category=fields.get("category"),
        template=template,
        author=fields.get("author"),
        details=fields,
    )


def _publication(fields: dict[str, object]) -> object:
    """Return the date of a paper, which may be its only date."""
    date = fields.get("date_of_publication")
    return date.get("datetime") if isinstance(date, dict) else None


def _infoboxes(values: object, base_url: str) -> Iterator[Infobox]:
    for fields in _objects(values, MAX_NAMES):
        title = line(fields.get("infobox"), MAX_TITLE) or line(fields.get("title"), MAX_TITLE)
        if not title:
            continue
        yield Infobox(
            title=title,
            content=untagged(fields.get("content"), MAX_DESCRIPTION),
            image=image_address(fields.get("img_src"), base_url),
            links=links(
                (link.get("title"), link.get("url"))
                for link in _objects(fields.get("urls"), MAX_NAMES)
            ),
            attributes=tuple(_attributes(fields.get("attributes"))),
            engine=line(fields.get("engine"), MAX_NAME),
        )


def _attributes(values: object) -> Iterator[Fact]:
    for fields in _objects(values, MAX_NAMES):
        label, value = line(fields.get("label"), MAX_NAME), fields.get("value")
        image = fields.get("image")
        if not value and isinstance(image, dict):
            value = image.get("alt")
        text = untagged(value, MAX_DESCRIPTION)
        if label and text:
            yield Fact(label=label, value=text)


def _answers(values: object) -> Iterator[Answer]:
    """Parse the direct answers: strings until 2025-01, then a text, a translation or a weather report.

    A report and a translation have no text of their own. Their parts become labelled values, with the labels
    of an English page.
    """
    for value in _list(values, MAX_NAMES):
        fields = value if isinstance(value, dict) else {"answer": value}
        text, details = _answer(fields)
        if text:
            yield Answer(text=text, url=web_address(fields.get("url")), details=details)


def _answer(fields: dict[str, object]) -> tuple[str, tuple[Fact, ...]]:
    if text := line(fields.get("answer"), MAX_DESCRIPTION):
        return text, ()
    items = list(_objects(fields.get("translations"), MAX_NAMES))
    if text := line(", ".join(lines([item.get("text") for item in items])), MAX_DESCRIPTION):
        return text, facts((item.get("text"), _translation(item)) for item in items)
    current = fields.get("current")
    if not isinstance(current, dict):
        return "", ()
    forecasts = [
        (FORECAST, _forecast(item)) for item in _objects(fields.get("forecasts"), MAX_NAMES)
    ]
    details = facts([*_weather(current), *forecasts])
    return line(current.get("summary"), MAX_DESCRIPTION), details


def _translation(item: dict[str, object]) -> str:
    parts = [line(item.get("transliteration"), MAX_DESCRIPTION)]
    for name, label in _PARTS.items():
        if listed := lines(item.get(name), max_chars=MAX_DESCRIPTION):
            parts.append(f"{label}: {' / '.join(listed)}")
    return "; ".join(filter(None, parts))


def _weather(item: dict[str, object]) -> list[tuple[str, str]]:
    direction, speed = _direction(item.get("wind_from")), _measure(item.get("wind_speed"))
    wind = ": ".join(filter(None, (direction, speed)))
    return [
        ("Temperature", _measure(item.get("temperature"))),
        ("Feels Like", _measure(item.get("feels_like"))),
        ("Wind", wind),
        ("Pressure", _measure(item.get("pressure"))),
        ("Humidity", _percent(_value(item.get("humidity")))),
        ("Cloud Cover", _percent(number(item.get("cloud_cover")))),
    ]


def _forecast(item: dict[str, object]) -> str:
    at = item.get("datetime")
    when = line(at.get("datetime") if isinstance(at, dict) else at, MAX_NAME)
    heading = " ".join(filter(None, (when, line(item.get("summary"), MAX_DESCRIPTION))))
    return forecast(heading, _weather(item))


def _measure(value: object) -> str:
    """Return a value with its unit as `12.5 °C`; a page rounds to whole numbers and may convert."""
    amount = _value(value)
    unit = line(value.get("unit"), MAX_NAME) if isinstance(value, dict) else ""
    return "" if amount is None else f"{round(amount, 1):g} {unit}".rstrip()


def _value(value: object) -> float | None:
    return number(value.get("val")) if isinstance(value, dict) else None


def _percent(share: float | None) -> str:
    return "" if share is None else f"{round(share):d}%"


def _direction(value: object) -> str:
    degrees = _value(value)
    if degrees is None:
        return ""
    return _POINTS[round(degrees / (360 / len(_POINTS))) % len(_POINTS)]


def _unresponsive(values: object) -> Iterator[UnresponsiveEngine]:
    for value in _list(values, MAX_NAMES):
        pair = value if isinstance(value, list) else [value]
        engine = line(pair[0], MAX_NAME) if pair else ""
        if engine:
            reason = line(pair[1], MAX_NAME) if len(pair) > 1 else ""
            yield UnresponsiveEngine(engine=engine, reason=reason)


def _list(value: object, limit: int) -> list[object]:
    return value[:limit] if isinstance(value, list) else []


def _objects(value: object, limit: int) -> Iterator[dict[str, object]]:
    return (item for item in _list(value, limit) if isinstance(item, dict))


def forecast(heading: str, measures: Iterable[tuple[str, str]]) -> str:
    """Write a forecast on one line."""
    return "; ".join(
        filter(None, (heading, *(f"{label} {value}" for label, value in measures if value)))
    )
