"""Answers of services as JSON, whole or cut."""

from collections.abc import Callable

import pytest

from searx_mcp.fetch.site_adapters.composing.fields import first_member, list_of, object_of
from searx_mcp.fetch.site_adapters.interface import Material


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'"x"',
        b"null",
        b"{",
        b'{"a": 1}x',
        b'{"a": "\xff"}',
        b'{"a": ' + b"9" * 5_000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_no_object_is_an_error(answer: Callable[..., Material], body: bytes):
    with pytest.raises(ValueError, match=r"."):
        object_of(answer(body))


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"[1", b"[" * 100_000])
def test_what_is_no_list_is_an_error(answer: Callable[..., Material], body: bytes):
    with pytest.raises(ValueError, match=r"."):
        list_of(answer(body))


def test_nothing_is_an_error():
    with pytest.raises(ValueError, match="missing"):
        object_of(None)


def test_what_is_no_object_in_a_list_is_left_out(answer: Callable[..., Material]):
    found, is_whole = list_of(answer([{"a": "1"}, None, 3, [], {"a": "2"}]))
    assert [fields.line("a") for fields in found] == ["1", "2"]
    assert is_whole


@pytest.mark.parametrize(
    ("body", "count", "is_whole"),
    [
        ('[{"a":"1"},{"a":"2"},{"a":"3', 2, False),
        (' [ {"a":"1"} , {"a":"2"}', 2, False),
        ('[{"a":"1"}]', 1, True),
        ("[", 0, False),
        ("[]", 0, True),
        ('[{"a":"1"},' + "[" * 100_000, 1, False),
        ('[{"a":"1"},x', 1, False),
    ],
)
def test_of_a_list_that_was_cut_what_came_whole_is_read(
    answer: Callable[..., Material], body: str, count: int, *, is_whole: bool
):
    found, whole = list_of(answer(body, is_truncated=True))
    assert len(found) == count
    assert whole is is_whole


def test_an_answer_that_was_cut_must_still_be_a_list(answer: Callable[..., Material]):
    with pytest.raises(ValueError, match="no JSON list"):
        list_of(answer('{"message": "x"', is_truncated=True))


def test_the_first_member_can_be_read_from_an_answer_that_was_cut(
    answer: Callable[..., Material],
):
    material = answer('{"info": {"name": "x"}, "releases": {"1.0": [{"a', is_truncated=True)
    assert first_member(material, "info").line("name") == "x"


@pytest.mark.parametrize(
    "body", ['{"other": {}, "info": {}}', '{"info": [', '{"info": []', '{"info": {"name', "", "[1"]
)
def test_a_first_member_that_is_not_whole_is_an_error(answer: Callable[..., Material], body: str):
    with pytest.raises(ValueError, match=r"."):
        first_member(answer(body, is_truncated=True), "info")
