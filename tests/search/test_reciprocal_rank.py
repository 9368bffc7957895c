"""Rank fusion."""

import pytest

from searx_mcp.search.merge import reciprocal_rank


def test_the_score_is_the_sum_of_reciprocal_ranks():
    assert reciprocal_rank([1, 10]) == pytest.approx(1 / 61 + 1 / 70)


def test_an_item_in_no_list_scores_nothing():
    assert reciprocal_rank([]) == 0
