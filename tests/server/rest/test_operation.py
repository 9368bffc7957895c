"""When the body of an answer is made."""

import pytest

from searx_mcp.models.instance import Tier
from searx_mcp.models.response import SearchResult
from searx_mcp.server.rest.operation import body


@pytest.mark.parametrize(
    ("found", "is_made"),
    [
        ([{"query": "a short one"}, 1, None], True),
        (SearchResult(title="t", url="u", description="d" * 31_000, score=1, engine=""), True),
        # A member of an enum leads to its class, and that to everything.
        ({"tier": Tier.OPEN, "engines": ("a",) * 1_000}, True),
        ("c" * 32_001, False),
        (
            (
                SearchResult(title="t", url="u", description="d" * 31_000, score=1, engine=""),
                ["c" * 1_001],
            ),
            False,
        ),
    ],
)
def test_a_small_body_is_made_at_once_and_a_large_one_elsewhere(found, is_made):
    made = body(found, lambda: {"made": 1})
    assert (made == {"made": 1}) is is_made
    assert callable(made) is not is_made
