"""What kind of thing a result is: the fields of its template, one by one, in the order of their worth."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from searx_mcp.models.base import Frozen
from searx_mcp.models.response import SearchResult
from searx_mcp.models.templates import (
    TEMPLATE_FIELDS,
    Code,
    Fact,
    File,
    Image,
    Link,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.render.fence import code_line, one_line, one_url
from searx_mcp.render.tokens import clip

_VALUE_TOKENS: Final = 30
_CODE_TOKENS: Final = 60
_ADDRESS_TOKENS: Final = 200
"""A longer address is left out, since a part of one leads nowhere; a magnet loses its last trackers."""
_LISTED: Final = 6
_CODE_LINES: Final = 20
_DATE_LENGTH: Final = len("2026-01-02")

_FORMS: Final[Mapping[type[Frozen], tuple[tuple[str, str], ...]]] = {
    Image: (("url resolution format size source", "image {} {} {} {} {}"),),
    Video: (("length", "{}"), ("views", "{} views"), ("embed_url", "player {}")),
    Media: (("length", "{}"), ("audio_url", "audio {}"), ("embed_url", "player {}")),
    Torrent: (
        ("magnet", "{}"),
        ("torrent_url", "torrent {}"),
        ("size", "{}"),
        ("seeds", "{} seeds"),
        ("leeches", "{} leeches"),
        ("files", "{} files"),
    ),
    Place: (
        ("latitude longitude", "at {:.4f} {:.4f}"),
        ("name", "{}"),
        ("road house_number", "{} {}"),
        ("postcode locality", "{} {}"),
        ("country", "{}"),
    ),
    Paper: (
        ("pdf_url", "PDF {}"),
        ("doi", "doi {}"),
        ("authors", "{}"),
        ("journal", "{}"),
        ("volume", "volume {}"),
        ("number", "number {}"),
        ("pages", "pages {}"),
        ("publisher", "{}"),
        ("html_url", "full text {}"),
    ),
    Package: (
        ("version", "version {}"),
        ("name", "{}"),
        ("licence", "{}"),
        ("maintainer", "by {}"),
        ("popularity", "popularity {}"),
        ("homepage", "homepage {}"),
        ("source_url", "source {}"),
    ),
    Code: (("repository", "{}"), ("filename", "{}"), ("language", "{}")),
    File: (
        ("embed_url", "file {}"),
        ("filename", "{}"),
        ("size", "{}"),
        ("mimetype", "{}"),
        ("time", "{}"),
        ("abstract", "{}"),
    ),
    Product: (("price", "{}"), ("shipping", "{}"), ("source_country", "from {}")),
}
"""What is shown of a template: the names of fields that belong together, and how they are said."""


@dataclass(frozen=True, slots=True)
class Detail:
    """Something that is told of a result besides its snippet.

    Attributes:
        text: as a model reads it; neutralised.
        field: of the result; empty for what only the text says.
        value: of the field; of a template, the part of its fields that the text says, shortened alike.
        has_line: whether the text stands on a line of its own, as what has an address in it.
    """

    text: str
    field: str = ""
    value: Any = None
    has_line: bool = False


def details(result: SearchResult, boundary: str) -> Iterator[Detail]:
    """The template's fields, then the date and the author."""
    for field in TEMPLATE_FIELDS:
        template = getattr(result, field)
        if isinstance(template, tuple):
            for fact in _facts(template, boundary):
                yield Detail(f"{fact.label}: {fact.value}", field, (fact,))
        elif template is not None:
            for names, form in _FORMS[type(template)]:
                yield from _said(template, names.split(), form, field, boundary)
            yield from _listed(template, field, boundary)
    if result.published_at:
        yield Detail(one_line(result.published_at[:_DATE_LENGTH], boundary, max_tokens=12))
    elif result.published_text:
        text = one_line(result.published_text, boundary, max_tokens=_VALUE_TOKENS)
        yield Detail(text, "published_text", text)
    if result.author:
        author = one_line(result.author, boundary, max_tokens=_VALUE_TOKENS)
        yield Detail(f"by {author}", "author", author)


def fields_of(result: SearchResult, told: Iterable[Detail]) -> dict[str, Any]:
    """The fields of a result as far as these details say them; the others are empty."""
    found: dict[str, Any] = {"author": "", "published_text": "", **dict.fromkeys(TEMPLATE_FIELDS)}
    for detail in told:
        if isinstance(detail.value, dict):
            merged = found[detail.field] or {}
            for name, value in detail.value.items():
                merged[name] = (*merged.get(name, ()), *value) if type(value) is tuple else value
            found[detail.field] = merged
        elif isinstance(detail.value, tuple):
            found[detail.field] = (*(found[detail.field] or ()), *detail.value)
        elif detail.field:
            found[detail.field] = detail.value
    return {
        name: type(getattr(result, name))(**value) if isinstance(value, dict) else value
        for name, value in found.items()
    }


def _said(
    template: Frozen, names: list[str], form: str, field: str, boundary: str
) -> Iterator[Detail]:
    values = [_short(getattr(template, name), boundary) for name in names]
    if None in values or not any(value not in ("", ()) for value in values):
        return
    words = [", ".join(value) if isinstance(value, tuple) else value for value in values]
    yield Detail(
        " ".join(form.format(*words).split()),
        field,
        {name: value for name, value in zip(names, values, strict=True) if value != ""},
        has_line=any(_is_address(value) for value in values),
    )


def _listed(template: Frozen, field: str, boundary: str) -> Iterator[Detail]:
    """What a template has any number of."""
    if isinstance(template, Code):
        for number, line in template.lines[:_CODE_LINES]:
            short = code_line(line, boundary, max_tokens=_CODE_TOKENS)
            yield Detail(f"{number}: {short}", field, {"lines": ((number, short),)}, has_line=True)
    if isinstance(template, Place):
        for fact in _facts(template.facts, boundary):
            yield Detail(f"{fact.label}: {fact.value}", field, {"facts": (fact,)})
    if isinstance(template, Place | Package):
        for link in template.links[:_LISTED]:
            title, url = _short(link.title, boundary), _short(link.url, boundary)
            if url:
                short_link = Link(title=title, url=url)
                yield Detail(f"{title} {url}", field, {"links": (short_link,)}, has_line=True)


def _facts(facts: Iterable[Fact], boundary: str) -> Iterator[Fact]:
    for fact in tuple(facts)[:_LISTED]:
        yield Fact(label=_short(fact.label, boundary), value=_short(fact.value, boundary))


def _short(value: Any, boundary: str) -> Any:  # noqa: ANN401 - any value of a template
    if _is_address(value):
        return _address(value)
    if isinstance(value, tuple):
        return tuple(one_line(each, boundary, max_tokens=_VALUE_TOKENS) for each in value[:_LISTED])
    if isinstance(value, str):
        return one_line(value, boundary, max_tokens=_VALUE_TOKENS)
    return value


def _is_address(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://", "magnet:"))


def _address(text: str) -> str:
    url = one_url(text)
    short, was_cut = clip(url, _ADDRESS_TOKENS)
    if not was_cut:
        return url
    return short.rpartition("&")[0] if url.startswith("magnet:") else ""
