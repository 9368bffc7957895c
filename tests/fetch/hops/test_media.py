"""Media types: declared, sniffed, readable."""

import pytest

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.fetch.hops.media import (
    MediaType,
    cut_document,
    parse_content_type,
    refuse_too_large,
    refuse_unreadable,
    resolve,
    sniff,
)
from searx_mcp.net.body import NOTE_SIZE, Body
from searx_mcp.net.http import NOTE_BROKEN, NOTE_DEADLINE


@pytest.mark.parametrize(
    ("header", "name", "charset"),
    [
        ("text/html", "text/html", None),
        ("Text/HTML; Charset=UTF-8", "text/html", "utf-8"),
        ('text/html;charset="ISO-8859-1"', "text/html", "iso-8859-1"),
        ("text/html; charset='utf-8'", "text/html", "utf-8"),
        ("text/html; a=b ; charset = windows-1252; c=d", "text/html", "windows-1252"),
        ("text/html, text/plain", "text/html", None),
        ("  application/ld+json  ", "application/ld+json", None),
        ("text/html;", "text/html", None),
        ("text/html; charset=", "text/html", None),
        ("text/html; charset=\ud800", "text/html", None),
        ("", "", None),
        ("html", "", None),
        ("text/", "", None),
        ("text/html garbage", "", None),
        ("text/\x00html", "", None),
        ("x" * 500 + "/y", "", None),
    ],
)
def test_a_content_type_header_is_read(header: str, name: str, charset: str | None):
    assert parse_content_type(header) == MediaType(name, charset)


@pytest.mark.parametrize(
    ("name", "read_as"),
    [
        ("text/html", "text/html"),
        ("text/plain", "text/plain"),
        ("text/markdown", "text/markdown"),
        ("text/x-python", "text/x-python"),
        ("application/xhtml+xml", "application/xhtml+xml"),
        ("application/json", "application/json"),
        ("application/x-json", "application/json"),
        ("application/ld+json", "application/ld+json"),
        ("application/xml", "application/xml"),
        ("application/rss+xml", "application/rss+xml"),
        ("application/markdown", "text/markdown"),
        ("application/javascript", "text/plain"),
        ("application/typescript", "text/plain"),
        ("application/x-yaml", "text/plain"),
        ("application/toml", "text/plain"),
        ("application/openapi+yaml", "text/plain"),
    ],
)
def test_text_is_readable(name: str, read_as: str):
    media = MediaType(name)
    assert media.is_readable
    assert media.read_as == read_as
    refuse_unreadable(media, size=None, url="https://example.org/")


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        ("application/gzip", 1_258_291, "application/gzip (1.2 MB)"),
        ("image/png", 34_816, "image/png (34 KB)"),
        ("image/svg+xml", 12, "image/svg+xml (12 bytes)"),
        ("video/mp4", None, "video/mp4,"),
        ("application/zip", 0, "application/zip (0 bytes)"),
        ("application/msword", None, "application/msword"),
        ("application/octet-stream", 5, "application/octet-stream (5 bytes)"),
        ("", None, "data of an unknown type"),
    ],
)
def test_other_types_are_refused_naming_type_and_size(name: str, size: int | None, words: str):
    with pytest.raises(ContentError) as caught:
        refuse_unreadable(MediaType(name), size=size, url="https://example.org/x")
    assert caught.value.code is ErrorCode.UNSUPPORTED_CONTENT_TYPE
    assert words in caught.value.message
    assert caught.value.url == "https://example.org/x"
    assert caught.value.advice


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b"<!DOCTYPE html><p>x", "text/html"),
        (b"\xef\xbb\xbf \n<!doctype HTML>", "text/html"),
        (b"  <HTML lang=en>", "text/html"),
        (b"<!-- a comment --><p>", "text/html"),
        ("<html><p>é".encode("utf-16"), "text/html"),
        ("\ufeffplain".encode("utf-16-be"), "text/plain"),
        (b"<bold>no tag of HTML</bold>", "text/plain"),
        (b"<?xml version='1.0'?><a/>", "text/xml"),
        (b"# Title\n\ntext", "text/plain"),
        ("naïve résumé".encode(), "text/plain"),
        ("naïve résumé".encode("latin-1"), "text/plain"),
        (b"\x1b[1mansi\x1b[0m", "text/plain"),
        (b"", "text/plain"),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\x00", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08\x00", "application/gzip"),
        (b"\x7fELF\x02", "application/x-executable"),
        (b"\x00\x01\x02", "application/octet-stream"),
    ],
)
def test_the_first_bytes_tell_the_type(body: bytes, name: str):
    assert sniff(body) == MediaType(name)


@pytest.mark.parametrize(
    ("declared", "body", "name"),
    [
        ("", b"<html>", "text/html"),
        ("application/octet-stream", b"plain words", "text/plain"),
        ("binary/octet-stream", b"%PDF-1.7", "application/pdf"),
        ("application/octet-stream", b"\x00", "application/octet-stream"),
        ("text/plain", b"<html>", "text/plain"),
        ("text/html", b"with a \x00 NUL", "text/html"),
        ("text/html", b"%PDF-1.7", "application/pdf"),
        ("image/png", b"<html>", "image/png"),
    ],
)
def test_a_declared_type_is_believed_unless_unknown_or_plainly_untrue(
    declared: str, body: bytes, name: str
):
    assert resolve(MediaType(declared), body).name == name


def test_the_declared_charset_is_kept():
    media = resolve(MediaType("text/html", "koi8-r"), b"<html>")
    assert media.charset == "koi8-r"


def test_a_pdf_is_read_as_one_and_only_whole():
    assert MediaType("application/pdf").is_document
    assert parse_content_type("application/x-pdf").read_as == "application/pdf"
    assert not MediaType("text/html").is_document


@pytest.mark.parametrize(
    ("declared", "body", "expected"),
    [
        ("application/pdf", b"%PDF-1.7\n", "application/pdf"),
        ("application/pdf", b"\xef\xbb\xbf\n" * 90 + b"%PDF-1.4", "application/pdf"),
        ("application/pdf", b"<!DOCTYPE html><title>Log in</title>", "text/html"),
        ("application/pdf", b"\n" * 1_100 + b"%PDF-1.4", "text/plain"),
        ("text/html", b"%PDF-1.7\n", "application/pdf"),
        ("application/octet-stream", b"%PDF-1.7\n", "application/pdf"),
        ("text/html", b"\x28\xb5\x2f\xfd\x00", "application/zstd"),
        ("text/plain", b"OggS\x00\x02", "application/ogg"),
    ],
)
def test_a_document_is_known_by_its_signature(declared, body, expected):
    assert resolve(MediaType(declared), body).name == expected


@pytest.mark.parametrize("size", [None, 10])
def test_a_document_is_refused_by_its_announced_size_alone(size):
    media = MediaType("application/pdf")
    refuse_too_large(media, size=size, most=10, url="https://example.org/")
    with pytest.raises(
        ContentError, match=r"application/pdf of 2\.0 MB; at most 1\.0 MB"
    ) as caught:
        refuse_too_large(media, size=2 << 20, most=1 << 20, url="https://example.org/")
    assert caught.value.code is ErrorCode.CONTENT_TOO_LARGE
    assert "10485760" in caught.value.advice


@pytest.mark.parametrize(
    ("note", "code"),
    [
        (NOTE_SIZE, ErrorCode.CONTENT_TOO_LARGE),
        (NOTE_DEADLINE, ErrorCode.TIMEOUT),
        (NOTE_BROKEN, ErrorCode.MALFORMED_RESPONSE),
    ],
)
def test_a_cut_document_is_an_error_by_what_cut_it(note, code):
    body = Body(b"%PDF-1.7", truncated=True, notes=(note,))
    error = cut_document(MediaType("application/pdf"), body, most=1_024, url="https://e.org/")
    assert error.code is code
    assert error.advice
