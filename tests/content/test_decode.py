"""Which encoding a body is read in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.decode import codec_of, decode

RUSSIAN = "Привет, мир: быстрая лиса"
JAPANESE = "日本語のページです"
CHINESE = "中文网页的内容"
KOREAN = "한국어 페이지"

ENCODINGS = [
    ("utf-8", "utf-8", "naïve → 漢字"),
    ("windows-1252", "cp1252", "naïve “café”"),
    ("windows-1251", "cp1251", RUSSIAN),
    ("koi8-r", "koi8-r", RUSSIAN),
    ("iso-8859-5", "iso8859-5", RUSSIAN),
    ("ibm866", "cp866", RUSSIAN),
    ("iso-8859-2", "iso8859-2", "Zażółć gęślą jaźń"),
    ("windows-1254", "cp1254", "İstanbul şehri güneş ağaci"),
    ("iso-8859-7", "iso8859-7", "Καλημέρα κόσμε"),
    ("windows-1255", "cp1255", "שלום עולם"),
    ("windows-1256", "cp1256", "مرحبا بالعالم"),
    ("shift_jis", "cp932", JAPANESE),
    ("euc-jp", "euc_jp", JAPANESE),
    ("iso-2022-jp", "iso2022_jp", JAPANESE),
    ("gb2312", "gb18030", CHINESE),
    ("gbk", "gb18030", CHINESE),
    ("gb18030", "gb18030", CHINESE + "\U0001f600"),
    ("big5", "big5hkscs", "中文網頁"),
    ("euc-kr", "cp949", KOREAN),
    ("windows-874", "cp874", "สวัสดีชาวโลก"),
]


@pytest.mark.parametrize(("label", "codec", "text"), ENCODINGS, ids=[row[0] for row in ENCODINGS])
def test_the_header_decides(label: str, codec: str, text: str):
    assert decode(text.encode(codec), charset=f' "{label.upper()}" ') == (text, codec)


@pytest.mark.parametrize(("label", "codec", "text"), ENCODINGS, ids=[row[0] for row in ENCODINGS])
def test_without_a_header_the_meta_element_decides(label: str, codec: str, text: str):
    page = f'<html><head><meta charset="{label}"></head><p>{text}'
    assert decode(page.encode(codec), charset=None) == (page, codec)


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        pytest.param(
            '<META http-equiv=Content-Type content="text/html; charset=koi8-r">',
            "koi8-r",
            id="http-equiv",
        ),
        pytest.param("<meta charset='koi8-r'/>", "koi8-r", id="single quotes"),
        pytest.param("<meta name=x><meta charset=koi8-r>", "koi8-r", id="second meta"),
        pytest.param('<?xml version="1.0" encoding="koi8-r"?>', "koi8-r", id="XML declaration"),
        pytest.param("<!-- <meta charset=koi8-r> -->", "utf-8", id="in a comment"),
        pytest.param("<meta charset=utf-16>", "utf-8", id="UTF-16 read as ASCII is UTF-8"),
        pytest.param("<meta charset=utf-7>", "utf-8", id="refused label"),
        pytest.param(" " * 1_024 + "<meta charset=koi8-r>", "utf-8", id="too late"),
    ],
)
def test_a_declaration_counts_where_browsers_look(head: str, codec: str):
    assert decode(head.encode(), charset=None)[1] == codec


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        pytest.param(b"\xef\xbb\xbf\xc3\xa9", "koi8-r", ("é", "utf-8"), id="BOM beats header"),
        pytest.param(b"\xff\xfea\0", None, ("a", "utf-16-le"), id="UTF-16 little endian"),
        pytest.param(b"\xfe\xff\0a", None, ("a", "utf-16-be"), id="UTF-16 big endian"),
        pytest.param(b"a\0", "utf-16", ("a", "utf-16-le"), id="UTF-16 in the header"),
        pytest.param(b"\xc3\xa9", None, ("é", "utf-8"), id="UTF-8 by its looks"),
        pytest.param(b"caf\xe9 \x93x\x94", None, ("café “x”", "cp1252"), id="windows-1252 at last"),
        pytest.param(b"\x81x", None, ("\ufffdx", "cp1252"), id="a byte that is nothing"),
        pytest.param(b"\xc3\xa9\xe6\xbc", None, ("é\ufffd", "utf-8"), id="cut in mid-character"),
        pytest.param(b"\xe9", "iso-8859-1", ("é", "cp1252"), id="latin-1 is windows-1252"),
        pytest.param(b"\x80", "us-ascii", ("€", "cp1252"), id="ASCII is windows-1252"),
        pytest.param(b"\xc3\xa9", "no-such", ("é", "utf-8"), id="unknown label"),
        pytest.param(b"+ADw-", "utf-7", ("+ADw-", "utf-8"), id="UTF-7 refused"),
        pytest.param(b"", None, ("", "utf-8"), id="empty"),
    ],
)
def test_the_order_is_that_of_browsers(body: bytes, charset: str | None, expected: tuple[str, str]):
    assert decode(body, charset=charset) == expected


@pytest.mark.parametrize(
    "label",
    [
        *("base64", "rot13", "zlib", "idna", "punycode", "unicode_escape", "undefined", "cp037"),
        *("utf-32", "utf-7", "x" * 5_000, "a\0b", "é", "", "mbcs", "hz"),
    ],
)
def test_labels_that_name_no_web_encoding_are_ignored(label: str):
    assert codec_of(label) is None


@pytest.mark.parametrize(
    ("label", "codec"), [("x-sjis", "cp932"), ("UTF8", "utf-8"), ("cp936", "gb18030")]
)
def test_labels_of_the_encoding_standard_are_known(label: str, codec: str):
    assert codec_of(label) == codec


@given(st.binary(), st.none() | st.text() | st.sampled_from([row[0] for row in ENCODINGS]))
def test_anything_decodes_to_text_without_surrogates(body: bytes, charset: str | None):
    decode(body, charset=charset)[0].encode()
