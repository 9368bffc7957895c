"""The table of verbs: every tool is in it, and the fronts are made from it."""

import click
import pytest

from searx_mcp.cli.main import cli
from searx_mcp.settings.tools import Tool
from searx_mcp.verbs.table import PUBLISHED, TOOLS, VERBS

COMMANDS = [verb.command for verb in VERBS if verb.command]


def test_every_tool_is_a_verb_that_is_published():
    assert set(TOOLS) == set(PUBLISHED) == set(Tool)


def test_no_two_verbs_share_a_route_or_a_command():
    routes = [verb.route for verb in VERBS if verb.route]
    assert len({route.name for route in routes}) == len(routes)
    assert len({(route.method, route.path) for route in routes}) == len(routes)
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: f"{verb.tool} {verb.request.__name__}")
def test_what_writes_the_results_of_a_verb_can_be_loaded(verb):
    writing = verb.writing()
    assert all(model.model_fields for model in (*writing.responses, writing.output or verb.request))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_and_the_list_of_commands_say_what_the_verb_says(command):
    found: click.Command = cli
    listed = found
    for name in command.name.split(" "):
        assert isinstance(found, click.Group)
        listed = found.commands[name]
        found = listed.make_context(name, [], resilient_parsing=True).command
    assert found.help == command.help
    assert listed.get_short_help_str(500) == command.help.partition("\n")[0]
