"""Where SearXNG's source comes from, and what may go wrong on the way."""

import asyncio

import pytest

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.errors import NativeError
from searx_mcp.ops.own.native.fetching import Sources
from searx_mcp.testing.web import FakePage, FakeWeb, redirect, silent
from searx_mcp.urls.address import AllowList

COMMIT = "c0ffee" * 6 + "c0ff"
NAMED = f"/searxng/archive/{COMMIT}.tar.gz"
NEWEST = "/searxng/archive/HEAD.tar.gz"


@pytest.fixture
async def web():
    async with FakeWeb({}) as server:
        yield server


@pytest.fixture
async def get(web, tmp_path):
    sessions = Sessions(NetworkConfig(), allow=AllowList.parse([web.origin]))

    async def get(version, *, trees=None, seconds=60.0):
        sources = Sources(lambda: sessions.pages, web.url("/searxng/"), trees)
        deadline = asyncio.get_running_loop().time() + seconds
        return await sources.get(version, tmp_path / "source", deadline=deadline)

    async with sessions:
        yield get


def archived(stand_in, **options):
    data = stand_in.archive(**options).read_bytes()
    return FakePage(data, content_type="application/x-gzip")


async def test_a_commit_is_fetched_from_the_repository_by_our_own_name(get, web, stand_in):
    web.put("/elsewhere", archived(stand_in))
    web.put(NAMED, redirect("/elsewhere"))
    source = await get(COMMIT)
    assert source.commit == COMMIT
    assert [request.path for request in web.requests] == [NAMED, "/elsewhere"]
    assert web.requests[0].headers["User-Agent"].startswith("searx-mcp/")


async def test_the_newest_commit_is_known_by_its_archive(get, web, stand_in):
    web.put(NEWEST, archived(stand_in))
    assert (await get("latest")).commit == COMMIT


async def test_an_archive_and_a_folder_of_this_machine_need_no_network(
    get, web, stand_in, tmp_path
):
    source = await get(str(stand_in.archive()))
    assert source.commit == COMMIT
    assert not web.requests


@pytest.mark.parametrize("version", ["v1", "abc", "", "/nowhere/x.tar.gz"])
async def test_what_is_no_version_is_an_argument_error(get, version):
    with pytest.raises((InvalidArgumentError, NativeError)) as caught:
        await get(version)
    if isinstance(caught.value, InvalidArgumentError):
        assert caught.value.field == "version"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (FakePage("no", status=404), NativeFailure.NOT_FOUND),
        (FakePage("no", status=429), NativeFailure.NO_NETWORK),
        (FakePage("no", status=500), NativeFailure.NO_NETWORK),
        (redirect(NAMED), NativeFailure.NO_NETWORK),
        (redirect("http://192.0.2.1/"), NativeFailure.NO_NETWORK),
        (FakePage("<html>a captive portal</html>"), NativeFailure.WRONG_ARCHIVE),
    ],
    ids=["unknown", "limited", "broken", "loop", "forbidden address", "portal"],
)
async def test_what_cannot_be_fetched_is_said(get, web, page, reason):
    web.put(NAMED, page)
    with pytest.raises(NativeError) as caught:
        await get(COMMIT)
    assert caught.value.reason is reason
    assert caught.value.advice


async def test_another_commit_than_the_one_asked_for_is_refused(get, web, stand_in):
    web.put(NAMED, archived(stand_in, commit="d" * 40))
    with pytest.raises(NativeError) as caught:
        await get(COMMIT)
    assert caught.value.reason is NativeFailure.WRONG_TREE


@pytest.mark.parametrize("version", [COMMIT, "latest", "a file"])
async def test_files_that_differ_from_a_known_tree_are_refused(get, web, stand_in, version):
    web.put(NAMED, archived(stand_in))
    web.put(NEWEST, archived(stand_in))
    version = str(stand_in.archive()) if version == "a file" else version
    with pytest.raises(NativeError, match="not those of the commit") as caught:
        await get(version, trees={COMMIT: "0" * 40})
    assert caught.value.reason is NativeFailure.WRONG_TREE


async def test_an_archive_that_does_not_arrive_is_given_up(get, web):
    web.put(NAMED, silent())
    with pytest.raises(NativeError) as caught:
        await get(COMMIT, seconds=0.1)
    assert caught.value.reason is NativeFailure.NO_NETWORK


async def test_without_a_repository_nothing_is_fetched(tmp_path):
    def unreachable():
        raise AssertionError("nobody is asked")

    with pytest.raises(NativeError, match=r"own\.source is empty"):
        await Sources(unreachable, "").get("latest", tmp_path / "source", deadline=1.0)
