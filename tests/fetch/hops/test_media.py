"""Media types: declared, sniffed, readable."""
# ruff: noqa: RUF001 - texts of many scripts

import random
import zlib

import pytest

from searx_mcp.content.decode import decode
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
from searx_mcp.http.body import NOTE_BROKEN, NOTE_DEADLINE, NOTE_SIZE, Body


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
def test_a_content_type_header_is_read(header, name, charset):
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
def test_text_is_readable(name, read_as):
    media = MediaType(name)
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
def test_other_types_are_refused_naming_type_and_size(name, size, words):
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
def test_the_first_bytes_tell_the_type(body, name):
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
        ("image/png", b"<html>", "image/png"),
        ("application/pdf", b"%PDF-1.7\n", "application/pdf"),
        ("application/pdf", b"\xef\xbb\xbf\n" * 90 + b"%PDF-1.4", "application/pdf"),
        ("application/pdf", b"<!DOCTYPE html><title>Log in</title>", "text/html"),
        ("application/pdf", b"\n" * 1_100 + b"%PDF-1.4", "text/plain"),
        ("text/html", b"%PDF-1.7\n", "application/pdf"),
        ("text/html", b"\x28\xb5\x2f\xfd\x00", "application/zstd"),
        ("text/plain", b"OggS\x00\x02", "application/ogg"),
    ],
)
def test_a_declared_type_is_believed_unless_unknown_or_plainly_untrue(declared, body, name):
    assert resolve(MediaType(declared), body).name == name


def test_the_declared_charset_is_kept():
    media = resolve(MediaType("text/html", "koi8-r"), b"<html>")
    assert media.charset == "koi8-r"


def test_a_pdf_is_read_as_one_and_only_whole():
    assert MediaType("application/pdf").is_document
    assert parse_content_type("application/x-pdf").read_as == "application/pdf"
    assert not MediaType("text/html").is_document


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
    assert error.advice or code is ErrorCode.TIMEOUT


DICE = random.Random(1)
BINARIES = {
    "icon": bytes.fromhex("0000010001001010000001002000680400001600000028000000100000002000")
    + bytes(99),
    "program": b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0\xb8"
    + bytes(43)
    + b"This program cannot be run in DOS",
    "random": DICE.randbytes(4_000),
    "little that is random": DICE.randbytes(200),
    "film": b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + DICE.randbytes(400),
    "sound": b"RIFF\x24\x08\0\0WAVEfmt \x10\0\0\0\1\0\2\0" + DICE.randbytes(2_000),
    "database": b"SQLite format 3\0\x10\0\1\1\0\x40\x20\x20" + bytes(80),
    "archive": b"name.txt"
    + bytes(92)
    + b"0000644\0"
    + b"0000000\0" * 4
    + b"words of a file"
    + bytes(300),
    "class": b"\xca\xfe\xba\xbe\0\0\0\x41\0\x1d\x0a\0\2\0\3\7\0\4\x0c\0\5\0\6\1\0\x10java/lang/Object"
    + bytes(20),
    "picture": b"BM\x36\0\x0c\0\0\0\0\0\x36\0\0\0\x28\0\0\0" + DICE.randbytes(900),
    "packed with a wrong beginning": zlib.compress(bytes(DICE.choices(b"abcdefghij", k=9_000)))[9:],
}


@pytest.mark.parametrize(
    "declared",
    [
        MediaType(), MediaType("application/octet-stream"), MediaType("text/html"),
        MediaType("text/plain", "utf-8"), MediaType("text/plain", "windows-1251"),
        MediaType("text/plain", "utf-16"), MediaType("application/json"),
    ],
    ids=lambda media: f"{media.name} {media.charset}",
)  # fmt: skip
@pytest.mark.parametrize("body", BINARIES.values(), ids=BINARIES)
def test_what_is_no_text_is_not_read_whatever_it_is_called(body, declared):
    assert not resolve(declared, body).read_as


SENTENCES = {
    "English": "A quiet sentence, and another.\n", "Russian": "Тихое предложение, и ещё одно.\n",
    "Greek": "Μια ήσυχη πρόταση, και άλλη μία.\n", "Arabic": "جملة هادئة، وأخرى بعدها.\n",
    "Hindi": "एक शांत वाक्य, और एक और।\n", "Thai": "ประโยคที่เงียบสงบ และอีกประโยคหนึ่ง\n",
    "Japanese": "静かな文章です。もう一つあります。\n", "Chinese": "这是一个安静的句子，还有另一个。\n",
    "Korean": "조용한 문장, 그리고 또 하나.\n",
}  # fmt: skip
LEGACY = {
    "English": ("cp1252", "mac-roman", "cp866"),
    "Russian": ("cp1251", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic"),
    "Greek": ("cp1253", "iso8859-7"),
    "Arabic": ("cp1256", "iso8859-6"),
    "Hindi": (),
    "Thai": ("cp874",),
    "Japanese": ("cp932", "euc_jp", "iso2022_jp"),
    "Chinese": ("gb18030", "big5hkscs"),
    "Korean": ("cp949",),
}
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


@pytest.mark.parametrize("declared", ["", "text/plain"])
@pytest.mark.parametrize(
    ("language", "codec", "mark"),
    [
        *((name, codec, "") for name, codecs in LEGACY.items() for codec in ("utf-8", *codecs)),
        *((name, codec, mark) for name in SENTENCES for codec in WIDE for mark in ("", "\ufeff")),
    ],
)
def test_text_is_read_in_any_encoding(declared, language, codec, mark):
    text = SENTENCES[language].encode(codec, "ignore").decode(codec) * 3
    body = f"{mark}{text}".encode(codec)
    assert resolve(MediaType(declared), body).read_as == "text/plain"
    if codec in WIDE:
        assert decode(body, charset=None) == (text, codec)


@pytest.mark.parametrize(
    "body",
    [
        b"<p>a page with a NUL\0 here\0 and there\0" + b"and many words that have none. " * 9,
        b"\x1b[1;31mred\x1b[0m \x1b[32mgreen\x1b[0m\n" * 9,
        b"page\x0c\nbreak\x0c\n" * 9,
        b"a\0b",
        b"",
    ],
    ids=["NULs", "colours", "page breaks", "short", "empty"],
)
def test_what_is_stray_in_real_text_is_no_reason_to_refuse_it(body):
    assert resolve(MediaType("text/plain"), body).name == "text/plain"
