"""All tiers together."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.errors import SettingsError
from searx_mcp.fetch.config import TierName
from searx_mcp.fetch.site_adapters.all import tiers
from searx_mcp.fetch.site_adapters.interface import Plan

HOSTS = (
    "github.com", "raw.githubusercontent.com", "gist.github.com", "gitlab.com", "lab.example",
    "codeberg.org", "huggingface.co", "pypi.example", "npm.example",
)  # fmt: skip
API_HOSTS = {"api.github.com"}


def test_there_is_a_tier_for_each_name():
    assert len(tiers(TierName)) == len(TierName)
    assert tiers([]) == ()
    assert len(tiers([TierName.NPM, TierName.NPM])) == 1


@pytest.mark.parametrize("token", ["", "ghp_0123456789abcdef"])
@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r",
        "https://github.com/o/r/tree/main/src",
        "https://github.com/o/r/issues/1",
        "https://github.com/o/r/pull/1",
        "https://github.com/o/r/releases",
        "https://github.com/o/r/blob/main/a.py",
        "https://raw.githubusercontent.com/o/r/main/a.py",
        "https://gist.github.com/o/aa5a315d61ae9438b18d",
        "https://gist.githubusercontent.com/o/aa5a315d61ae9438b18d/raw/a.py",
        "https://gitlab.com/g/p",
        "https://codeberg.org/o/r",
        "https://huggingface.co/o/m",
    ],
)
def test_only_githubs_api_sees_the_token(url: str, token: str):
    plans = [tier.plan(URL(url)) for tier in tiers(TierName, github_token=token)]
    (found,) = filter(None, plans)
    for source in found.sources:
        is_api = URL(source.url).host in API_HOSTS
        expected = f"Bearer {token}" if is_api and token else None
        assert source.headers.get("Authorization") == expected
        assert ("X-GitHub-Api-Version" in source.headers) is is_api
        assert (source.accept == "application/vnd.github+json") is is_api


@pytest.mark.parametrize("token", ["a b", "a\nb", "a\r\nX: y", "geheimnisü", " secret", "x" * 256])
def test_a_token_that_no_header_can_carry_is_refused_without_repeating_it(token: str):
    with pytest.raises(SettingsError) as caught:
        tiers([TierName.GITHUB], github_token=token)
    assert caught.value.field == "web_fetch.github_token"
    assert token not in caught.value.message


segments = st.text(st.characters(exclude_characters="/?#"), min_size=1, max_size=12)
known = st.sampled_from((
    "o", "r", "-", "blob", "raw", "tree", "main", "src", "branch", "issues", "pull", "pulls", "1",
    "releases", "tag", "project", "package", "v", "@scope", "datasets", "spaces", "resolve",
    "refs", "heads", "..", ".", "%2e%2e", "%2F", "..%2F..%2Fuser", "%00", "aa5a315d61ae9438b18d",
))  # fmt: skip


@given(
    host=st.sampled_from(HOSTS),
    path=st.lists(st.one_of(known, segments), max_size=8),
    fragment=st.text(max_size=12),
)
def test_no_path_makes_a_source_leave_its_place(host: str, path: list[str], fragment: str):
    try:
        url = URL(f"https://{host}/{'/'.join(path)}").with_fragment(fragment)
    except ValueError:
        return
    for tier in tiers(TierName):
        found: Plan | None = tier.plan(url)
        for source in found.sources if found is not None else ():
            target = URL(source.url)
            assert str(target) == source.url
            assert target.scheme == "https"
            assert target.user is None
            pieces = [piece for part in target.parts[1:] for piece in part.split("/")]
            assert not {"", ".", ".."} & set(pieces)
            if target.host == "api.github.com":
                assert target.parts[1] in {"repos", "gists"}
            elif target.host == "cdn.jsdelivr.net":
                assert target.parts[1] == "npm"
            else:
                assert target.host in {url.host, "raw.githubusercontent.com"}


def test_planning_twice_gives_the_same(plan: Callable[[str], Plan | None]):
    first, second = plan("https://github.com/o/r"), plan("https://github.com/o/r")
    assert first is not None
    assert second is not None
    assert first.sources == second.sources
