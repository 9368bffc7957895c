import pytest

from searx_mcp.models.hits import Image
from searx_mcp.searxng.fields import Row, image_address, instant, line, lines, web_address

BASE = "https://search.example/searx/"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("https://a.example/x?y#z", "https://a.example/x?y#z", id="https"),
        pytest.param("HTTP://A.example", "HTTP://A.example", id="scheme in capitals"),
        pytest.param("  https://a.example/\n", "https://a.example/", id="white space around"),
        pytest.param("https://a.example/b c", "https://a.example/b%20c", id="space in the path"),
        pytest.param(
            "https://a.example/b\u3000c", "https://a.example/b%E3%80%80c", id="wide space"
        ),
        pytest.param("https://a\u3000b/", None, id="wide space in the host"),
        pytest.param("https://münchen.example/ä", "https://münchen.example/ä", id="IDN"),
        pytest.param("https://[::1]:80/", "https://[::1]:80/", id="IPv6 literal"),
        pytest.param("/relative", None, id="relative"),
        pytest.param("//a.example/", None, id="without scheme"),
        pytest.param("javascript:alert(1)", None, id="javascript"),
        pytest.param("magnet:?xt=urn:btih:0", None, id="magnet"),
        pytest.param("data:text/html,x", None, id="data"),
        pytest.param("https://", None, id="without host"),
        pytest.param("https://a b/", None, id="space in the host"),
        pytest.param("https://a\\b/", None, id="backslash in the host"),
        pytest.param("https://[::1/", None, id="broken IPv6"),
        pytest.param("https://a.example:port/", None, id="broken port"),
        pytest.param("https://a.example:99999/", None, id="port out of range"),
        pytest.param("https://a.example/\x00", None, id="NUL"),
        pytest.param("https://a.example/\r\nX: y", None, id="line break"),
        pytest.param("https://a.example/\nb", None, id="newline"),
        pytest.param("https://a.example/\tb", None, id="tab"),
        pytest.param("https://a.example/\u202e", None, id="bidi control"),
        pytest.param("https://a.example/\ud800", None, id="lone surrogate"),
        pytest.param("https://a.example/" + "a" * 4096, None, id="too long"),
        pytest.param("https://a.example/" + " " * 2000, "https://a.example/", id="long blank end"),
        pytest.param("https://a.example/" + " b" * 1500, None, id="too long once encoded"),
        pytest.param(None, None, id="null"),
        pytest.param(5, None, id="number"),
        pytest.param(["https://a.example/"], None, id="list"),
    ],
)
def test_only_absolute_web_addresses_are_usable(value: object, expected: str | None) -> None:
    assert web_address(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("https://i.example/a.png", "https://i.example/a.png", id="direct"),
        pytest.param(
            "/searx/image_proxy?url=https%3A%2F%2Fi.example%2Fa.png%3Fb%3D1&h=00",
            "https://i.example/a.png?b=1",
            id="behind the image proxy",
        ),
        pytest.param(
            "/static/none.png", "https://search.example/static/none.png", id="of the instance"
        ),
        pytest.param(
            "/image_proxy?h=0", "https://search.example/image_proxy?h=0", id="no original"
        ),
        pytest.param("/image_proxy?url=javascript:x", None, id="original is no web address"),
        pytest.param("/image_proxy?" + "a=b&" * 20, None, id="too many arguments"),
        pytest.param("data:image/png;base64,AA", None, id="data"),
        pytest.param("//[", None, id="broken"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="null"),
    ],
)
def test_images_are_addressed_at_their_origin(value: object, expected: str | None) -> None:
    assert image_address(value, BASE) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("2026-02-01T00:46:35+00:00", "2026-02-01T00:46:35+00:00", id="JSON aware"),
        pytest.param("2026-02-05T17:25:32", "2026-02-05T17:25:32", id="JSON naive"),
        pytest.param("2026-02-01 00:46:35+0000", "2026-02-01T00:46:35+00:00", id="HTML"),
        pytest.param("2026-02-01", "2026-02-01", id="date"),
        pytest.param("2019", "2019", id="year"),
        pytest.param("None", None, id="None in words"),
        pytest.param("Feb 5, 2026", None, id="localised"),
        pytest.param("5 minute(s) ago", None, id="relative"),
        pytest.param("2026-13-45", None, id="no such day"),
        pytest.param(1767225600, None, id="number"),
        pytest.param("", None, id="empty"),
    ],
)
def test_times_become_iso_or_nothing(value: object, expected: str | None) -> None:
    assert instant(value) == expected


def test_a_line_is_clean_short_and_empty_for_other_types() -> None:
    assert line(" a\n\u200bb\x1b[31mc ", 10) == "a bc"
    assert len(line("x" * 50, 10)) == 10
    assert line({"a": 1}, 10) == ""


def test_lines_are_distinct_and_only_of_collections() -> None:
    assert lines(["b", "a", "b", "", 3, None]) == ("b", "a")
    assert lines("abc") == ()
    assert lines({"a": 1}) == ()
    assert lines(7) == ()


def test_a_row_without_a_title_is_named_by_its_address() -> None:
    hit = Row(url="https://a.example/x", title=" \u200b").to_hit(position=4, base_url=BASE)

    assert hit is not None
    assert (hit.title, hit.position, hit.template) == ("a.example/x", 4, "default")


def test_an_image_without_a_page_is_its_own_page() -> None:
    row = Row(template="images.html", image_url="https://i.example/a.png", title="t")

    hit = row.to_hit(position=1, base_url=BASE)

    assert hit is not None
    assert hit.url == "https://i.example/a.png"
    assert hit.image == Image(url="https://i.example/a.png")


def test_an_image_without_its_file_is_still_a_page() -> None:
    hit = Row(template="images", url="https://a.example/").to_hit(position=1, base_url=BASE)

    assert hit is not None
    assert hit.image is None


def test_a_row_without_an_address_is_no_hit() -> None:
    assert Row(title="t", image_url="https://i.example/").to_hit(position=1, base_url=BASE) is None


def test_texts_are_bounded() -> None:
    row = Row(url="https://a.example/", title="t" * 900, description="d" * 9_000)

    hit = row.to_hit(position=1, base_url=BASE)

    assert hit is not None
    assert (len(hit.title), len(hit.description)) == (500, 2_000)
