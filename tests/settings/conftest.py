"""An empty folder for the configuration of the user, and files to load."""

from collections.abc import Callable
from pathlib import Path

import pytest


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
