"""The Internet Archive's search, and its answers."""

import pytest


@pytest.mark.parametrize(
    ("url", "licence"),
    [
        ("https://creativecommons.org/licenses/by-sa/4.0/", "CC BY-SA 4.0"),
        ("http://creativecommons.org/publicdomain/mark/1.0/", "Public Domain Mark 1.0"),
        ("https://licences.example/mine", None),
        ("https://evil.example/creativecommons.org/licenses/by/4.0/", None),
        (["http://creativecommons.org/licenses/by/3.0/"], "CC BY 3.0"),
        (5, None),
    ],
)
def test_a_licence_is_told_by_its_address(read, url, licence):
    docs = [{"identifier": "a", "title": "A", "licenseurl": url}]
    attribution = read("internetarchive", {"response": {"docs": docs}}).hits[0].attribution
    assert attribution.startswith(f"A, {licence} (") if licence else not attribution
