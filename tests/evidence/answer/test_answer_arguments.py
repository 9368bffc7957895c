"""Each argument of `answer` changes what comes out of it."""

import pytest

from searx_mcp.evidence.values import Mode
from searx_mcp.testing.web import FakeWeb

_LETTERS = str.maketrans("0123456789", "abcdefghij")


def fill(name: str, count: int = 14) -> str:
    """Sentences that say nothing, have no figures, and are like no others."""
    return " ".join(
        f"The {name}{n} of {name}{n + 5} was {name}{n * 7} for the {name}{n * 3}."
        for n in range(count)
    ).translate(_LETTERS)


PROSE = (
    "To reset the router of the house is what most people try first when the network is gone. Whether to"
    " reset the router or to call the provider depends on the lights. " + fill("alder")
)
STEPS = (
    "<ol><li>To reset the router, hold the button for ten seconds.</li><li>Wait until the light is"
    f" green again.</li><li>Reset the password of the router.</li></ol><p>{fill('birch')}</p>"
)
FIGURES = (
    "<table><tr><th>Router</th><th>Seconds to reset</th></tr><tr><td>A1</td><td>10</td></tr>"
    f"<tr><td>B2</td><td>25</td></tr></table><p>Reset the router. {fill('cedar')}</p>"
)
CODE = (
    "<pre><code>router reset --now\nrouter status\n</code></pre>"
    f"<p>Reset the router. {fill('dogwood')}</p>"
)


@pytest.fixture
async def manual(page_of):
    """One page with four sections about the same, each in a form of its own."""
    sections = {"Prose": f"<p>{PROSE}</p>", "Steps": STEPS, "Figures": FIGURES, "Code": CODE}
    body = "".join(f"<h2>{name}</h2>{text}" for name, text in sections.items())
    async with FakeWeb({"/": page_of("Manual", body)}) as web:
        yield web


async def first_section(client, web, **arguments):
    response = await client.answer(
        "reset the router", url=web.url("/"), max_tokens=200, **arguments
    )
    assert response.stats.mode is Mode.CHUNK
    return response.evidence[0].section_path[-1]


async def test_what_is_known_already_is_not_said_again(valley, client):
    url = valley.url("/tarn")
    known = "Tarn Dam is a dam. Its wall was finished in 1931 and is 43 metres high, I read."
    whole = await client.answer("How high is Tarn Dam?", url=url)
    rest = await client.answer("How high is Tarn Dam?", url=url, known_context=known)
    assert any("43 metres" in each.text for each in whole.evidence)
    # What the chunk says besides is new, so it stays.
    assert any("nine million" in each.text for each in rest.evidence)
    other = await client.answer(
        "How high is Tarn Dam?", url=url, known_context=known.replace("43", "45")
    )
    assert other.evidence == whole.evidence
    all_known = f"{known} Behind it lie nine million cubic metres of water."
    none = await client.answer("How high is Tarn Dam?", url=url, known_context=all_known)
    assert none.evidence == ()
    assert none.notes == ("1 passage left out: known_context says the same.",)


@pytest.mark.parametrize(
    ("constraints", "section"),
    [
        (["must include code examples"], "Code"),
        (["with a table"], "Figures"),
        (["step by step, as a list of steps"], "Steps"),
        (["focus on the provider and the lights"], "Prose"),
    ],
)
async def test_constraints_weigh_passages(manual, client_of, constraints, section):
    client = await client_of(manual)
    assert await first_section(client, manual, constraints=constraints) == section


async def test_constraints_order_pages_that_are_given_whole(client_of, page_of):
    async with FakeWeb(
        {
            "/a": page_of(
                "A", "The retry limit of the queue is five.", f"It is told by mail. {fill('ash')}"
            ),
            "/b": page_of(
                "B",
                "Seven is the retry limit of the queue.",
                f"It is set by operators. {fill('bay')}",
            ),
        }
    ) as web:
        client = await client_of(web)
        orders = []
        for constraint in ("told by mail", "set by operators"):
            response = await client.answer(
                "retry limit of the queue", url=web.links, constraints=[constraint]
            )
            assert response.stats.mode is Mode.FULL_CONTEXT
            orders.append([each.title for each in response.sources])
    assert orders == [["A", "B"], ["B", "A"]]


async def test_the_intent_decides_which_form_comes_first(manual, client_of):
    client = await client_of(manual)
    first = {
        intent: await first_section(client, manual, intent=intent)
        for intent in ("how_to", "comparison", "factual")
    }
    assert first["how_to"] in ("Steps", "Code")
    assert first["comparison"] == "Figures"
    assert first["factual"] == "Code"


async def test_the_intent_decides_how_a_question_is_taken_apart(valley, client):
    urls = [valley.url("/birds"), valley.url("/inns")]
    question = "opening times of the hide and the Grey Heron"
    plain = await client.answer(question, url=urls, expansion_budget=0)
    compared = await client.answer(question, url=urls, expansion_budget=0, intent="comparison")
    assert plain.sub_queries == (question,)
    assert len(compared.sub_queries) == 3
    assert {each.sub_query for each in plain.evidence} == {""}
    assert any(each.sub_query for each in compared.evidence)


async def test_an_exploratory_question_has_evidence_of_more_pages(client_of, page_of):
    def page(name, count, words):
        body = "".join(
            f"<h2>{name} {n}</h2><p>{words} Number {n} of {name}. {fill(f'{name}{n}', 28)}</p>"
            for n in range(count)
        )
        return page_of(name, body)

    much = "The Suez canal and its history: the Suez canal was dug. History of the Suez canal."
    async with FakeWeb(
        {"/much": page("Much", 8, much), "/little": page("Little", 2, "The Suez canal history.")}
    ) as web:
        client = await client_of(web)
        places = {}
        for intent in ("factual", "exploratory"):
            response = await client.answer(
                "history of the Suez canal", url=web.links, intent=intent, max_tokens=200
            )
            shown = [each.section_path[-1].split()[0] for each in response.evidence]
            # The first of each named page comes first in any case.
            places[intent] = [n for n, page in enumerate(shown) if page == "Little"][1]
    assert places["exploratory"] < places["factual"]


async def test_the_budget_of_the_call_decides_whether_pages_are_given_whole(valley, client):
    modes = [
        (await client.answer("Tarn Dam", url=valley.links, max_tokens=limit)).stats.mode
        for limit in (200, 5_000)
    ]
    assert modes == [Mode.CHUNK, Mode.FULL_CONTEXT]


async def test_what_stands_beside_the_best_passage_is_given_and_marked(client_of, page_of):
    parts = [f"<p>{fill(f'fir{n}', 30)}</p>" for n in range(5)]
    parts[2] = f"<p>The Grey Heron closes in January. {fill('elm')}</p>"
    async with FakeWeb({"/": page_of("Inns", "<h2>All</h2>", *parts)}) as web:
        client = await client_of(web)
        response = await client.answer(
            "When does the Grey Heron close?", url=web.url("/"), max_tokens=200
        )
    best, *others = response.evidence
    beside = [each for each in others if each.is_adjacent]
    assert "January" in best.text
    assert not best.is_adjacent
    assert beside
    assert all(each.score < best.score for each in beside)
    assert all(each.span[0] <= best.span[1] and best.span[0] <= each.span[1] for each in beside)


async def test_a_copy_has_title_and_text_of_its_source_and_shares_its_number(client_of, page_of):
    story = [
        f"Sentence {n} of the story tells what happened at the lock on day {n * 7}."
        for n in range(30)
    ]
    async with FakeWeb(
        {
            "/paper": page_of("The lock has failed", *story),
            "/agency": page_of("The lock has failed", *story),
            "/other": page_of("Lock fails again", *story, "Reporting by the agency."),
        }
    ) as web:
        client = await client_of(web)
        response = await client.answer("What happened at the lock?", url=web.links)
        paper, agency, other = web.links
    named = {source.url: source.copies for source in response.sources}
    assert named == {paper: (agency,), other: ()}
