"""The doctor, run as its command."""

import json

import pytest


class Diagnosed:
    """The checks of a run with `--json`, by name."""

    def __init__(self, ran) -> None:
        self.code = ran.code
        self.out = ran.out
        self.data = json.loads(ran.out)
        self.checks = {
            check["name"]: check for each in self.data["examinations"] for check in each["checks"]
        }

    @property
    def failed(self) -> list[str]:
        return [name for name in self.checks if self.status(name) == "failed"]

    @property
    def warnings(self) -> list[str]:
        return [name for name in self.checks if self.status(name) == "warning"]

    def status(self, name: str) -> str:
        return str(self.checks[name]["status"])

    def said(self, name: str) -> str:
        return str(self.checks[name]["detail"])

    def fix(self, name: str) -> list[str]:
        lines: list[str] = self.checks[name]["fix"].split("\n")
        return lines


@pytest.fixture
def diagnose(run_cli):
    """Run the doctor with `--json`."""

    async def run(*arguments: str, **environment: str) -> Diagnosed:
        return Diagnosed(await run_cli("doctor", "--json", *arguments, **environment))

    return run
