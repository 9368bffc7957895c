"""What a tier composed, cleaned and disarmed."""

import pytest

from searx_mcp.errors import ContentError
from searx_mcp.fetch.conversion import of_composed
from searx_mcp.fetch.site_adapters.adapter import Composed


def test_what_a_tier_composed_is_cleaned_and_has_its_outline():
    page = of_composed(
        Composed(
            "\n# Bees\u200b\n\nThey dance.\n\n## Food\n\nNectar.\n",
            title="Bees\u202e",
            author="Ann\n\nSmith",
            notes=("One\u200bnote.",),
            is_truncated=True,
        )
    )
    assert page.markdown == "# Bees\n\nThey dance.\n\n## Food\n\nNectar."
    assert [heading.title for heading in page.outline] == ["Bees", "Food"]
    assert (page.title, page.author, page.notes) == ("Bees", "Ann Smith", ("Onenote.",))
    assert page.hidden_chars_removed == 1
    assert page.is_truncated
    assert page.word_count == 5


@pytest.mark.parametrize(
    "markdown",
    [
        "![x](https://evil.example/beacon.png)",
        "[x](javascript:alert(1))",
        '<img src="https://evil.example/beacon.png">',
        "![x][y]\n\n[y]: https://evil.example/beacon.png",
    ],
)
def test_nothing_that_a_host_would_load_or_run_is_left(markdown):
    page = of_composed(Composed(f"Some words.\n\n{markdown}"))
    assert "![" not in page.markdown
    assert "<img" not in page.markdown
    assert "javascript:" not in page.markdown


@pytest.mark.parametrize("markdown", ["", "\n\n", "\u200b"])
def test_nothing_is_no_page(markdown):
    with pytest.raises(ContentError):
        of_composed(Composed(markdown))
