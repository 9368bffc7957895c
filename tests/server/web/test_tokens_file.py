"""The file of named tokens: what stands in it, what is refused, and what becomes of changes."""

import asyncio
import os
import re
import sys
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from starlette.types import ASGIApp

from searx_mcp.cli.main import cli
from searx_mcp.errors import InvalidArgumentError, SettingsError
from searx_mcp.server.http import http_app
from searx_mcp.server.identity import Identity
from searx_mcp.server.web.tokens_file import TokensFile
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.tools import Tool
from tests.doubles.echo import EchoServer
from tests.doubles.tokens import new_token

HASH = "ab" * 32
OTHER = "cd" * 32
PLAIN = f'[tokens.laptop]\nsha256 = "{HASH}"\n'
IS_WINDOWS = sys.platform == "win32"


@pytest.fixture
def path(tmp_path):
    """Give the place of the file."""
    return tmp_path / "tokens.toml"


def app_with(path: Path) -> ASGIApp:
    return http_app(EchoServer(), HttpConfig(tokens_file=str(path)))


async def lets_in(app: ASGIApp, token: str) -> bool:
    transport = httpx2.ASGITransport(app)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        return (await http.get("/v1/capabilities", headers=headers)).status_code == 200


async def test_a_new_token_is_found_by_its_lines_and_another_is_not(path):
    token, lines = new_token("laptop")
    path.write_text(lines)
    app = app_with(path)
    assert await lets_in(app, token)
    assert not await lets_in(app, new_token("laptop")[0])
    assert token not in lines
    assert len(token) == len("smcp_") + 43


async def test_everything_that_a_token_allows_is_read(path):
    rights = 'tools = ["web_search"]\nper_minute = 60\nper_day = 1_000\nnamespace = "a"\n'
    path.write_text(f"\ufeff{PLAIN}{rights}", encoding="utf-8")
    (known,) = await TokensFile(path).current()
    assert known.identity == Identity("laptop", frozenset({Tool.WEB_SEARCH}), 60, 1_000, "a")
    assert known.identity.may(Tool.WEB_SEARCH)
    assert not known.identity.may(Tool.WEB_FETCH)


async def test_the_example_of_the_docs_is_a_file_of_tokens(path):
    page = Path(__file__).parents[3] / "docs" / "explanation" / "security.md"
    (example,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    path.write_text(example, encoding="utf-8")
    reporter = Identity(
        "reporter", frozenset({Tool.WEB_SEARCH, Tool.WEB_FETCH}), 60, 1_000, "reports", metrics=True
    )
    identities = [known.identity for known in await TokensFile(path).current()]
    assert identities == [Identity("laptop"), reporter]


async def test_a_short_token_is_refused_although_its_hash_is_there(path):
    import hashlib  # noqa: PLC0415 - here alone

    token = "a" * 42
    for text in (token, token + "a"):
        digest = hashlib.sha256(text.encode()).hexdigest()
        path.write_text(f'[tokens.a]\nsha256 = "{digest}"\n')
        assert await lets_in(app_with(path), text) is (text != token)


@pytest.mark.parametrize(
    "name", ["", "Laptop", "a b", "a" * 33, "-a", 'a"', "a\n", "smcp_" + "A" * 43, "ü"]
)
def test_a_name_that_could_be_something_else_gets_no_token(name):
    made = CliRunner().invoke(cli, ["token", "--", name])
    assert isinstance(made.exception, InvalidArgumentError)
    assert "1 to 32 lower-case" in str(made.exception)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"x = [" * 5_000, "not TOML"),
        (b"\ntokens = = smcp_secret", "not TOML (line 2)"),
        (b"a = 1", "[tokens.NAME] and nothing else"),
        (f"{PLAIN}\n[http]\n".encode(), "[tokens.NAME] and nothing else"),
        (b"tokens = 1", "[tokens.NAME] and nothing else"),
        (b"[tokens]\nlaptop = 1", "tokens.laptop is not a table"),
        (b"[tokens]", "holds no token"),
        (b"[tokens.laptop]", "tokens.laptop.sha256 must be 64"),
        (b"[tokens.laptop]\nsha256 = 'smcp_secret'", "tokens.laptop.sha256 must be 64"),
        (b"[tokens.smcp_secretsecretsecretsecretsecret]", "the name of table 1"),
        (f"{PLAIN}sha = 1".encode(), "did you mean sha256?"),
        (f"{PLAIN}tools = ['web_serch']".encode(), "tokens.laptop.tools must be a list of"),
        (f"{PLAIN}per_minute = 0".encode(), "per_minute must be a whole number"),
        (f"{PLAIN}per_minute = '60'".encode(), "per_minute must be a whole number from 1"),
        (f"{PLAIN}per_day = true".encode(), "per_day must be a whole number from 1"),
        (f"{PLAIN}namespace = ''".encode(), "namespace must be 1 to 64"),
        (f"{PLAIN}namespace = 'a/../b'".encode(), "namespace must be 1 to 64"),
        (f"{PLAIN}{PLAIN.replace('laptop', 'b')}".encode(), "two names have the same sha256"),
        (b"#" * 300_000, "longer than 262,144 bytes"),
        ("\n".join(f"[tokens.a{n}]" for n in range(1_001)).encode(), "more than 1,000 tokens"),
        (
            "".join(
                f"[tokens.a{n}]\nsha256 = '{n:064x}'\nnamespace = 'a{n}'\n" for n in range(101)
            ).encode(),
            "more than 100 namespaces",
        ),
    ],
    ids=lambda value: repr(value[-30:]),
)
def test_a_file_that_cannot_be_used_is_refused_without_what_stands_in_it(path, content, told):
    path.write_bytes(content)
    with pytest.raises(SettingsError) as refused:
        app_with(path)
    assert told in refused.value.message
    assert "secret" not in f"{refused.value!r}{refused.value.advice}{refused.value.__cause__!r}"
    assert HASH not in repr(refused.value)


def test_what_is_no_file_is_refused_and_not_waited_for(path):
    with pytest.raises(SettingsError, match="cannot be read"):
        app_with(path.parent)
    with pytest.raises(SettingsError, match="usable path"):
        app_with(path.with_name("\0"))
    if not IS_WINDOWS:
        os.mkfifo(path)
        with pytest.raises(SettingsError, match="not a regular file"):
            app_with(path)


@pytest.mark.skipif(IS_WINDOWS, reason="Windows has no such bits")
@pytest.mark.parametrize("mode", [0o660, 0o606, 0o666])
def test_a_file_that_others_may_write_is_refused_also_behind_a_link(path, mode):
    path.write_text(PLAIN)
    link = path.with_name("link")
    link.symlink_to(path)
    app_with(link)
    path.chmod(mode)
    with pytest.raises(SettingsError, match="other users may write") as refused:
        app_with(link)
    assert "chmod go-w" in refused.value.advice


async def test_a_change_counts_and_a_broken_file_does_not(path, caplog, pass_by):
    caplog.set_level("INFO", "searx_mcp.server")
    path.write_text(PLAIN)
    file = TokensFile(path)
    seen = []
    for content in (
        PLAIN.replace("laptop", "phones"),  # of the same size
        "broken",
        "broken",
        PLAIN,
        "[tokens]\n# nobody any more\n",
    ):
        path.write_text(content)
        pass_by(1)
        seen.append([known.identity.name for known in await file.current()])
    path.unlink()
    pass_by(1)
    assert await file.current() == ()
    assert seen == [["phones"], ["phones"], ["phones"], ["laptop"], []]
    said = [record.getMessage() for record in caplog.records]
    assert [line.split()[0] for line in said] == [
        "server.tokens_read",
        "server.tokens_read",
        "server.tokens_unread",
        "server.tokens_read",
        "server.tokens_read",
        "server.tokens_unread",
    ]
    assert said[2].endswith("kept=1")
    assert HASH not in caplog.text


async def test_a_change_within_the_same_tick_of_the_files_clock_is_seen(path, pass_by):
    path.write_text(PLAIN)
    before = path.stat()
    file = TokensFile(path)
    path.write_text(PLAIN.replace("laptop", "phones"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    pass_by(1)
    (known,) = await file.current()
    assert known.identity.name == "phones"


async def test_it_is_looked_at_once_a_second_however_many_ask(path):
    path.write_text(PLAIN)
    file = TokensFile(path)
    await file.current()
    path.write_text(PLAIN.replace("laptop", "phones"))
    async with asyncio.TaskGroup() as group:
        reads = [group.create_task(file.current()) for _ in range(50)]
    assert {known.identity.name for read in reads for known in read.result()} == {"laptop"}


async def test_nothing_of_a_token_is_shown(path):
    token, lines = new_token("laptop")
    path.write_text(lines)
    file = TokensFile(path)
    shown = f"{file!r}{file.tokens!r}"
    assert token not in shown
    assert str(file.tokens[0].digest) not in shown
