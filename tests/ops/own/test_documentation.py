"""What the page about own instances shows is what the commands do."""

import re
from pathlib import Path

import pytest
import yaml

from searx_mcp.models.own_instance import ContainerFailure, NativeFailure
from searx_mcp.ops.own.container import IMAGE, NAME
from searx_mcp.ops.own.settings_file import container_settings

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "own-instance.md"


@pytest.fixture
def blocks() -> list[object]:
    found = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [yaml.safe_load(block) for block in found]


def test_the_compose_file_runs_the_same_container_on_loopback_alone(blocks):
    compose = blocks[0]
    (service,) = compose["services"].values()
    assert service["image"] == IMAGE
    assert service["ports"] == ["127.0.0.1:8888:8080"]
    assert service["environment"] == {"GRANIAN_HOST": "0.0.0.0"}
    assert "./settings.yml:/etc/searxng/settings.yml:ro,Z" in service["volumes"]
    assert set(compose["volumes"]) == {"cache"}


def test_the_settings_by_hand_are_the_generated_ones_without_the_secret(blocks):
    generated = yaml.safe_load(container_settings("a" * 64))
    del generated["server"]["secret_key"]
    assert blocks[1] == generated


def test_every_reason_and_the_names_are_on_the_page():
    text = PAGE.read_text()
    for reason in (*ContainerFailure, *NativeFailure):
        assert f"| `{reason}` |" in text
    assert IMAGE in text
    assert f"docker restart {NAME}" in text
