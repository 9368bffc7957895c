"""What a person is told to do."""

from pathlib import Path

import pytest

from searx_mcp.ops.own.failures import exited

MISSING = "ModuleNotFoundError: No module named 'sniffio'"
YAML = (
    "searx.exceptions.SearxSettingsException: while parsing a block mapping",
    'in "/state/own-native/settings.yml", line 129, column 3',
)
FOREIGN = "ImportError: cannot import name 'Client' from 'httpx' (/site-packages/httpx/__init__.py)"


@pytest.mark.parametrize(
    ("log", "message", "advice"),
    [
        ((MISSING,), "module sniffio cannot", "with --version, or reinstall"),
        ((FOREIGN,), "module httpx cannot", "with --version, or reinstall"),
        (("ValueError: Invalid settings.yml",), "SearXNG exited.", "Correct /settings.yml"),
        (YAML, "SearXNG exited.", "Correct /settings.yml"),
        (
            ("server.secret_key is not changed.", "sys:1: ResourceWarning: unclosed"),
            "SearXNG exited.",
            "Correct /settings.yml",
        ),
        (("RuntimeError: no",), "SearXNG exited.", "say why. Choose another version, or reinstall"),
        ((), "SearXNG exited.", "say why. Choose another version, or reinstall"),
        ((*YAML, "Traceback", MISSING), "module sniffio cannot", "with --version"),
        ((MISSING, *YAML), "SearXNG exited.", "Correct /settings.yml"),
        ((MISSING, "RuntimeError: no"), "SearXNG exited.", "say why"),
    ],
    ids=[
        *("missing module", "other module", "settings", "yaml", "secret", "other", "no log"),
        *("settings mended", "module mended", "other at last"),
    ],
)
def test_the_advice_follows_the_last_cause_in_the_log(log, message, advice):
    error = exited(log, Path("/settings.yml"))
    assert message in error.message
    assert advice in error.advice
    assert error.log == log
