"""Direct answers above the results: a text, a translation, a weather report; alike in both formats.

A report and a translation have no text of their own in JSON. Their parts are given as labelled
values, in the words that a page in English has for them.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.models.hits import Answer, Fact
from searx_mcp.sources.searxng.fields import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_NAMES,
    line,
    lines,
    number,
    web_address,
)
from searx_mcp.sources.searxng.html_templates import attribute, several, text

Fields = dict[str, object]

_FORECAST: Final = "Forecast"
_POINTS: Final = (
    "N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW",
)  # fmt: skip
_PARTS: Final = {"examples": "Examples", "definitions": "Definitions", "synonyms": "Synonyms"}
"""Lists of a translation, in the order of the page."""


def answers_in_json(values: object) -> Iterator[Answer]:
    """Read the `answers` of a JSON page; strings until 2025-01."""
    for value in values[:MAX_NAMES] if isinstance(values, list) else ():
        fields = value if isinstance(value, dict) else {"answer": value}
        words, details = _read(fields)
        if words:
            yield Answer(text=words, url=web_address(fields.get("url")), details=details)


def answers_in_html(document: LexborHTMLParser) -> Iterator[Answer]:
    """Read the answers of a page."""
    for node in several(document, "#answers .answer"):
        words, details = _shown(node)
        link = node.css_first("a[href]")
        if words := line(words, MAX_DESCRIPTION):
            yield Answer(text=words, url=web_address(attribute(link, "href")), details=details)


def _read(fields: Fields) -> tuple[str, tuple[Fact, ...]]:
    if words := line(fields.get("answer"), MAX_DESCRIPTION):
        return words, ()
    items = list(_objects(fields.get("translations")))
    if words := line(", ".join(lines([item.get("text") for item in items])), MAX_DESCRIPTION):
        return words, _facts((item.get("text"), _translation(item)) for item in items)
    current = fields.get("current")
    if not isinstance(current, dict):
        return "", ()
    forecasts = [(_FORECAST, _forecast(item)) for item in _objects(fields.get("forecasts"))]
    details = _facts([*_weather(current), *forecasts])
    return line(current.get("summary"), MAX_DESCRIPTION), details


def _translation(item: Fields) -> str:
    parts = [line(item.get("transliteration"), MAX_DESCRIPTION)]
    for name, label in _PARTS.items():
        if listed := lines(item.get(name), max_chars=MAX_DESCRIPTION):
            parts.append(f"{label}: {' / '.join(listed)}")
    return "; ".join(filter(None, parts))


def _weather(item: Fields) -> list[tuple[str, str]]:
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


def _forecast(item: Fields) -> str:
    at = item.get("datetime")
    when = line(at.get("datetime") if isinstance(at, dict) else at, MAX_NAME)
    heading = " ".join(filter(None, (when, line(item.get("summary"), MAX_DESCRIPTION))))
    return _joined(heading, _weather(item))


def _joined(heading: str, measures: Iterable[tuple[str, str]]) -> str:
    return "; ".join(
        filter(None, (heading, *(f"{label} {value}" for label, value in measures if value)))
    )


def _measure(value: object) -> str:
    """A value with its unit as `12.5 °C`; a page rounds to whole numbers and may convert."""
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


def _shown(node: LexborNode) -> tuple[str, tuple[Fact, ...]]:
    """What a page shows of an answer, and its parts."""
    if report := node.css_first("details.weather div.summary"):
        return text(report), _facts(_shown_weather(node))
    if terms := several(node, ".answer-translations dt"):
        words = ", ".join(text(term).strip() for term in terms)
        return words, _facts(_shown_translations(node.css_first(".answer-translations dl")))
    # A span tells the source where that has no address; searx 1.1 has the answer in the link itself.
    spoken = node.css_first("summary") or node.css_first("span") or node.css_first("a[href]")
    return text(spoken), ()


def _shown_weather(node: LexborNode) -> Iterator[tuple[str, str]]:
    # A summary stands before each table; the first pair is of now.
    summaries, tables = several(node, "div.summary"), several(node, "table")
    for place, (summary, table) in enumerate(zip(summaries, tables, strict=False)):
        if place:
            yield _FORECAST, _joined(line(text(summary), MAX_DESCRIPTION), _cells(table))
        else:
            yield from _cells(table)


def _cells(table: LexborNode) -> Iterator[tuple[str, str]]:
    """The labels and values of a table, two pairs in each row."""
    for row in several(table, "tr"):
        words = [line(text(cell), MAX_DESCRIPTION) for cell in several(row, "td")]
        for label, value in zip(words[::2], words[1::2], strict=False):
            yield label.rstrip(": "), value


def _shown_translations(terms: LexborNode | None) -> Iterator[tuple[str, str]]:
    term = ""
    for child in _children(terms):
        if child.tag == "dt":
            term = text(child)
        elif child.tag == "dd":
            yield term, "; ".join(filter(None, _shown_parts(child)))


def _shown_parts(entry: LexborNode) -> Iterator[str]:
    label = ""
    for child in _children(entry):
        words = line(text(child), MAX_DESCRIPTION)
        if child.tag == "ul":
            items = lines([text(item) for item in several(child, "li")], max_chars=MAX_DESCRIPTION)
            yield f"{label}: {' / '.join(items)}" if items else ""
        elif attribute(child, "class") == "item-transliteration":
            yield words
        else:
            label = words


def _children(node: LexborNode | None) -> list[LexborNode]:
    return list(islice(node.iter(), 2 * MAX_NAMES)) if node is not None else []


def _facts(pairs: Iterable[tuple[object, object]]) -> tuple[Fact, ...]:
    cleaned = ((line(label, MAX_NAME), line(value, MAX_DESCRIPTION)) for label, value in pairs)
    return tuple(Fact(label=label, value=value) for label, value in cleaned if label and value)


def _objects(values: object) -> Iterator[Fields]:
    listed = values[:MAX_NAMES] if isinstance(values, list) else ()
    return (item for item in listed if isinstance(item, dict))
