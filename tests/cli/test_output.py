"""What all commands print with."""

import pytest

from searx_mcp.cli.output import duration


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1.0 min"),
        (3_599, "60.0 min"),
        (3_600, "1.0 h"),
        (86_399, "24.0 h"),
        (86_400, "1.0 d"),
        (216_000, "2.5 d"),
    ],
)
def test_a_length_of_time_is_told_in_the_largest_unit_that_fits(seconds, shown):
    assert duration(seconds) == shown
