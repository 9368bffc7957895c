import pytest

from searx_mcp.searxng.template_fields import frame_address, media_address, sound_address

PLAYER = "https://p.example/e?a=1&amp;b=2"
URL = "https://p.example/e?a=1&b=2"


@pytest.mark.parametrize(
    ("value", "markup", "expected"),
    [
        pytest.param("https://p.example/", None, "https://p.example/", id="address"),
        pytest.param(None, f'<iframe width="5" src="{PLAYER}"></iframe>', URL, id="src"),
        pytest.param("", f"<IFRAME data-src='{PLAYER}'>", URL, id="data-src"),
        pytest.param(None, '<iframe src="javascript:x">', None, id="script"),
        pytest.param(None, f'<audio src="{PLAYER}">', None, id="no frame"),
        pytest.param(7, {}, None, id="other types"),
    ],
)
def test_a_frame_is_an_address_or_inside_markup(
    value: object, markup: object, expected: str | None
) -> None:
    assert frame_address(value, markup) == expected


def test_a_sound_is_an_address_or_inside_markup() -> None:
    markup = f'<audio controls><source src="{PLAYER}" type="audio/mpeg"></audio>'

    assert sound_address(None, markup) == URL
    assert sound_address("https://p.example/a.mp3", markup) == "https://p.example/a.mp3"
    assert sound_address(None, f'<iframe src="{PLAYER}">') is None


def test_media_are_an_address_or_markup_in_one_field() -> None:
    assert media_address("https://p.example/a.mp3") == "https://p.example/a.mp3"
    assert media_address(f'<video><source src="{PLAYER}"></video>') == URL
    assert media_address(None) is None


def test_markup_without_an_end_takes_no_time() -> None:
    for markup in ("<iframe " * 100_000, "<audio>" + " " * 100_000, '<iframe src="' * 100_000):
        assert frame_address(None, markup) is None
        assert sound_address(None, markup) is None
