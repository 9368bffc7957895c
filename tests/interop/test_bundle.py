"""The tool of the bundles' format accepts our bundle."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The bundle; its manifest lies beside it."""
    for build in (("-m", "hatchling", "build", "-t", "wheel", "-d"), ("scripts/build_bundle.py",)):
        command = [sys.executable, *build, tmp_path]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (bundle,) = tmp_path.glob("*.mcpb")
    with zipfile.ZipFile(bundle) as archive:
        archive.extract("manifest.json", tmp_path)
    return bundle


async def test_the_manifest_of_the_bundle_is_valid(node_modules: Path, run_node, bundle: Path):
    tool = node_modules / "@anthropic-ai/mcpb/dist/cli/cli.js"
    code, said = await run_node(tool, "validate", bundle.with_name("manifest.json"))
    assert (code, "Manifest schema validation passes!" in said) == (0, True), said
    code, said = await run_node(tool, "info", bundle)
    assert code == 0, said
