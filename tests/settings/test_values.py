"""Settings as a program writes them."""

from collections.abc import Mapping
from typing import get_args, get_type_hints

import pytest
from pydantic import ValidationError

from searx_mcp import Settings
from searx_mcp.models.base import Frozen
from searx_mcp.settings.values import SettingsTables


def test_tables_are_written_as_in_the_file():
    settings = Settings(
        instances={"own": ["http://127.0.0.1:8888"], "public": "off"}, profiles={"x": {"count": 3}}
    )
    assert settings.instances.own == ("http://127.0.0.1:8888/",)
    assert settings.profiles["x"] == {"count": 3}


def test_a_type_checker_finds_a_table_that_does_not_exist():
    with pytest.raises(ValidationError):
        Settings(instance={"own": []})  # type: ignore[call-arg] # the point of this test
    with pytest.raises(ValidationError):
        Settings(instances=["http://127.0.0.1"])  # type: ignore[arg-type] # likewise


def test_type_checkers_know_every_table():
    hints = get_type_hints(SettingsTables)
    assert [*hints] == [*Settings.model_fields]
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Frozen):
            assert get_args(hints[name]) == (field.annotation, Mapping[str, object])
