"""What a public instance allows us."""

from searx_mcp.search.budget import windows


def test_an_unknown_host_is_treated_like_one_with_the_link_token():
    assert windows(own=False, link_token=None) == windows(own=False, link_token=True)


def test_a_host_without_the_link_token_has_no_monthly_window():
    longest = max(window.seconds for window in windows(own=False, link_token=False))
    assert longest == 3_600


def test_an_own_instance_has_no_windows():
    assert windows(own=True, link_token=True) == ()
