"""`searx-mcp token`: what is printed where."""

import json
import re

import pytest

from searx_mcp.cli.main import main
from searx_mcp.server.web.tokens_file import TokensFile, find


def test_a_token_is_shown_once_and_its_hash_can_be_appended_to_a_file(capsys, tmp_path):
    path = tmp_path / "tokens.toml"
    for name in ("laptop", "team.phone"):
        main(["token", name])
        printed = capsys.readouterr()
        with path.open("a", encoding="utf-8") as file:
            file.write(printed.out)
        (token,) = re.findall(r"smcp_[\w-]{43}", printed.err)
        assert token not in printed.out
        identity = find(TokensFile(path).tokens, token.encode())
        assert identity is not None
        assert identity.name == name


def test_a_program_gets_the_token_with_its_lines(capsys):
    main(["token", "laptop", "--json"])
    printed = capsys.readouterr()
    made = json.loads(printed.out)
    assert re.fullmatch(r"smcp_[\w-]{43}", made["token"])
    assert made["lines"].startswith("[tokens.laptop]\n")
    assert printed.err == ""


def test_a_name_that_cannot_be_used_makes_none(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["token", "A Laptop"])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("searx-mcp: NAME: a name has 1 to 32 lower-case")
    assert "smcp_" not in printed.out + printed.err
