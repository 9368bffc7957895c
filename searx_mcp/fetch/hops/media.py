"""Media types: what a body is, and whether it can be read as text."""

import re
from dataclasses import dataclass

from searx_mcp.content.decode import CONTROLS, stray_characters, wide_encoding
from searx_mcp.errors import ContentError, ErrorCode, FetchError, TransportError
from searx_mcp.http.body import NOTE_DEADLINE, NOTE_SIZE, Body
from searx_mcp.models.fetch_request import MAX_CONTENT_LENGTH
from searx_mcp.models.page import type_shown

# WHATWG MIME Sniffing, section 7: types that ask for sniffing.
_UNKNOWN = frozenset(
    {
        "",
        "*/*",
        "application/octet-stream",
        "application/unknown",
        "application/x-unknown",
        "binary/octet-stream",
        "unknown/unknown",
    }
)
# Text types under application/, registered or in use, without the suffixes below.
_STRUCTURED = frozenset({"application/json", "application/xhtml+xml", "application/xml"})
_ALIASES = {
    "application/markdown": "text/markdown",
    "application/x-json": "application/json",
    "application/x-markdown": "text/markdown",
    "application/x-pdf": "application/pdf",
}
_PLAIN = frozenset(
    {
        "application/ecmascript", "application/graphql", "application/javascript",
        "application/json5", "application/jsonl", "application/jsonlines", "application/ndjson",
        "application/sql", "application/toml", "application/typescript", "application/x-bibtex",
        "application/x-httpd-php", "application/x-javascript", "application/x-latex",
        "application/x-ndjson", "application/x-perl", "application/x-python",
        "application/x-ruby", "application/x-sh", "application/x-shellscript",
        "application/x-sql", "application/x-subrip", "application/x-tex", "application/x-toml",
        "application/x-typescript", "application/x-yaml", "application/xml-dtd",
        "application/yaml",
    }
)  # fmt: skip
_STRUCTURED_SUFFIXES = ("+json", "+xml")
_PLAIN_SUFFIX = "+yaml"
_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x7fELF", "application/x-executable"),
    (b"\x00asm", "application/wasm"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_PDF = "application/pdf"
_PDF_HEADER_WITHIN = 1_024  # bytes; ISO 32000-1, Annex H.3, note 13
_TOKEN = r"[a-z0-9!#$&^_.+*-]{1,80}"  # noqa: S105 - the grammar of RFC 9110, section 5.6.2
_TYPE = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(?:[;,]|$)", re.IGNORECASE)
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([a-z0-9_.:+-]{1,40})""", re.IGNORECASE)
# WHATWG MIME Sniffing, section 7.1, the rows for HTML; the tag must end there.
_HTML = re.compile(
    rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)"
    rb"[\s>]",
    re.IGNORECASE,
)
_SNIFFED = 1_445  # section 5.2: the resource header
_BINARY = "application/octet-stream"
_STRAYS = 3
_STRAY_SHARE = 0.05
"""Control characters, and their share, in a body declared as text. Random bytes have 10.5 %, programs and
images more; real pages have a NUL here and there."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """A parsed Content-Type header.

    Attributes:
        name: type and subtype in lower case; empty if missing or unreadable.
        charset: as named by the header, or `None`.
    """

    name: str = ""
    charset: str | None = None

    @property
    def is_unknown(self) -> bool:
        """True if the type has to be sniffed."""
        return self.name in _UNKNOWN

    @property
    def is_document(self) -> bool:
        """True if it cannot be read in part."""
        return self.name == _PDF

    @property
    def read_as(self) -> str:
        """The type to read it as: plain text for code or data, empty if it cannot be read as text."""
        name = self.name
        if name in _ALIASES:
            return _ALIASES[name]
        if name.startswith("text/") or name in _STRUCTURED or self.is_document:
            return name
        if not name.startswith("application/"):
            return ""
        if name.endswith(_STRUCTURED_SUFFIXES):
            return name
        return "text/plain" if name in _PLAIN or name.endswith(_PLAIN_SUFFIX) else ""


def parse_content_type(value: str) -> MediaType:
    """Parse a Content-Type header; of several joined by commas, the first counts."""
    match = _TYPE.match(value)
    if match is None:
        return MediaType()
    charset = _CHARSET.search(value)
    return MediaType(match[1].lower(), charset[1].lower() if charset else None)


def sniff(body: bytes) -> MediaType:
    """Guess the type of a body from its first bytes.

    Returns:
        `text/html`, `text/xml`, `text/plain`, the type of a well-known signature, or
        `application/octet-stream`.
    """
    head = body[:_SNIFFED]
    if signature := _signature(head):
        return MediaType(signature)
    if encoding := wide_encoding(head, None):
        head = head.decode(encoding, "ignore").lstrip("\ufeff").encode("utf-8", "ignore")
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _HTML.match(head):
        return MediaType("text/html")
    if head.startswith(b"<?xml"):
        return MediaType("text/xml")
    return MediaType(_BINARY if CONTROLS.search(head) else "text/plain")


def resolve(declared: MediaType, body: bytes) -> MediaType:
    """Return the type to read a body as: the declared one, unless it is unknown or plainly wrong.

    A declared text type is trusted except against a signature, or a share of control characters that no
    text has: NULs and other stray bytes occur in real pages.
    """
    if declared.is_unknown:
        return sniff(body)
    if declared.is_document and b"%PDF-" not in body[:_PDF_HEADER_WITHIN]:
        return sniff(body)  # most often a login page in its place
    if not declared.read_as:
        return declared
    if signature := _signature(body):
        return MediaType(signature)
    if not declared.is_document and _is_binary(body[:_SNIFFED], declared.charset):
        return MediaType(_BINARY)
    return declared


def _is_binary(head: bytes, charset: str | None) -> bool:
    if encoding := wide_encoding(head, charset):
        text = head.decode(encoding, "replace")
        size, strays = len(text), stray_characters(text)
    else:
        size, strays = len(head), len(CONTROLS.findall(head))
    return strays > max(_STRAYS, size * _STRAY_SHARE)


def refuse_unreadable(media: MediaType, *, size: int | None, url: str) -> None:
    """Raise if a body cannot be read as text.

    Args:
        media: type of the body.
        size: bytes as announced, or `None`.
        url: where it was found.

    Raises:
        ContentError: `unsupported_content_type`, naming the type and the size.
    """
    if media.read_as:
        return
    name = type_shown(media.name) or "data of an unknown type"
    volume = "" if size is None else f" ({_volume(size)})"
    raise ContentError(
        f"The address leads to {name}{volume}, which cannot be read as text.",
        code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
        url=url,
        advice="Look for an HTML or plain text version of it.",
        quoted="" if name == media.name else media.name,
    )


def refuse_too_large(media: MediaType, *, size: int | None, most: int, url: str) -> None:
    """Raise if a document is announced as larger than the limit.

    Raises:
        ContentError: `content_too_large`, naming the type and the size.
    """
    if size is not None and size > most:
        raise _too_large(media, size, most=most, url=url)


def cut_document(media: MediaType, body: Body, *, most: int, url: str) -> FetchError:
    """Make the error for a document that arrived incomplete."""
    if NOTE_SIZE in body.notes:
        return _too_large(media, None, most=most, url=url)
    if NOTE_DEADLINE in body.notes:
        return TransportError(
            f"The {media.name} was not fetched in time.",
            code=ErrorCode.TIMEOUT,
            url=url,
        )
    return TransportError(
        f"The {media.name} arrived incomplete: {', '.join(body.notes)}.",
        code=ErrorCode.MALFORMED_RESPONSE,
        url=url,
        advice="Try again, or look for an HTML version of it.",
    )


def _too_large(media: MediaType, size: int | None, *, most: int, url: str) -> ContentError:
    volume = f"more than {_volume(most)}" if size is None else _volume(size)
    return ContentError(
        f"The address leads to {media.name} of {volume}; at most {_volume(most)} can be read.",
        code=ErrorCode.CONTENT_TOO_LARGE,
        url=url,
        advice=f"Set a larger max_content_length, up to {MAX_CONTENT_LENGTH}, or look for an"
        " HTML version of it.",
    )


def _signature(body: bytes) -> str:
    return next((name for start, name in _SIGNATURES if body.startswith(start)), "")


def _volume(size: int) -> str:
    if size < 1 << 10:
        return f"{size} bytes"
    return f"{size / (1 << 10):.0f} KB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MB"
