"""Addresses taken apart and put together, and answers of services as JSON."""

import pytest
from yarl import URL

from searx_mcp.errors import ContentError
from searx_mcp.fetch.site_adapters.adapter import (
    address,
    composed,
    is_at,
    lines_of,
    list_of,
    object_of,
    parts_of,
)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://site.example", ()),
        ("https://site.example/", ()),
        ("https://site.example/a", ("a",)),
        ("https://site.example/a/", ("a",)),
        ("https://site.example/a/b%20c", ("a", "b c")),
        ("https://site.example/a/b+c", ("a", "b+c")),
        ("https://site.example/%C3%BC", ("ü",)),
        ("https://site.example/ü", ("ü",)),
        ("https://site.example/a%25b", ("a%b",)),
        ("https://site.example/%2561", ("%61",)),
        ("https://site.example/.github/x..y", (".github", "x..y")),
        ("http://site.example:8080/a", ("a",)),
        ("https://site.example/a?b=c#d", ("a",)),
        # yarl has resolved these before anybody sees them.
        ("https://site.example/a/../b", ("b",)),
        ("https://site.example/a/%2e%2e/b", ("b",)),
    ],
)
def test_a_plain_path_has_decoded_parts(url, parts):
    assert parts_of(URL(url)) == parts


@pytest.mark.parametrize(
    "url",
    [
        "https://site.example/a//b", "https://site.example//a", "https://site.example/a//",
        "https://site.example/a%2Fb", "https://site.example/a%2fb", "https://site.example/..%2Fb",
        "https://site.example/a%5Cb", "https://site.example/a%00b", "https://site.example/a%0Ab",
        "https://site.example/a%7Fb", "https://site.example/%FF", "https://site.example/%ED%A0%80",
        "https://user@site.example/a", "https://user:word@site.example/a",
        "https://:word@site.example/a", "ftp://site.example/a", "/a/b",
    ],
)  # fmt: skip
def test_a_path_that_may_mean_something_else_to_a_server_has_none(url):
    assert parts_of(URL(url)) is None


@pytest.mark.parametrize("path", ["a/../b", "a/./b", "..", ".", "%2E%2E/a", "a/%2e/b", "a/.%2e/b"])
def test_dots_that_no_parser_has_resolved_are_refused(path):
    assert parts_of(URL(f"https://site.example/{path}", encoded=True)) is None


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a/refs%2Fpr%2F1/b", ("a", "refs/pr/1", "b")), ("a/refs%2F..%2Fb", None),
        ("a/refs%2F%2Fb", None), ("a/%2Fb", None), ("a/b%2F", None), ("a/b%2F./c", None),
    ],
)  # fmt: skip
def test_slashes_may_stand_in_a_part_but_no_dots(path, parts):
    url = URL(f"https://site.example/{path}", encoded=True)
    assert parts_of(url, with_slashes=True) == parts


@pytest.mark.parametrize(
    ("url", "is_there"),
    [
        ("https://site.example/", True), ("https://SITE.Example/", True),
        ("http://site.example/", True), ("https://site.example:443/", True),
        ("http://site.example:80/", True), ("https://site.example:80/", False),
        ("https://site.example:8443/", False), ("https://site.example./", False),
        ("https://www.site.example/", False), ("https://site.example.evil.example/", False),
        ("https://evilsite.example/", False),
    ],
)  # fmt: skip
def test_a_site_is_its_host_at_the_port_of_the_scheme(url, is_there):
    assert is_at(URL(url), {"site.example"}) is is_there


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("a", "b"), "/a/b"),
        (("a b", "ü"), "/a%20b/%C3%BC"),
        (("@scope", "x@1.0+b"), "/@scope/x@1.0+b"),
        (("g/p", "x"), "/g%2Fp/x"),
        (("a?b", "c#d"), "/a%3Fb/c%23d"),
        (("100%", "%2e%2e"), "/100%25/%252e%252e"),
        (("a;b", "c:d", "e=f&g"), "/a;b/c:d/e=f&g"),
        (("[x]", "{y}", "|", "^", "`", '"', "<>"), "/%5Bx%5D/%7By%7D/%7C/%5E/%60/%22/%3C%3E"),
    ],
)
def test_parts_are_encoded_and_stay_apart(parts, expected):
    url = address("https://site.example", *parts)
    assert url == f"https://site.example{expected}"
    assert str(URL(url)) == url, "a parser would change it"


NO_LINES = [
    "L12345678", "L0", "L0-L3", "L", "L-3", "l10", "L10-", "L10-L", "Lines", "xL10", "L10x", "", "n10",
    "L\u0661\u0660",  # digits, but not those of an address
]  # fmt: skip


@pytest.mark.parametrize(
    ("fragment", "lines"),
    [
        ("L10", (10, 10)),
        ("L10-L40", (10, 40)),
        ("L40-L10", (10, 40)),
        ("L10-40", (10, 40)),
        ("L10C3-L12C5", (10, 12)),
        ("L7-L7", (7, 7)),
        ("L1234567", (1_234_567, 1_234_567)),
        *((fragment, None) for fragment in NO_LINES),
    ],
)
def test_a_fragment_names_lines(fragment, lines):
    assert lines_of(fragment) == lines


def test_a_query_is_encoded():
    url = address("https://site.example", "a", query={"ref": "x y&z/ü"})
    assert URL(url).query == {"ref": "x y&z/ü"}
    assert URL(url).path == "/a"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>", b"[]", b'"x"', b"null", b"{", b'{"a": 1}x', b'{"a": "\xff"}',
        b'{"a": ' + b"9" * 5_000 + b"}", b"[" * 100_000, b'{"a":' * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_object_is_an_error(answer, body):
    with pytest.raises(ValueError, match=r"."):
        object_of(answer(body))


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"[1", b"[" * 100_000])
def test_what_is_no_list_is_an_error(answer, body):
    with pytest.raises(ValueError, match=r"."):
        list_of(answer(body))


def test_nothing_is_an_error():
    with pytest.raises(ValueError, match="missing"):
        object_of(None)


def test_what_is_no_object_in_a_list_is_left_out(answer):
    found, is_whole = list_of(answer([{"a": "1"}, None, 3, [], {"a": "2"}]))
    assert [fields.line("a") for fields in found] == ["1", "2"]
    assert is_whole


@pytest.mark.parametrize(
    ("body", "count", "is_whole"),
    [
        ('[{"a":"1"},{"a":"2"},{"a":"3', 2, False), (' [ {"a":"1"} , {"a":"2"}', 2, False),
        ('[{"a":"1"}]', 1, True), ("[", 0, False), ("[]", 0, True),
        ('[{"a":"1"},' + "[" * 100_000, 1, False), ('[{"a":"1"},x', 1, False),
    ],
)  # fmt: skip
def test_of_a_list_that_was_cut_what_came_whole_is_read(answer, body, count, is_whole):
    found, whole = list_of(answer(body, is_truncated=True))
    assert len(found) == count
    assert whole is is_whole


def test_an_answer_that_was_cut_must_still_be_a_list(answer):
    with pytest.raises(ValueError, match="not a JSON list"):
        list_of(answer('{"message": "x"', is_truncated=True))


def test_what_is_composed_is_cleaned_and_has_its_outline():
    page = composed(
        "\n# Bees\u200b\n\nThey dance.\n\n## Food\n\nNectar.\n",
        title="Bees\u202e",
        author="Ann\n\nSmith",
        notes=("One\u200bnote.",),
        is_truncated=True,
    ).document
    assert page.markdown == "# Bees\n\nThey dance.\n\n## Food\n\nNectar."
    assert [heading.title for heading in page.outline] == ["Bees", "Food"]
    assert (page.title, page.author, page.notes) == ("Bees", "Ann Smith", ("Onenote.",))
    assert page.hidden_chars_removed == 1
    assert page.truncated
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
    page = composed(f"Some words.\n\n{markdown}", title="").document
    assert "![" not in page.markdown
    assert "<img" not in page.markdown
    assert "javascript:" not in page.markdown


@pytest.mark.parametrize("markdown", ["", "\n\n", "\u200b"])
def test_nothing_is_no_page(markdown):
    with pytest.raises(ContentError):
        composed(markdown, title="")
