"""Bodies that are larger than they look, or never end."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final

MEBIBYTE: Final = 1 << 20
GZIP, ZLIB, RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
TRUNCATED, WHOLE = "truncated", "whole"

# Text that repeats is as good as zeros, a thousandth of its size when compressed, and is read on.
_LINES: Final = b"All work and no play makes Jack a dull boy.".ljust(63) + b"\n"
_TEXT: Final = _LINES * (MEBIBYTE // len(_LINES))
_HTML: Final = b"<p>%b</p>\n" % _LINES[:56] * (MEBIBYTE // 64)

Body = Callable[[int], Iterator[bytes]]
"""Gives the pieces of a body that is worth so many megabytes."""


@dataclass(frozen=True, slots=True)
class Bomb:
    """A bad answer and what must become of it.

    Attributes:
        body: its pieces.
        outcome: `truncated` or `whole` for a page, else the code of the error.
        encoding: the header; empty sends none.
        content_type: the header.
        status: of the answer.
        headers: further ones.
        is_robots: whether it is the site's robots.txt, in front of a good page.
        is_endless: whether it is sent piece by piece for as long as somebody reads.
        like: the name of a good answer of as many bytes, where some are kept: this one may not take
            much more memory. What a page takes depends on the Python; the difference does not.
    """

    body: Body
    outcome: str = TRUNCATED
    encoding: str = ""
    content_type: str = "text/plain; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    is_robots: bool = False
    is_endless: bool = False
    like: str = ""


def _packed(wbits: int, block: bytes = _TEXT, *, times: int = 1) -> Body:
    """A body compressed so many times over."""

    def body(megabytes: int) -> Iterator[bytes]:
        pieces: Iterator[bytes] = repeat(block, megabytes)
        for _ in range(times):
            pieces = _compressed(pieces, wbits)
        return pieces

    return body


def _compressed(pieces: Iterator[bytes], wbits: int) -> Iterator[bytes]:
    stream = zlib.compressobj(9, wbits=wbits)
    for piece in pieces:
        if packed := stream.compress(piece):
            yield packed
    yield stream.flush()


def _endless(block: bytes = _TEXT[: 1 << 16]) -> Body:
    return lambda _: repeat(block)


def _endless_gzip(_: int) -> Iterator[bytes]:
    stream = zlib.compressobj(9, wbits=GZIP)
    while True:
        yield stream.compress(_TEXT) + stream.flush(zlib.Z_SYNC_FLUSH)


def _members(megabytes: int) -> Iterator[bytes]:
    stream = zlib.compressobj(9, wbits=GZIP)
    return repeat(stream.compress(b"x") + stream.flush(), megabytes * 1_000)


_REFUSED: Final = "unsupported_encoding"
_PLAIN_TEXT: Final = "1 MB of text, no bomb"
_PLAIN_HTML: Final = "1 MB of HTML, no bomb"

BOMBS: Final[Mapping[str, Bomb]] = {
    _PLAIN_TEXT: Bomb(lambda _: iter([_TEXT]), WHOLE),
    "gzip": Bomb(_packed(GZIP), encoding="gzip", like=_PLAIN_TEXT),
    "deflate, zlib format": Bomb(_packed(ZLIB), encoding="deflate", like=_PLAIN_TEXT),
    "deflate, raw": Bomb(_packed(RAW), encoding="deflate", like=_PLAIN_TEXT),
    _PLAIN_HTML: Bomb(lambda _: iter([_HTML]), WHOLE, content_type="text/html"),
    "gzip of HTML": Bomb(
        _packed(GZIP, _HTML), encoding="gzip", content_type="text/html", like=_PLAIN_HTML
    ),
    "gzip without end": Bomb(_endless_gzip, encoding="gzip", is_endless=True, like=_PLAIN_TEXT),
    "gzip in many members": Bomb(_members, encoding="gzip"),
    "gzip, gzip": Bomb(_packed(GZIP, times=2), _REFUSED, encoding="gzip, gzip"),
    "gzip in gzip, thrice": Bomb(_packed(GZIP, times=3), _REFUSED, encoding="gzip,gzip,gzip"),
    "br": Bomb(_endless(), _REFUSED, encoding="br", is_endless=True),
    "zstd": Bomb(_endless(), _REFUSED, encoding="zstd", is_endless=True),
    "chunks without end": Bomb(_endless(), is_endless=True, like=_PLAIN_TEXT),
    "404 without end": Bomb(_endless(), "not_found", status=404, is_endless=True),
    "redirect without end": Bomb(
        _endless(), WHOLE, status=302, headers={"Location": "/small"}, is_endless=True
    ),
    "robots.txt, gzip": Bomb(_packed(GZIP), WHOLE, encoding="gzip", is_robots=True),
    "robots.txt without end": Bomb(_endless(), WHOLE, is_robots=True, is_endless=True),
}
