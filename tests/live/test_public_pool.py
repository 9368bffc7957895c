"""Three real searches of the public pool, for a person to look at; never part of the suite.

`pytest -m live -s` keeps to the budgets of whoever runs it: charges go to their own state folder and
count like any other search. Whether instances answer is theirs to decide, so a refusal fails nothing;
an answer that cannot be read does.
"""

import pytest

from searx_mcp.client.facade import persistent_client
from searx_mcp.errors import NoInstancesError
from searx_mcp.models.attempt import Attempt
from searx_mcp.settings.values import Settings

SEARCHES = (
    ("SearXNG metasearch engine", "general"),
    ("photosynthesis", "science"),
    ("asyncio TaskGroup", "it"),
)
STATE = Settings().state_folder()
"""Found before the suite hides the user's folders from its tests."""


def line(attempt: Attempt) -> str:
    rows = f"{attempt.rows_used} of {attempt.rows_seen} rows"
    return (
        f"  {attempt.instance}: {attempt.verdict} {attempt.status_code or '-'} {attempt.format} "
        f"{attempt.elapsed_ms} ms, {rows}{f' ({attempt.detail})' if attempt.detail else ''}"
    )


@pytest.mark.live
async def test_three_searches_of_the_public_pool_can_be_read(capsys):
    settings = Settings.model_validate({"storage": {"folder": str(STATE)}})
    attempts: list[Attempt] = []
    report: list[str] = []
    async with persistent_client(settings) as client:
        for query, category in SEARCHES:
            try:
                found = await client.search(query, category=category, fetch_content=False)
            except NoInstancesError as exc:
                made = exc.attempts
                report.append(f"{query} [{category}]: {exc.reason}, retry in {exc.retry_after} s")
            else:
                made = found.attempts
                report.append(
                    f"{query} [{category}]: {found.results_count} results from "
                    f"{found.instance_used}, engines {', '.join(found.engines_used)}"
                )
            attempts.extend(made)
            report.extend(line(attempt) for attempt in made)
        month = (await client.instances()).month
    with capsys.disabled():
        print("", *report, f"Month: {month}", sep="\n")  # noqa: T201 - the report is for a person
    drifted = [a.instance for a in attempts if a.rows_seen and not a.rows_used]
    assert not drifted, "their pages have rows that cannot be read any more"
