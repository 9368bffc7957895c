"""Which encoding a body is read in."""
# ruff: noqa: RUF001 - texts of many scripts

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
    *((f"iso-8859-{part}", f"iso8859-{part}", "Reef") for part in (3, 4, 6, 8, 10, 13, 14, 15, 16)),
    *((f"windows-{page}", f"cp{page}", "Reef") for page in (1250, 1253, 1257, 1258)),
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


TEXTS = {
    "fr": "Les élèves français préfèrent l'été à l'hiver, car la chaleur leur plaît beaucoup. Où êtes-vous allé hier "
    "après-midi ? Ça va être difficile, mais nous espérons réussir grâce à vous.",
    "de": "Die Übung macht den Meister, sagte der müde Schüler und ging früh nach Hause. Größere Städte haben längere "
    "Straßen, aber auch schönere Gärten für Kinder und Hunde. Das weiß man überall.",
    "ru": "Быстрая коричневая лиса перепрыгнула через ленивую собаку, а потом побежала дальше в лес, где её ждали.",
    "pl": "Zażółć gęślą jaźń to zdanie, które zawiera wszystkie polskie znaki. Wczoraj wieczorem poszliśmy na spacer, "
    "żeby zobaczyć nowe światła w mieście, które są bardzo piękne.",
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy. Včera večer jsme šli na procházku, abychom viděli nová světla.",
    "tr": "Bugün hava çok güzel olduğu için çocuklarla birlikte denize gittik. Su ılık, kumsal ise tertemizdi; gerçekten "
    "çok eğlenceli bir gündü, şimdi yine gitmek istiyoruz.",
    "el": "Καλημέρα κόσμε, σήμερα ο καιρός είναι πολύ καλός και θα πάμε στη θάλασσα με τα παιδιά.",
    "he": "שלום עולם, היום מזג האוויר יפה מאוד ואנחנו הולכים לים עם הילדים. המים חמים והחול נקי, כמו בכל קיץ.",
    "ar": "مرحبا بالعالم، الطقس اليوم جميل جدا وسنذهب إلى البحر مع الأطفال. الماء دافئ والرمل نظيف.",
    "ja": "今日は天気がとてもいいので、子供たちと一緒に海へ行きました。水は暖かく、砂浜はきれいでした。",
    "zh": "今天天气非常好，我们和孩子们一起去海边玩。海水很温暖，沙滩也很干净，大家都觉得非常开心。",
    "tw": "今天天氣非常好，我們和孩子們一起去海邊玩。海水很溫暖，沙灘也很乾淨，大家都覺得非常開心。",
    "ko": "오늘은 날씨가 아주 좋아서 아이들과 함께 바다에 갔습니다. 물은 따뜻하고 모래사장은 깨끗했습니다.",
    "th": "วันนี้อากาศดีมากเราจึงไปทะเลกับเด็กๆ น้ำอุ่นและหาดทรายสะอาดมาก เป็นวันที่สนุกจริงๆ",
}
GUESSED = [
    *(("fr", "cp1252"), ("de", "cp1252"), ("ru", "cp1251"), ("ru", "koi8-r"), ("ru", "cp866")),
    *(
        ("ru", "iso8859-5"),
        ("pl", "iso8859-2"),
        ("pl", "cp1250"),
        ("cs", "cp1250"),
        ("tr", "cp1254"),
    ),
    *(("el", "cp1253"), ("el", "iso8859-7"), ("he", "cp1255"), ("ar", "cp1256"), ("ja", "cp932")),
    *(("ja", "euc_jp"), ("zh", "gb18030"), ("tw", "big5hkscs"), ("ko", "cp949"), ("th", "cp874")),
]


@pytest.mark.parametrize(("language", "codec"), GUESSED, ids=map("-".join, GUESSED))
def test_a_page_that_says_nothing_is_what_its_letters_look_like(language: str, codec: str):
    text = TEXTS[language].encode(codec, "ignore").decode(codec)
    page = f"<html><head><title>x</title></head><body><p>{text}</p>\n<p>{text}</p>"
    assert decode(page.encode(codec), charset=None)[0] == page


def test_the_letters_may_come_late_and_the_page_may_be_long():
    page = "<script>var a = 1;</script>\n" * 3_000 + f"<p>{TEXTS['ja']}</p>\n" * 500
    assert decode(page.encode("cp932"), charset=None) == (page, "cp932")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", ["<html><body><p>Hello", f"<html lang=ru><title>{RUSSIAN}</title><body>"]
)
def test_utf_16_without_a_mark_is_told_by_its_nuls(text: str, codec: str):
    assert decode(text.encode(codec), charset=None) == (text, codec)
    assert decode(text.encode(codec)[:-1], charset=None)[1] == codec


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        pytest.param(b"a\0b\0\0c text of a page", None, "utf-8", id="some NULs"),
        pytest.param(b"\0" * 100, None, "utf-8", id="nothing but NULs"),
        pytest.param(b"a\0" * 50, "utf-8", "utf-8", id="the header is believed about NULs"),
        pytest.param(RUSSIAN.encode("cp1251") * 9, "utf-8", "utf-8", id="a header that lies is believed"),
        pytest.param("é".encode() * 50, "windows-1251", "cp1251", id="about UTF-8 too"),
    ],
)  # fmt: skip
def test_odd_bytes_are_read_as_browsers_read_them(body: bytes, charset: str | None, expected: str):
    assert decode(body, charset=charset)[1] == expected


@pytest.mark.parametrize("codec", ["cp932", "euc_jp", "gb18030", "big5hkscs", "cp949"])
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_body_cut_in_mid_character_is_guessed_all_the_same(codec: str, cut: int):
    language = {"gb18030": "zh", "big5hkscs": "tw", "cp949": "ko"}.get(codec, "ja")
    page = f"<html><body><p>{TEXTS[language]}</p> " * 3
    assert decode(page.encode(codec)[: -10 - cut], charset=None)[0].startswith(page[:120])


@pytest.mark.parametrize(
    "unit", [b"\xff", b"\xe4 ", b"a\x80", b"\x8f\xa1", bytes(range(128, 256)), b"\x1b$B"]
)
def test_random_bytes_are_guessed_at_too(unit: bytes):
    text, codec = decode(unit * (100_000 // len(unit)), charset=None)
    assert codec_of(codec) is not None
    text.encode()


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
