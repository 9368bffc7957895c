"""GDELT: news of the last three months from the press of many countries; titles only."""

import re
from typing import Final

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.engine import (
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
)
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import Rows, json_object

NAME: Final = "gdelt"

_LANGUAGES: Final = {
    "ar": "arabic", "bg": "bulgarian", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "et": "estonian", "fa": "persian", "fi": "finnish",
    "fr": "french", "he": "hebrew", "hi": "hindi", "hr": "croatian", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sk": "slovak", "sr": "serbian", "sv": "swedish", "th": "thai", "tr": "turkish",
    "uk": "ukrainian", "vi": "vietnamese", "zh": "chinese",
}  # fmt: skip
_TIMESPANS: Final = {TimeRange.DAY: "1d", TimeRange.WEEK: "7d", TimeRange.MONTH: "1m"}
_WORD = re.compile(r"\w+")
_MIN_WORD: Final = 3
_MIN_PHRASE: Final = 5
"""Minimum letters; a shorter word or phrase makes it refuse the whole query."""
_ESCAPE = re.compile(rb'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_CONTROL = re.compile(rb"[\x00-\x1f]")
_BEFORE_SIGN = re.compile(r" (?=[.,;:!?%)\]])|(?<=[(\[]) ")
_APOSTROPHE = re.compile(r"(?<=\w) (['\u2019]) ?(?=(?:s|t|re|ve|ll|d|m)\b)")


def ask(query: OpenQuery) -> Ask | None:
    """Search the news in the query's language; newest first, for a time range of a day."""
    is_any = query.spoken in {"all", "auto"}
    terms = [term for term in map(_term, query.keywords) if term]
    if not terms or query.page > 1 or not (is_any or query.spoken in _LANGUAGES):
        return None
    if not is_any:
        terms.append(f"sourcelang:{_LANGUAGES[query.spoken]}")
    is_today = query.time_range is TimeRange.DAY
    parameters = {"query": " ".join(terms), "sort": "DateDesc" if is_today else "HybridRel"}
    if timespan := _TIMESPANS.get(query.time_range):
        parameters["timespan"] = timespan
    return Ask(parameters)


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `articles`; an empty object means no results.

    Errors come as plain text, and titles contain backslashes and control characters that JSON does not allow.
    """
    text = body.strip()
    if text and not text.startswith((b"{", b"[", b"<")):
        raise _refused(text)
    answer = json_object(_CONTROL.sub(b" ", _ESCAPE.sub(_escape, text)))
    if answer and "articles" not in answer:
        raise ValueError("the answer has no articles")
    rows = Rows(NAME, query)
    for article in answer.parts("articles"):
        title = _BEFORE_SIGN.sub("", article.line("title", 500))
        rows.add(
            article.text("url"),
            _APOSTROPHE.sub(r"\1", title),
            published=article.text("seendate"),
            thumbnail=article.text("socialimage"),
        )
    return rows.parsed()


def _term(keyword: str) -> str:
    """Return a keyword without punctuation; punctuation inside makes it a phrase, which must be quoted."""
    words = _WORD.findall(keyword)
    text = " ".join(words)
    if len(words) > 1:
        return f'"{text}"' if len(text) >= _MIN_PHRASE else ""
    return text if len(text) >= _MIN_WORD else ""


def _refused(text: bytes) -> RefusedError:
    if b"limit requests" in text[:1_000]:
        return RefusedError(Verdict.RATE_LIMITED, "GDELT asked us to wait.")
    return RefusedError(Verdict.REFUSED, "GDELT could not parse the query.", ours=True)


def _escape(found: re.Match[bytes]) -> bytes:
    return found[0] if found[1] else b""


ENGINE: Final = Engine(
    name=NAME,
    title="GDELT",
    operator="GDELT Project, US",
    categories={Category.NEWS: 3},
    endpoint="https://api.gdeltproject.org/api/v2/doc/doc",
    parameters={"mode": "ArtList", "format": "json", "maxrecords": "25"},
    ask=ask,
    parse=parse,
    weight=0.9,
    # One request in five seconds. Since July 2026 it has refused even first ones, after 13 to 22 s.
    gap=5.5,
    per_day=300,
    timeout=6.0,
    rest=900.0,
    licence="News from the GDELT Project (https://www.gdeltproject.org/).",
    time_ranges=frozenset({TimeRange.DAY, TimeRange.WEEK, TimeRange.MONTH}),
    pages=False,
    filters_language=True,
    routing=Routing(signals={Signal.NEWS: 4}),
    words=EngineWords(
        names="gdelt",
        implied="news headlines article articles update updates",
    ),
    searches_unseen=True,
    switch=lambda config: config.gdelt,
    terms_url="https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/",
    terms_checked="2026-11",
)
