"""What the page about own instances shows is what SearXNG needs."""

import re
from pathlib import Path

import pytest
import yaml

from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.installation import native_settings

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "own-instance.md"


@pytest.fixture
def blocks() -> list[dict[str, object]]:
    found = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [yaml.safe_load(block) for block in found]


def test_the_compose_file_publishes_the_instance_on_loopback_alone(blocks):
    compose = blocks[0]
    (service,) = compose["services"].values()
    assert service["ports"] == ["127.0.0.1:8888:8080"]
    assert service["environment"] == {"GRANIAN_HOST": "0.0.0.0"}
    assert "./settings.yml:/etc/searxng/settings.yml:ro,Z" in service["volumes"]
    assert set(compose["volumes"]) == {"cache"}


def test_the_settings_by_hand_let_programs_in_as_the_generated_ones_do(blocks):
    generated = yaml.safe_load(native_settings("a" * 64))
    by_hand = blocks[1]
    assert by_hand["search"] == {"formats": generated["search"]["formats"]}
    assert by_hand["server"].items() <= generated["server"].items()
    assert by_hand["server"]["limiter"] is False
    assert "secret_key" not in by_hand["server"]


def test_every_reason_is_on_the_page():
    listed = set(re.findall(r"`([a-z_]+)`", PAGE.read_text().partition("`reason`, one of")[2]))
    assert listed >= {reason.value for reason in NativeFailure}
