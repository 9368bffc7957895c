"""What kind of thing a result is, in a few words: the fields of its template."""

from collections.abc import Iterable

from searx_mcp.models.response import SearchResult
from searx_mcp.models.templates import (
    Code,
    File,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.render.fence import one_line

_TOKENS = 36
"""What the details of one result may cost; the whole of them is in the JSON of the command line."""
_AUTHORS_SHOWN = 3
_FACTS_SHOWN = 3


def details(result: SearchResult, boundary: str) -> str:
    """The details of a result in one short line, or nothing; images have theirs with the address."""
    of_kind = (
        _playable(result.video or result.media),
        _torrent(result.torrent),
        _place(result.place),
        _paper(result.paper),
        _package(result.package),
        _code(result.code),
        _file(result.file),
        _product(result.product),
        (f"{fact.label}: {fact.value}" for fact in (result.facts or ())[:_FACTS_SHOWN]),
    )
    return one_line(
        ", ".join(word for words in of_kind for word in words if word), boundary, max_tokens=_TOKENS
    )


def _playable(media: Video | Media | None) -> Iterable[str]:
    if media is not None:
        yield media.length
        if isinstance(media, Video) and media.views:
            yield f"{media.views} views"


def _torrent(torrent: Torrent | None) -> Iterable[str]:
    if torrent is not None:
        yield torrent.size
        yield "" if torrent.seeds is None else f"{torrent.seeds} seeds"
        yield "" if torrent.leeches is None else f"{torrent.leeches} leeches"


def _place(place: Place | None) -> Iterable[str]:
    if place is not None:
        yield f"{place.road} {place.house_number}".strip()
        yield f"{place.postcode} {place.locality}".strip()
        yield place.country
        if place.latitude is not None and place.longitude is not None:
            yield f"at {place.latitude:.4f} {place.longitude:.4f}"


def _paper(paper: Paper | None) -> Iterable[str]:
    if paper is not None:
        yield from paper.authors[:_AUTHORS_SHOWN]
        if len(paper.authors) > _AUTHORS_SHOWN:
            yield f"{len(paper.authors) - _AUTHORS_SHOWN} more authors"
        yield paper.journal
        yield f"doi {paper.doi}" if paper.doi else ""


def _package(package: Package | None) -> Iterable[str]:
    if package is not None:
        yield f"version {package.version}" if package.version else ""
        yield package.licence


def _code(code: Code | None) -> Iterable[str]:
    if code is not None:
        yield code.repository
        yield code.filename
        yield code.language


def _file(file: File | None) -> Iterable[str]:
    if file is not None:
        yield file.filename
        yield file.size
        yield file.mimetype


def _product(product: Product | None) -> Iterable[str]:
    if product is not None:
        yield product.price
        yield product.shipping
