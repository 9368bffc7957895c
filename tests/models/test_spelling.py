"""What messages show of values, names and lengths of time."""

import pytest

from searx_mcp.models.spelling import did_you_mean, in_words, shown

MEGABYTE = 1_048_576


def test_a_value_is_shown_in_60_characters() -> None:
    for value in (
        "a" * 60,
        "a" * MEGABYTE,
        ["a" * 99] * 99,
        {"a" * 99: 1},
        10**59,
        10**9999,
        -(10**61),
    ):
        assert len(shown(value)) <= 60
    assert shown("a" * 58) == repr("a" * 58)
    assert shown("a" * 59).endswith("...")


@pytest.mark.parametrize(
    ("name", "opposite"),
    [
        ("include_domains", "exclude_domains"),
        ("allowed_hosts", "blocked_hosts"),
        ("disallowed_hosts", "allowed_hosts"),
        ("published_before", "published_after"),
        ("dateAfter", "dateBefore"),
        ("start_date", "end_date"),
        ("min_size", "max_size"),
        ("newest_first", "oldest_first"),
        ("follow_redirects", "no_follow_redirects"),
        ("enable_images", "disable_images"),
        ("fetch_content", "dont_fetch_content"),
    ],
)
def test_a_name_is_never_proposed_for_its_opposite(name: str, opposite: str) -> None:
    for one, other in ((name, opposite), (opposite, name)):
        assert did_you_mean(one, [other]) == ""
        assert did_you_mean(f"{one}x", [other, f"{one}xy"]) == f" (did you mean {one}xy?)"


def test_only_a_near_name_is_proposed() -> None:
    assert did_you_mean("qery", ["query", "url"]) == " (did you mean query?)"
    assert did_you_mean("zzz", ["query", "url"]) == ""


@pytest.mark.parametrize(
    ("seconds", "passed", "to_come"),
    [
        (0, "0 seconds", "0 seconds"),
        (1.2, "1 second", "2 seconds"),
        (59.4, "59 seconds", "1 minute"),
        (119, "119 seconds", "119 seconds"),
        (121, "2 minutes", "3 minutes"),
        (3_600, "1 hour", "1 hour"),
        (7_201, "2 hours", "3 hours"),
        (172_799, "47 hours", "48 hours"),
        (259_200, "3 days", "3 days"),
    ],
)
def test_a_length_of_time_is_told_in_whole_units(seconds, passed, to_come):
    assert in_words(seconds) == passed
    assert in_words(seconds, rounded_up=True) == to_come
