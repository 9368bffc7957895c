"""The external search and loader of Open WebUI, with the calls of its code."""

import pytest

URL = "https://a.example/bees"
MISSING = "https://a.example/missing"


async def test_a_search_gives_a_list_of_links(rest, service):
    answer = await rest.post("/external/search", json={"query": "bees", "count": 3})
    first, second = answer.json()
    assert first == {"link": URL, "title": "Bees", "snippet": "All about bees."}
    assert second == {"link": "https://b.example/", "title": "", "snippet": "Cut \ufffd"}
    (request,) = service.asked
    assert (request.results_count, request.fetch_content) == (3, False)


async def test_pages_are_documents_and_those_that_fail_are_left_out(rest):
    answer = await rest.post("/external/load", json={"urls": [MISSING, URL]})
    assert answer.json() == [
        {
            "page_content": "# Bees\n\nThey fly. \U0001f41d",
            "metadata": {
                "source": URL,
                "title": "Bees",
                "description": "All about bees.",
                "language": "en",
            },
        }
    ]


async def test_pages_that_all_fail_are_an_error(rest):
    answer = await rest.post("/external/load", json={"urls": [MISSING]})
    assert (answer.status_code, answer.json()) == (424, {"error": "The page does not exist"})


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("search", {"query": ""}, "query"),
        ("search", {"query": "bees", "count": 0}, "count"),
        ("search", {"query": "bees", "format": "x"}, "format"),
        ("load", {"urls": []}, "urls"),
        ("load", {"urls": URL}, "urls: must be a list"),
        ("load", {"url": URL}, "urls"),
    ],
)
async def test_wrong_arguments_are_refused_by_their_name(rest, service, path, body, field):
    answer = await rest.post(f"/external/{path}", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(field)
    assert not service.asked
