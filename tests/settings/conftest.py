"""An empty folder for the configuration of the user, files to load, and mistakes in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import load


@pytest.fixture(autouse=True)
def no_configuration_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration folder of the user is an empty one; gives the file in it."""
    folder = tmp_path / "user"
    monkeypatch.setattr(
        "searx_mcp.settings.sources.platformdirs.user_config_path", lambda *args, **options: folder
    )
    return folder / "searx-mcp.toml"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_file(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def refusal() -> Callable[..., SettingsError]:
    """Load settings with a mistake in a source, and give the error, which shows no password."""

    def load_wrong(**sources: Any) -> SettingsError:
        with pytest.raises(SettingsError) as caught:
            load(**{"environ": {}, **sources})
        assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"
        return caught.value

    return load_wrong
