"""Serialises captures, and computes their cursors."""

import asyncio
import base64
import json
import re
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict

from searx_mcp.content.document import Document
from searx_mcp.models.fetch_request import CURSOR_PATTERN
from searx_mcp.storage.pages import (
    Capture,
    CapturedPage,
    KeptPage,
    KeptRobots,
    Validators,
    believed,
    has_expired,
    is_from_future,
)

_CURSOR_BYTES: Final = 10
"""80 bits: finding content with the cursor of a given page takes 2^80 tries. Making two pages with the same
cursor takes 2^40, and confuses only those two."""
_LARGEST: Final = 64 << 20
"""Maximum bytes of an unpacked body; a larger one was not packed here."""

_LEVEL: Final = 3
"""Compression level. On a page of 50 KB it takes 1.3 ms and leaves 43 %; the default 6 takes 3.0 ms and
leaves 40 %, 1 takes 0.9 ms and leaves 46 %."""

_OF_DOCUMENT: Final = frozenset(Document.model_fields)

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Packed:
    """A packed page.

    Attributes:
        cursor: names it in its namespace.
        body: compressed.
    """

    cursor: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Item:
    """A stored page or robots.txt.

    Attributes:
        name: a cursor, or the keyed hash of an origin.
        about: the capture's other fields; empty for a robots.txt.
        is_latest: whether nothing was used more recently.
    """

    name: str
    fetched_at: float
    fresh_until: float
    about: bytes
    body: bytes
    is_latest: bool = False


class _About(BaseModel):
    """Fields of a capture besides its page and times; unknown ones are dropped."""

    model_config = ConfigDict(frozen=True)

    url: str
    max_bytes: int
    may_be_stale: bool = True
    etag: str = ""
    last_modified: str = ""


class _Robots(BaseModel):
    model_config = ConfigDict(frozen=True)

    status: int
    text: str


def pack(namespace: str, page: CapturedPage) -> Packed:
    """Compress a page and compute its cursor; equal pages have equal cursors in every process."""
    # In one object, as in stored files; whether it is a skeleton matters only during the capture.
    fields = page.model_dump(
        mode="json", exclude_defaults=True, exclude={"document": {"is_skeleton"}}
    )
    text = _text(fields | fields.pop("document"))
    return Packed(_cursor(namespace, text), zlib.compress(text, _LEVEL))


async def packed(namespace: str, page: CapturedPage) -> Packed:
    """Pack a page, in a thread if that takes long."""
    if page.document.is_short:
        return pack(namespace, page)
    return await asyncio.to_thread(pack, namespace, page)


def unpack(namespace: str, cursor: str, body: bytes) -> CapturedPage | None:
    """Unpack the page that `cursor` names in `namespace`.

    Returns:
        `None` if the cursor is of another namespace, the body is damaged, or it was written by an
        incompatible version. Fields of newer versions are ignored.
    """
    text = _inflated(body)
    if text is None or _cursor(namespace, text) != cursor:
        return None
    try:
        fields = json.loads(text.decode())
        document = {name: fields.pop(name) for name in _OF_DOCUMENT & fields.keys()}
        return CapturedPage.model_validate({"document": document, **_known(CapturedPage, fields)})
    except (ValueError, AttributeError, RecursionError):
        return None


def is_cursor(text: str) -> bool:
    """Return whether a text has the form of a cursor."""
    return bool(text and re.fullmatch(CURSOR_PATTERN, text))


def pack_about(capture: Capture) -> bytes:
    """Compress the fields of a capture besides its page and times."""
    about = _About(
        url=capture.url,
        max_bytes=capture.max_bytes,
        may_be_stale=capture.may_be_stale,
        etag=capture.validators.etag,
        last_modified=capture.validators.last_modified,
    )
    return zlib.compress(_text(about.model_dump()), _LEVEL)


def unpack_capture(
    page: CapturedPage, about: bytes, *, fetched_at: float, fresh_until: float
) -> Capture | None:
    """Restore a capture; `None` if it cannot be read."""
    text = _inflated(about)
    known = None if text is None else _read(_About, text)
    if known is None:
        return None
    return Capture(
        page=page,
        url=known.url,
        fetched_at=fetched_at,
        fresh_until=fresh_until,
        max_bytes=known.max_bytes,
        validators=Validators(known.etag, known.last_modified),
        may_be_stale=known.may_be_stale,
    )


def pack_document(document: Document) -> bytes:
    """Compress a page as text."""
    # Whether it is a skeleton matters only during the capture.
    fields = document.model_dump(mode="json", exclude_defaults=True, exclude={"is_skeleton"})
    return zlib.compress(_text(fields), _LEVEL)


def unpack_document(body: bytes) -> Document | None:
    """Restore a page as text; `None` if it is damaged or of an unknown version."""
    text = _inflated(body)
    return None if text is None else _read(Document, text)


def pack_text(text: str) -> bytes:
    """Compress a text of a few kilobytes."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def unpack_text(body: bytes) -> str | None:
    """Restore a text; `None` if it is damaged."""
    text = _inflated(body)
    try:
        return None if text is None else text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def pack_robots(robots: KeptRobots) -> bytes:
    """Compress a robots.txt without its time."""
    return zlib.compress(_text({"status": robots.status, "text": robots.text}), _LEVEL)


def unpack_robots(body: bytes, *, fetched_at: float) -> KeptRobots | None:
    """Restore a robots.txt; `None` if it cannot be read."""
    text = _inflated(body)
    known = None if text is None else _read(_Robots, text)
    return None if known is None else KeptRobots(known.status, known.text, fetched_at)


async def kept_page(
    namespace: str, item: Item | None, now: float, *, max_age: float
) -> KeptPage | None:
    """Return the capture in an item, corrected at `now`.

    Returns:
        `None` if there is none, it is older than `max_age` seconds, or it cannot be read.
    """
    if item is None or has_expired(item.fetched_at, now, max_age):
        return None
    page = await asyncio.to_thread(unpack, namespace, item.name, item.body)
    if page is None:
        return None
    capture = unpack_capture(
        page, item.about, fetched_at=item.fetched_at, fresh_until=item.fresh_until
    )
    return None if capture is None else KeptPage(believed(capture, now), item.name)


def kept_robots(item: Item | None, now: float, *, max_age: float) -> KeptRobots | None:
    """Return the robots.txt in an item, unless it is too old, from the future or unreadable."""
    if item is None or is_from_future(item.fetched_at, now):
        return None
    if has_expired(item.fetched_at, now, max_age):
        return None
    return unpack_robots(item.body, fetched_at=item.fetched_at)


def _cursor(namespace: str, text: bytes) -> str:
    digest = blake2b(digest_size=_CURSOR_BYTES, person=b"searx-mcp page")
    digest.update(f"{len(namespace)}:{namespace}".encode())
    digest.update(text)
    return base64.b32encode(digest.digest()).decode().lower()


def _text(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _inflated(body: bytes) -> bytes | None:
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(body, _LARGEST)
    except zlib.error:
        return None
    return text if inflater.eof else None


def _read(model: type[M], text: bytes) -> M | None:
    try:
        return model.model_validate(_known(model, json.loads(text.decode())))
    except (ValueError, AttributeError, RecursionError):
        return None


def _known(model: type[BaseModel], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that this version knows; a newer one may have more."""
    return {name: value for name, value in fields.items() if name in model.model_fields}
