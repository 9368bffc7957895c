"""One search result in the list for a model: title, address, snippet, and the fields of its kind."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import (
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
from searx_mcp.models.response import SearchResult
from searx_mcp.render.fence import code_line, one_line, one_url
from searx_mcp.render.tokens import UNLIMITED, clip, line_cost

SNIPPET_CHARS = 500
"""Maximum characters of a snippet; those of instances seldom have more than 300."""

_TITLE_TOKENS = 25
_ENGINE_TOKENS = 8
_ENGINES_SHOWN = 3
_ATTRIBUTION_TOKENS = 30
_SHORTEST_CUT = 8


_VALUE_TOKENS: Final = 30
_CODE_TOKENS: Final = 60
_ADDRESS_TOKENS: Final = 200
"""A longer address is left out, since a part of one leads nowhere; a magnet link loses its last trackers."""
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
"""The shown fields of a template: names of fields that belong together, and their format."""


@dataclass(frozen=True, slots=True)
class Detail:
    """A fact about a result besides its snippet.

    Attributes:
        text: for a model; neutralised.
        field: of the result; empty for a fact that only the text has.
        value: of the field; for a template, the part of its fields that the text contains, shortened alike.
        has_line: whether the text has its own line, as when it contains an address.
    """

    text: str
    field: str = ""
    value: Any = None
    has_line: bool = False


@dataclass(frozen=True, slots=True)
class ListedResult:
    """One result in the list, with what is shown of it so far.

    Methods that add to it take the number of tokens they may spend, and return it with what fits.

    Attributes:
        number: its place among all results, from 1.
        head: title and address, two lines that every result has.
        description: may be empty.
        details: the fields of the result's kind.
        origin: engines and licence.
        gist: summary of its page, if no text of the page is shown.
    """

    number: int
    result: SearchResult
    head: str
    description: str = ""
    details: tuple[Detail, ...] = ()
    origin: tuple[str, ...] = ()
    gist: str = ""

    @property
    def block(self) -> str:
        """Its lines."""
        told = [*self.origin[:1], *(each.text for each in self.details if not each.has_line)]
        told += self.origin[1:]
        brackets = f"[{'; '.join(told)}]" if told else ""
        lines = (
            self.head,
            f"{self.description} {brackets}".strip(),
            *(each.text for each in self.details if each.has_line),
            f"Page: {self.gist}" if self.gist else "",
        )
        return "\n".join(filter(None, lines))

    @property
    def cost(self) -> int:
        """The cost of its lines in tokens."""
        return line_cost(self.block)

    def described(self, room: int, boundary: str) -> Self:
        """Return it with its snippet, truncated if necessary; without it if only a few words fit."""
        whole = replace(self, description=_short(self.result.description, boundary))
        if whole.cost <= self.cost + room:
            return whole
        return replace(self, description=_cut(whole.description, room - 2, boundary))

    def summed_up(self, gist: str, room: int, boundary: str) -> Self:
        """Return it with the summary of its page, truncated in the same way."""
        whole = replace(self, gist=_short(gist, boundary))
        if whole.cost <= self.cost + room:
            return whole
        return replace(self, gist=_cut(whole.gist, room - line_cost("Page: ") - 1, boundary))

    def detailed(self, room: int, boundary: str, numbers: Mapping[str, int]) -> Self:
        """Return it with its details, most important first; `numbers` are of results by their address."""
        same_as = numbers.get(self.result.duplicate_of)
        copy = [] if same_as is None else [Detail(f"same text as {same_as}")]
        return self._extended((*copy, *details(self.result, boundary)), room)

    def credited(self, room: int, boundary: str) -> Self:
        """Return it with the engines that found it and the licence, or without both."""
        names = self.result.engines or ((self.result.engine,) if self.result.engine else ())
        shown = [one_line(n, boundary, max_tokens=_ENGINE_TOKENS) for n in names[:_ENGINES_SHOWN]]
        if len(names) > _ENGINES_SHOWN:
            shown.append(f"{len(names) - _ENGINES_SHOWN} more")
        licence = one_line(self.result.attribution, boundary, max_tokens=_ATTRIBUTION_TOKENS)
        full = replace(self, origin=tuple(filter(None, (", ".join(shown), licence))))
        return full if full.cost <= self.cost + room else self

    def _extended(self, told: tuple[Detail, ...], room: int) -> Self:
        limit = self.cost + room
        full = replace(self, details=told)
        if full.cost <= limit:
            return full
        shown = self
        for detail in told:
            longer = replace(shown, details=(*shown.details, detail))
            if longer.cost <= limit:
                shown = longer
        return shown


Growth = Callable[[ListedResult, int], ListedResult]
"""Adds to an entry what fits into a number of tokens."""


def title(result: SearchResult, boundary: str) -> str:
    """Return the title in one line."""
    return one_line(result.title, boundary, max_tokens=_TITLE_TOKENS) or "Untitled"


def bare(
    result: SearchResult, number: int, boundary: str, *, specified: bool = False
) -> ListedResult:
    """Return a result with only title and address, and why its page was not read if it should have been."""
    address = f"{'URL: ' * specified}{one_url(result.url)}"
    status = f" ({result.status_code})" if result.status_code else ""
    cause = one_line(result.error_type, boundary, max_tokens=20)
    unread = f"Page not read: {cause}{status}." if result.error_type else ""
    lines = (f"{number}. {title(result, boundary)}", address, unread)
    return ListedResult(number, result, "\n".join(filter(None, lines)))


def _short(text: str, boundary: str) -> str:
    short = text[:SNIPPET_CHARS]
    if len(short) < len(text):
        short = f"{short.rpartition(' ')[0] or short}…"
    return one_line(short, boundary, max_tokens=UNLIMITED)


def _cut(line: str, room: int, boundary: str) -> str:
    return one_line(line, boundary, max_tokens=room) if room >= _SHORTEST_CUT else ""


def details(result: SearchResult, boundary: str) -> Iterator[Detail]:
    """Yield the template's fields, then the date and the author."""
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
    """Return the fields of a result that these details contain; the others are empty."""
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
    values = [_shortened(getattr(template, name), boundary) for name in names]
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
    """Yield the list fields of a template."""
    if isinstance(template, Code):
        for number, line in template.lines[:_CODE_LINES]:
            short = code_line(line, boundary, max_tokens=_CODE_TOKENS)
            yield Detail(f"{number}: {short}", field, {"lines": ((number, short),)}, has_line=True)
    if isinstance(template, Place):
        for fact in _facts(template.facts, boundary):
            yield Detail(f"{fact.label}: {fact.value}", field, {"facts": (fact,)})
    if isinstance(template, Place | Package):
        for link in template.links[:_LISTED]:
            title, url = _shortened(link.title, boundary), _shortened(link.url, boundary)
            if url:
                short_link = Link(title=title, url=url)
                yield Detail(f"{title} {url}", field, {"links": (short_link,)}, has_line=True)


def _facts(facts: Iterable[Fact], boundary: str) -> Iterator[Fact]:
    for fact in tuple(facts)[:_LISTED]:
        yield Fact(label=_shortened(fact.label, boundary), value=_shortened(fact.value, boundary))


def _shortened(value: Any, boundary: str) -> Any:  # noqa: ANN401 - any value of a template
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
