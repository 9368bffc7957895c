"""Media types as they are named outside a fence."""

import pytest

from searx_mcp.models.page import type_shown


@pytest.mark.parametrize(
    ("media_type", "shown"),
    [
        ("text/html", "text/html"),
        ("application/pdf", "application/pdf"),
        ("image/svg+xml", "image/svg+xml"),
        ("text/ignore-all-rules", "text/*"),
        ("application/obey+json", "application/*"),
        ("obey/html", ""),
        ("text", "text/*"),
        ("", ""),
    ],
)
def test_only_a_type_that_is_well_known_is_named_whole(media_type, shown):
    assert type_shown(media_type) == shown
