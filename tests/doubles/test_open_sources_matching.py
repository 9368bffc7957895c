"""How the doubles of the open APIs compare words, read queries and get their documents."""

from pathlib import Path

import pytest

from tests.doubles.open_sources.documents import UNDATED, Document, load
from tests.doubles.open_sources.lucene import QuerySyntaxError, scored_by
from tests.doubles.open_sources.matching import Score, by_all, by_any, by_leading, ranked, words

FILM = Document(
    "internetarchive/film", "Dust film", "About dust and farms.", author="Unit", date="1936"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Zürich's BOOKS_of glass", ["zurich", "s", "book", "of", "glass"], id="words"),
        pytest.param("東京駅の高さ", ["東京", "京駅", "高"], id="pairs of Han"),
        pytest.param("... <>", [], id="none"),
    ],
)
def test_words_are_folded(text: str, expected: list[str]):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        pytest.param("dust OR bananas", True, id="or"),
        pytest.param("bananas AND dust", False, id="and"),
        pytest.param("dust bananas AND farms", False, id="and binds its neighbours"),
        pytest.param('"about dust"', True, id="phrase"),
        pytest.param('"dust about"', False, id="phrase in another order"),
        pytest.param("creator:(unit OR nobody)", True, id="group of a field"),
        pytest.param("nofield:dust", False, id="unknown field"),
        pytest.param(r"dust\: \(farms\)", True, id="escapes"),
        pytest.param("dust AND date:[1930 TO 1936]", True, id="range"),
        pytest.param("dust AND date:[* TO 1935-12-31]", False, id="open range"),
    ],
)
def test_the_language_of_lucene_is_read(query: str, is_found: bool):  # noqa: FBT001 - a column
    score = scored_by(
        query,
        lambda each: {
            "": f"{each.title} {each.text}",
            "creator": each.author,
            "date": each.stamp[:10],
        },
    )
    assert bool(score(FILM)) is is_found


@pytest.mark.parametrize("query", ["(a", "a)", '"a', "a AND", "[a", "title:"])
def test_a_malformed_query_is_refused_or_finds_nothing(query: str):
    try:
        assert not scored_by(query, lambda _: {"": "b"})(FILM)
    except QuerySyntaxError:
        return


def test_documents_are_read_from_all_tables_of_a_folder(tmp_path: Path):
    (tmp_path / "a.toml").write_text(
        '[[document]]\nid = "npm/a"\ntitle = "A"\ntags = ["x", "y"]\naddress = { city = "B" }\n'
    )
    (tmp_path / "queries.toml").write_text('[[query]]\ntext = "a"\n')
    (document,) = load(tmp_path)
    assert (document.engine, document.slug, document.tags) == ("npm", "a", ("x", "y"))
    assert document.address == {"city": "B"}
    assert document.moment == UNDATED


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('[[document]]\nid = "npm/a"\n', id="no title"),
        pytest.param('[[document]]\nid = "npm/a"\ntitle = "A"\nx = 1\n', id="a key that is none"),
        pytest.param('[[document]]\nid = "bing/a"\ntitle = "A"\n', id="an unknown engine"),
        pytest.param('[[document]]\nid = "npm/a"\ntitle = "A"\n' * 2, id="an id twice"),
        pytest.param("[[document\n", id="not TOML"),
    ],
)
def test_malformed_documents_are_refused(tmp_path: Path, text: str):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ValueError, match=r"\S"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("score", "slugs"),
    [
        pytest.param(by_all(["dust", "farm"]), ["film"], id="all"),
        pytest.param(by_any(["dust", "farm"]), ["film", "book", "farm"], id="any, most first"),
        pytest.param(by_leading(["dust", "farm"]), ["film", "book"], id="the first"),
        pytest.param(by_any(["nothing"]), [], id="none"),
    ],
)
def test_documents_are_ranked_by_what_they_have(score: Score, slugs: list[str]):
    documents = (
        Document("npm/farm", "Farm"),
        FILM,
        Document("npm/book", "Dust", points=5),
    )
    assert [document.slug for document in ranked(documents, score)] == slugs
