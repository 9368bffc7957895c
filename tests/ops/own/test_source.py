"""SearXNG's source: where it comes from, its archives, and those that only look like one."""

import asyncio
import contextlib
import io
import os
import shutil
import stat
import struct
import subprocess
import warnings
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own import source
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.source import Sources, unpack
from searx_mcp.testing.web import FakePage, FakeWeb, redirect, silent
from searx_mcp.urls.address import AllowList

COMMIT = "c0ffee" * 6 + "c0ff"
NAMED = f"/searxng/archive/{COMMIT}.zip"
NEWEST = "/searxng/archive/HEAD.zip"


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
    return FakePage(data, content_type="application/zip")


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


TIME = struct.pack("<2sHBL", b"UT", 5, 1, 1_787_376_729)


def entry(
    name: str, content: bytes = b"", *, mode: int = 0, extra: bytes = TIME, **fields: object
) -> tuple[zipfile.ZipInfo, bytes]:
    member = zipfile.ZipInfo(name)
    member.create_system = 3 if mode else 0
    member.external_attr = mode << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    member.extra = extra
    for field, value in fields.items():
        setattr(member, field, value)
    return member, content


def link(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    return entry(f"{TOP}/{name}", target.encode(), mode=stat.S_IFLNK | 0o777)


def packed(*entries: tuple[zipfile.ZipInfo, bytes], good: bool = True, comment: str = "") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, warnings.catch_warnings(action="ignore"):
        archive.comment = comment.encode()
        rows = [entry(f"{TOP}/{name}", content) for name, content in GOOD.items()] if good else []
        for member, content in [*rows, *entries]:
            archive.writestr(member, content)
    return file.getvalue()


def changed(data: bytes, record: bytes, at: int, value: bytes) -> bytes:
    """An archive with other bytes in the last of its records of a kind."""
    start = data.rindex(record) + at
    return data[:start] + value + data[start + len(value) :]


def test_what_is_needed_is_unpacked_and_all_is_hashed(tmp_path):
    data = packed(
        entry(f"{TOP}/searx/bin.py", b"#!", mode=stat.S_IFREG | 0o775),
        link("utils/apache2", "httpd"),
        comment="c" * 40,
    )
    found = unpack(data, tmp_path / "source")
    assert found.commit == "c" * 40
    assert found.version == "2026.8.22+ccccccccc"
    assert unpack(data, None) == found
    unpacked = {str(path.relative_to(tmp_path / "source")) for path in tmp_path.rglob("*.*")}
    assert unpacked == {
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
    here = tmp_path / "checkout"
    files = GOOD | {"searx.rst": b"sorted before the folder, as git does", "searx/run": b"#!"}
    for name, content in files.items():
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (here / "searx" / "run").chmod(0o755)
    (here / "docs" / "\xfc.rst").touch()
    (here / "link").symlink_to("docs/a.rst")

    def git(*arguments):
        author = {
            f"GIT_{who}_{what}": "a"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        dates = {"GIT_COMMITTER_DATE": "1787376729 +0200", "GIT_AUTHOR_DATE": "1787376729 +0200"}
        command = [GIT, "-C", here, *arguments]
        ran = subprocess.run(
            command,
            check=True,
            timeout=60,
            capture_output=True,
            env={**os.environ, **author, **dates},
        )
        return ran.stdout

    git("init")
    git("add", "--all")
    git("commit", "--message", "all")
    data = git("archive", "--format=zip", f"--prefix={TOP}/", "HEAD")
    found = unpack(data, tmp_path / "source")
    assert found.tree == git("rev-parse", "HEAD^{tree}").decode().strip()
    assert found.commit == git("rev-parse", "HEAD").decode().strip()
    assert found.released_at == 1_787_376_729


def test_an_archive_without_the_time_of_its_commit_is_of_no_time(tmp_path):
    data = packed(
        *(entry(f"{TOP}/{name}", content, extra=b"") for name, content in GOOD.items()), good=False
    )
    assert unpack(data, tmp_path / "source").released_at == 0


@pytest.mark.parametrize(
    "comment", ["c" * 39, "c" * 41, f"{'c' * 39}\n", "C" * 40, 'x"\nimport os\n#', "\xe9" * 20]
)
def test_a_comment_that_is_no_commit_names_none(tmp_path, comment):
    found = unpack(packed(comment=comment), tmp_path / "source")
    assert found.commit == ""
    frozen = (tmp_path / "source" / "searx" / "version_frozen.py").read_text()
    assert f'"2026.8.22+{found.tree[:9]}"' in frozen


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (packed(entry("/etc/passwd", b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/../../evil", b"x")), "leads elsewhere"),
        (packed(entry("../evil", b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/./searx/x", b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/searx\\x", b"x")), "leads elsewhere"),
        (changed(packed(entry(f"{TOP}/searx/0", b"x")), b"searx/0", 6, b"\0"), "leads elsewhere"),
        (packed(entry("/".join([TOP] * 40), b"x")), "leads elsewhere"),
        (packed(entry(f"{TOP}/{'x' * 250}", b"x")), "leads elsewhere"),
        (packed(link("docs/x", "/etc/passwd")), "leads elsewhere"),
        (packed(link("docs/x", "../../../x")), "leads elsewhere"),
        (packed(link("searx/x", "webapp.py")), "a link among"),
        (packed(link("searx", "docs")), "two entries with the same name"),
        (
            packed(link("x", "docs"), entry(f"{TOP}/x/webapp.py", b"y")),
            "two entries with the same name",
        ),
        (packed(entry(f"{TOP}/x", mode=stat.S_IFIFO | 0o644)), "neither a file nor a folder"),
        (packed(entry(f"{TOP}/x", mode=stat.S_IFCHR | 0o644)), "neither a file nor a folder"),
        (packed(entry(f"{TOP}/searx/webapp.py", b"again")), "two entries with the same name"),
        (packed(entry(f"{TOP}/searx/webapp.py/x", b"below")), "two entries with the same name"),
        (packed(entry("alone", b"x")), "one folder"),
        (packed(entry(f"{TOP}/README", b"x"), good=False), "no searx/webapp.py"),
        (packed(good=False), "empty"),
        (packed(entry(f"{TOP}/x", b"x", compress_type=zipfile.ZIP_LZMA)), "in another way"),
        (packed()[:60], "damaged"),
        (packed()[:-20], "damaged"),
        (packed()[40:], "damaged"),
        (b"<html>Not found</html>", "damaged"),
        (b"PK\5\6", "damaged"),
        (b"", "damaged"),
        (changed(packed(), b"PK\1\2", 16, b"\0\0\0\0"), "damaged"),
        (changed(packed(), b"PK\1\2", 20, b"\xff\xff\xff\x7f"), "damaged"),
        (changed(packed(entry("a/b", b"\0" * 9_000)), b"PK\1\2", 24, b"\1\0\0\0"), "damaged"),
        (changed(packed(), b"PK\1\2", 42, b"\xff\xff\xff\xff"), "damaged"),
        (changed(packed(), b"PK\5\6", 10, b"\xff\x0f"), "damaged"),
        (changed(packed(), b"PK\3\4", 30, b"\0" * 40), "damaged"),
    ],
    ids=[
        *("absolute", "up inside", "up", "dot", "backslash", "null", "deep", "long", "link out"),
        *("link up", "link to code", "folder as link", "through a link", "pipe", "device", "twice"),
        *("file as folder", "two tops", "another program", "nothing", "LZMA", "cut", "cut late"),
        *("cut early", "a page", "a mark", "no bytes", "sum", "overlap", "size", "place", "count"),
        "not deflated",
    ],
)
def test_a_hostile_or_damaged_archive_is_refused(tmp_path, data, words):
    with pytest.raises(OwnInstanceError, match=words) as caught:
        unpack(data, tmp_path / "source")
    assert caught.value.reason is NativeFailure.WRONG_ARCHIVE
    assert {path.name for path in tmp_path.iterdir()} <= {"source"}


@settings(max_examples=50)
@given(st.data())
def test_an_archive_with_any_wrong_bytes_is_read_or_refused(drawn):
    data = bytearray(packed(link("docs/x", "a.rst"), comment="c" * 40))
    for _ in range(drawn.draw(st.integers(1, 4))):
        at = drawn.draw(st.integers(0, len(data) - 1))
        data[at : at + drawn.draw(st.integers(0, 4))] = drawn.draw(st.binary(max_size=6))
    with contextlib.suppress(OwnInstanceError):
        assert unpack(bytes(data), None).tree


@pytest.mark.parametrize(
    ("module", "name", "limit", "words"),
    [
        (source, "MAX_ENTRIES", 3, "more than 3 entries"),
        (source, "MAX_FILE", 1_000, "a file of more than 1,000 bytes"),
        (source, "_MAX_UNPACKED", 4_000, "unpacks to"),
    ],
)
def test_an_archive_is_bounded(tmp_path, monkeypatch, module, name, limit, words):
    monkeypatch.setattr(module, name, limit)
    data = packed(entry(f"{TOP}/big", b"\0" * 9_000))
    with pytest.raises(OwnInstanceError, match=words):
        unpack(data, tmp_path / "source")


@pytest.mark.parametrize("kind", ["pipe", "device", "large", "folder", "user"])
async def test_what_cannot_be_read_is_an_argument_error_with_the_reason(
    get, tmp_path, monkeypatch, kind
):
    here = tmp_path / "here"
    version, reason = str(here), "it is not a regular file"
    match kind:
        case "pipe":
            os.mkfifo(here)
        case "device":
            version = "/dev/zero"
        case "large":
            here.write_bytes(b"xx")
            monkeypatch.setattr(source, "MAX_ARCHIVE", 1)
            reason = "it is longer than 1 bytes"
        case "user":
            version, reason = "~nobody-here/x.zip", "nor a file that exists"
        case _:
            here.mkdir()
            reason = "Is a directory"
    with pytest.raises(InvalidArgumentError, match=reason) as caught:
        await get(version)
    assert caught.value.field == "version"
