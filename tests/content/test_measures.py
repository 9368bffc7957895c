"""Lengths and sizes in words."""

import pytest

from searx_mcp.content.measures import length, size


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""), (0, ""), (-5, ""), (1e12, ""), (9, "0:00:09"), (213.4, "0:03:33"),
        (3_725, "1:02:05"), (90_000, "1 day, 1:00:00"),
    ],
)  # fmt: skip
def test_a_length_is_written_as_searxng_writes_it(seconds, words):
    assert length(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (None, ""), (-1, ""), (0, "0 Bytes"), (900, "900 Bytes"), (1_536, "1.50 kiB"), (3_145_728, "3.00 MiB"),
        (5 * 2**30, "5.00 GiB"), (3 * 2**40, "3.00 TiB"),
    ],
)  # fmt: skip
def test_a_size_is_written_as_searxng_writes_it(count, words):
    assert size(count) == words
