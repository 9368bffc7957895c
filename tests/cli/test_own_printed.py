"""What the commands of an own instance print; with a container they are tried in `test_own.py`."""

import json

import pytest

from searx_mcp.cli import own
from searx_mcp.cli.main import exit_code
from searx_mcp.client.own.errors import ContainerError
from searx_mcp.errors import InvalidArgumentError, SettingsError
from searx_mcp.models.own_instance import (
    ContainerFailure,
    ContainerState,
    OwnInstance,
    OwnInstanceDown,
)
from searx_mcp.settings.sources import load

RUNNING = OwnInstance(
    engine="docker",
    container="searxng",
    state=ContainerState.RUNNING,
    image="searxng:1",
    url="http://127.0.0.1:8888/",
    healthy=True,
    registered=True,
    settings="/s/settings.yml",
    notes=("One.", "Two."),
)


def test_an_own_instance_reads_like_this(capsys):
    own._print_instance(RUNNING)
    assert capsys.readouterr() == (
        (
            "url               http://127.0.0.1:8888/\n"
            "container         searxng (docker), running\n"
            "image             searxng:1\n"
            "answers           yes\n"
            "used by searches  yes\n"
            "settings          /s/settings.yml\n"
        ),
        "Note: One.\nNote: Two.\n",
    )


def test_what_there_is_not_is_told_too(capsys):
    absent = OwnInstance(engine="podman", container="searxng", state=ContainerState.ABSENT)
    own._print_instance(absent)
    shown, errors = capsys.readouterr()
    assert [line.split()[-1] for line in shown.splitlines()] == [
        *("none", "absent", "none", "no", "no", "none"),
    ]
    assert errors == ""


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"removed": True}, ["Removed the container searxng (docker)."]),
        ({"removed": False}, ["There is no container."]),
        (
            {"removed": True, "unregistered": "http://127.0.0.1:8888/", "settings": "/s/x.yml"},
            [
                "Removed the container searxng (docker).",
                "Searches use http://127.0.0.1:8888/ no longer.",
                "Kept /s/x.yml",
            ],
        ),
    ],
)
def test_what_was_removed_and_what_stays_is_listed(capsys, fields, lines):
    own._print_down(OwnInstanceDown(engine="docker", container="searxng", **fields))
    assert capsys.readouterr().out.splitlines() == lines


ENDED = ContainerError(
    "It ended.", reason=ContainerFailure.EXITED, advice="Look.", log=("one", "two")
)


@pytest.mark.parametrize(
    ("error", "data"),
    [
        (ENDED, {"reason": ENDED.reason.value, "log": ["one", "two"]}),
        (InvalidArgumentError("port", "is taken", advice="Look."), {"field": "port"}),
        (SettingsError("a.b", "is wrong", advice="Look."), {"field": "a.b"}),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_an_error_is_told_to_persons_and_to_programs(capsys, monkeypatch, error, data):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(own, "open_runner", fail)
    loaded = load(environ={})
    for as_json in (True, False):
        with pytest.raises(type(error)):
            await own.status(loaded, engine=None, as_json=as_json)
    shown, errors = capsys.readouterr()
    assert json.loads(shown) == {
        "error_type": error.code.value,
        "error_details": f"{error.message.rstrip('.')}. Look.",
        **data,
    }
    last = "The container's last lines:\n| one\n| two\n"
    assert errors == (last if error is ENDED else "")
    assert exit_code(error) > 0
