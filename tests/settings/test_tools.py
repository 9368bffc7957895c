"""The settings that say which tools are published, under which names."""

import json

import pytest
from pydantic import ValidationError

from searx_mcp import Settings
from searx_mcp.settings.sources import load
from searx_mcp.settings.tools import DEFAULTS, Tool


@pytest.mark.parametrize("source", ["file", "variable"])
def test_other_names_are_read_from_files_and_variables(source, write):
    names = {"web_search": "find", "answer": "ask"}
    if source == "file":
        path = write('[server.tool_names]\nweb_search = "find"\nanswer = "ask"\n')
        settings, _ = load(path=path, environ={})
    else:
        settings, _ = load(environ={"SEARX_MCP_SERVER__TOOL_NAMES": json.dumps(names)})
    assert settings.server.tool_names == names
    assert settings.server.published()[Tool.ANSWER] == "ask"


def test_a_name_has_63_characters_at_most():
    longest = "x" * (63 - len("web_search"))
    names = Settings(server={"tool_prefix": longest}).server.published()
    assert max(map(len, names.values())) == 63
    with pytest.raises(ValidationError, match="1 to 63 ASCII letters"):
        Settings(server={"tool_prefix": f"{longest}x"})


@pytest.mark.parametrize("profile", DEFAULTS)
def test_a_profile_has_its_own_defaults_where_the_settings_name_nothing(profile):
    plain, named = Settings().server.model_dump(), {"fetch_token_budget": 3_000}
    assert all(plain[key] != value for key, value in DEFAULTS[profile].items())
    given = Settings(server={"profile": profile, **named}).server.model_dump()
    assert given == {**plain, "profile": profile, **DEFAULTS[profile], **named}
