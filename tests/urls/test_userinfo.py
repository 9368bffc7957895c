"""User names and passwords in addresses."""

import pytest

from searx_mcp.urls.userinfo import without_userinfo


@pytest.mark.parametrize(
    ("address", "left"),
    [
        ("https://example.org/a@b?c@d#e@f", "https://example.org/a@b?c@d#e@f"),
        ("https://u:p@example.org:8443/", "https://example.org:8443/"),
        ("HTTPS://u@example.org", "HTTPS://example.org"),
        ("//u:p@example.org/", "//example.org/"),
        ("https://a@b@example.org/", "https://example.org/"),
        ("https://@example.org/", "https://example.org/"),
        ("https://good.org\\@example.org/", "https://example.org/"),
        ("ftp://u:p@[2001:db8::1]/", "ftp://[2001:db8::1]/"),
        ("mailto:a@example.org", "mailto:a@example.org"),
        ("a@example.org", "a@example.org"),
        ("", ""),
    ],
)
def test_an_address_is_left_without_what_stands_before_its_host(address, left):
    assert without_userinfo(address) == left
