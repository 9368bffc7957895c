"""Exports: what they may hold, and what is said of those that cannot be used."""

import json

import pytest

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.ops.instance_export import MAX_TEXT, host_name, read_portable

URL = "https://a.example/"


def text(**fields) -> str:
    return json.dumps({"schema_version": 1, **fields})


def test_a_file_holds_choices_and_records_and_may_hold_what_a_newer_version_adds():
    file = read_portable(
        text(
            choices={"own": [URL], "blocked": ["b.example"], "pinned": ["c.example"]},
            records=[{"url": URL, "successes": 3, "last_at": 5.0, "mood": "good"}],
            charges=[["https://a.example/", 0]],
        )
    )
    assert file.choices == {InstanceChoice.OWN: (URL,), InstanceChoice.BLOCKED: ("b.example",)}
    assert {url: record.successes for url, record in file.records.items()} == {URL: 3}


def test_an_empty_file_is_one():
    assert not read_portable(text()).records


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("", "file"),
        ("{", "file"),
        ("[]", "file"),
        ("{}", "file.schema_version"),
        ('{"schema_version": 2}', "file.schema_version"),
        ('{"schema_version": "x"}', "file.schema_version"),
        (text(choices=[]), "file.choices"),
        (text(choices={"own": ["a.example"]}), "file.choices.own.0"),
        (text(choices={"own": [URL, "http://8.8.8.8/"]}), "file.choices.own.1"),
        (text(choices={"own": ["https://me:secret@a.example/"]}), "file.choices.own.0"),
        (text(choices={"blocked": ["https://a.example/"]}), "file.choices.blocked.0"),
        (text(records=[{}]), "file.records.0.url"),
        (text(records=[{"url": "nowhere"}]), "file.records.0.url"),
        (text(records=[{"url": URL}, {"url": URL, "state": "fine"}]), "file.records.1.state"),
        (
            text(records=[{"url": URL, "outcomes": [{"at": 1}]}]),
            "file.records.0.outcomes.0.verdict",
        ),
        (text(records=[{"url": URL}] * 5_001), "file.records"),
        (" " * (MAX_TEXT + 1), "file"),
    ],
    ids=[
        *("empty", "cut off", "a list", "no version", "newer", "odd version", "choices"),
        *("no address", "in the clear", "credentials", "no host", "no url", "odd url", "state"),
        *("outcome", "many", "long"),
    ],
)
def test_what_cannot_be_used_is_named(content, field):
    with pytest.raises(InvalidArgumentError) as caught:
        read_portable(content)
    assert caught.value.field == field
    assert caught.value.advice
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Search.Example.org", "search.example.org"),
        ("https://search.example.org/searx/", "search.example.org"),
        ("search.example.org:8443", "search.example.org"),
        (" search.example.org. ", "search.example.org"),
        ("[2001:db8::1]", "2001:db8::1"),
    ],
)
def test_a_host_is_taken_out_of_what_is_given(given, name):
    assert host_name(given) == name


@pytest.mark.parametrize("given", ["", "a b", "https://", "ftp://a.example/"])
def test_what_is_no_host_is_refused(given):
    with pytest.raises(ValueError, match=r"is not"):
        host_name(given)
