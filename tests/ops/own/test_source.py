"""SearXNG's source: where it comes from, its archives, and those that only look like one."""

import asyncio
import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own import source as module
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.source import Sources, copy, unpack
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


async def test_an_archive_of_this_machine_needs_no_network(get, web, stand_in):
    source = await get(str(stand_in.archive()))
    assert source.commit == COMMIT
    assert not web.requests


@pytest.mark.parametrize("version", ["v1", "abc", "", "/nowhere/x.tar.gz"])
async def test_what_is_no_version_is_an_argument_error(get, version):
    with pytest.raises((InvalidArgumentError, OwnInstanceError)) as caught:
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
    with pytest.raises(OwnInstanceError) as caught:
        await get(COMMIT)
    assert caught.value.reason is reason
    assert caught.value.advice


async def test_a_source_that_cannot_be_reached_is_named(get, web):
    await web.__aexit__(None, None, None)
    with pytest.raises(OwnInstanceError) as caught:
        await get(COMMIT)
    assert caught.value.reason is NativeFailure.NO_NETWORK
    assert caught.value.message == (
        "The source of SearXNG cannot be fetched: 127.0.0.1: the connection failed or broke."
    )


async def test_another_commit_than_the_one_asked_for_is_refused(get, web, stand_in):
    web.put(NAMED, archived(stand_in, commit="d" * 40))
    with pytest.raises(OwnInstanceError) as caught:
        await get(COMMIT)
    assert caught.value.reason is NativeFailure.WRONG_TREE


@pytest.mark.parametrize("version", [COMMIT, "latest", "a file"])
async def test_files_that_differ_from_a_known_tree_are_refused(get, web, stand_in, version):
    web.put(NAMED, archived(stand_in))
    web.put(NEWEST, archived(stand_in))
    version = str(stand_in.archive()) if version == "a file" else version
    with pytest.raises(OwnInstanceError, match="do not match the commit") as caught:
        await get(version, trees={COMMIT: "0" * 40})
    assert caught.value.reason is NativeFailure.WRONG_TREE


async def test_an_archive_that_does_not_arrive_is_given_up(get, web):
    web.put(NAMED, silent())
    with pytest.raises(OwnInstanceError) as caught:
        await get(COMMIT, seconds=0.1)
    assert caught.value.reason is NativeFailure.NO_NETWORK


async def test_without_a_repository_nothing_is_fetched(tmp_path):
    def unreachable():
        raise AssertionError("nobody is asked")

    with pytest.raises(OwnInstanceError, match=r"own\.source is empty"):
        await Sources(unreachable, "").get("latest", tmp_path / "source", deadline=1.0)


GIT = shutil.which("git")
TOP = "searxng-abc"
GOOD = {"searx/webapp.py": b"app = 1\n", "requirements.txt": b"", "docs/a.rst": b"x"}


def entry(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mtime = 1_787_376_729
    for field, value in fields.items():
        setattr(member, field, value)
    return member, content


def packed(*entries: tuple[tarfile.TarInfo, bytes], good: bool = True, comment: str = "") -> bytes:
    file = io.BytesIO()
    headers = {"comment": comment} if comment else {}
    with tarfile.open(fileobj=file, mode="w:gz", pax_headers=headers) as tar:
        rows = [entry(f"{TOP}/{name}", content) for name, content in GOOD.items()] if good else []
        for member, content in [*rows, *entries]:
            tar.addfile(member, io.BytesIO(content))
    return file.getvalue()


def test_what_is_needed_is_unpacked_and_all_is_hashed(tmp_path):
    data = packed(
        entry(f"{TOP}/searx/bin.py", b"#!", mode=0o775),
        entry(f"{TOP}/utils/apache2", type=tarfile.SYMTYPE, linkname="httpd"),
        comment="c" * 40,
    )
    source = unpack(io.BytesIO(data), tmp_path / "source")
    assert source.commit == "c" * 40
    assert source.version == "2026.8.22+ccccccccc"
    found = {str(path.relative_to(tmp_path / "source")) for path in tmp_path.rglob("*.*")}
    assert found == {
        "searx/webapp.py",
        "searx/bin.py",
        "searx/version_frozen.py",
        "requirements.txt",
    }
    frozen = (tmp_path / "source" / "searx" / "version_frozen.py").read_text()
    assert 'VERSION_STRING = "2026.8.22+ccccccccc"' in frozen


@pytest.mark.slow
@pytest.mark.skipif(GIT is None, reason="git is missing")
def test_the_hash_is_that_of_git(tmp_path):
    checkout = tmp_path / "checkout"
    data = packed(
        entry(f"{TOP}/searx/run", b"#!", mode=0o755),
        entry(f"{TOP}/searx.rst", b"sorted before the folder, as git does"),
        entry(f"{TOP}/link", type=tarfile.SYMTYPE, linkname="docs/a.rst"),
    )
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        tar.extractall(checkout, filter="tar")
    here = checkout / TOP

    def git(*arguments):
        command = [GIT, "-C", here, *arguments]
        return subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)

    git("init")
    git("add", "--all")
    tree = git("write-tree").stdout.strip()
    assert unpack(io.BytesIO(data), tmp_path / "source").tree == tree


LINK = tarfile.SYMTYPE


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (packed(entry("/etc/passwd", b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/../../evil", b"x")), "leads elsewhere"),
        (packed(entry("../evil", b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/./searx/x", b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/searx\\x", b"x")), "leads elsewhere"),
        (packed(entry("/".join([TOP] * 40), b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/docs/x", type=LINK, linkname="/etc/passwd")), "leads elsewhere"),
        (packed(entry(f"{TOP}/docs/x", type=LINK, linkname="../../../x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/searx/x", type=LINK, linkname="webapp.py")), "a link among"),
        (
            packed(entry(f"{TOP}/searx", type=LINK, linkname="docs")),
            "two entries with the same name",
        ),
        (
            packed(
                entry(f"{TOP}/x", type=LINK, linkname="docs"), entry(f"{TOP}/x/webapp.py", b"y")
            ),
            "two entries with the same name",
        ),
        (
            packed(entry(f"{TOP}/x", type=tarfile.LNKTYPE, linkname=f"{TOP}/requirements.txt")),
            "neither a file nor a folder",
        ),
        (packed(entry(f"{TOP}/x", type=tarfile.FIFOTYPE)), "neither a file nor a folder"),
        (packed(entry(f"{TOP}/x", type=tarfile.CHRTYPE)), "neither a file nor a folder"),
        (packed(entry(f"{TOP}/searx/webapp.py", b"again")), "two entries with the same name"),
        (packed(entry(f"{TOP}/searx/webapp.py/x", b"below")), "two entries with the same name"),
        (packed(entry("alone", b"x")), "one folder"),
        (packed(entry(f"{TOP}/README", b"x"), good=False), "no searx/webapp.py"),
        (packed(good=False), "empty"),
        (packed()[:60], "damaged"),
        (packed()[:-20], "damaged"),
        (b"<html>Not found</html>", "damaged"),
        (b"", "damaged"),
    ],
    ids=[
        *("absolute", "up inside", "up", "dot", "backslash", "deep", "link out", "link up"),
        *("link to code", "folder as link", "through a link", "hard link", "pipe", "device"),
        *("twice", "file as folder", "two tops", "another program", "nothing", "cut", "cut late"),
        *("a page", "no bytes"),
    ],
)
def test_a_hostile_or_damaged_archive_is_refused(tmp_path, data, words):
    with pytest.raises(OwnInstanceError, match=words) as caught:
        unpack(io.BytesIO(data), tmp_path / "source")
    assert caught.value.reason is NativeFailure.WRONG_ARCHIVE
    assert {path.name for path in tmp_path.iterdir()} <= {"source"}


@pytest.mark.parametrize(
    ("name", "limit", "words"),
    [
        ("_MAX_ENTRIES", 3, "more than 3 entries"),
        ("_MAX_FILE", 1_000, "a file of more than 1,000 bytes"),
        ("_MAX_UNPACKED", 4_000, "unpacks to"),
    ],
)
def test_an_archive_is_bounded(tmp_path, monkeypatch, name, limit, words):
    monkeypatch.setattr(module, name, limit)
    data = packed(entry(f"{TOP}/big", b"\0" * 9_000))
    with pytest.raises(OwnInstanceError, match=words):
        unpack(io.BytesIO(data), tmp_path / "source")


def test_a_header_that_unpacks_to_much_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MAX_UNPACKED", 10_000)
    data = packed(entry(f"{TOP}/x", pax_headers={"comment": "x" * 100_000}))
    with pytest.raises(OwnInstanceError, match="unpacks to too much"):
        unpack(io.BytesIO(data), tmp_path / "source")


def test_a_folder_is_copied_without_links_and_without_what_git_keeps(tmp_path):
    here = tmp_path / "here"
    for name, content in {**GOOD, "searx/__pycache__/x.pyc": b"", ".git/HEAD": b""}.items():
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (here / "searx" / "link").symlink_to("/etc/passwd")
    source = copy(here, tmp_path / "source")
    assert source.commit == ""
    copied = [path for path in (tmp_path / "source").rglob("*") if path.is_file()]
    names = sorted(str(path.relative_to(tmp_path / "source")) for path in copied)
    assert names == ["requirements.txt", "searx/version_frozen.py", "searx/webapp.py"]


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(OwnInstanceError, match=r"no searx/webapp\.py"):
        copy(Path(__file__).parent, tmp_path / "source")
