"""The JSON of a keyed provider over HTTP."""

import pytest

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.response import RawAnswer, RawBatch
from tests.server.rest.conftest import Known

PATH = "/v1/raw_search"
RESULT = {"kind": "customsearch#search", "items": [{"title": "Bees \ud83d", "pagemap": None}]}


class Keyed(Known):
    """Has a key of google."""

    async def raw_search(self, provider, request, /, *, progress=None):
        self._take((provider, request))
        if provider != "google":
            raise InvalidArgumentError("provider", "has no key")
        answers = [RawAnswer(query=each.query, result=RESULT) for each in request.searches]
        return RawBatch(queries=tuple(answers))


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Known:
    made: Known = getattr(request, "param", Keyed)()
    return made


async def test_each_query_has_the_json_of_the_provider(rest, service):
    body = {"provider": "google", "query": "bees", "queries": ["wasps"], "max_results": 20}
    answer = await rest.post(PATH, json=body)
    assert answer.status_code == 200
    row = {"title": "Bees \N{REPLACEMENT CHARACTER}", "pagemap": None}
    result = {"kind": "customsearch#search", "items": [row]}
    assert answer.json() == {
        "queries": [{"query": "bees", "result": result}, {"query": "wasps", "result": result}]
    }
    ((provider, request),) = service.asked
    assert (provider, request.results_count, request.timeout) == ("google", 20, 30)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "bees"}, "provider"),
        ({"query": "bees", "provider": 7}, "provider"),
        ({"query": "bees", "provider": "bing"}, "provider"),
        ({"provider": "google"}, "query"),
        ({"query": "bees", "provider": "google", "raw": True}, "raw"),
    ],
)
async def test_a_wrong_argument_is_named(rest, body, field):
    answer = await rest.post(PATH, json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


@pytest.mark.parametrize("service", [Known], indirect=True)
async def test_a_service_without_providers_says_so(rest, service):
    answer = await rest.post(PATH, json={"query": "bees", "provider": "google"})
    assert answer.status_code == 422
    assert "cannot be asked through this server" in answer.json()["error"]["message"]
    assert service.asked == []
