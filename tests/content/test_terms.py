"""What texts are compared by."""

# ruff: noqa: RUF001 - texts of many scripts

import pytest

from searx_mcp.content.terms import stems, terms, tokens


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("The Prices rose", ["the", "prices", "rose"], id="lower case"),
        pytest.param("2.4 GHz, 2,4 and 10x", ["2.4", "ghz", "2,4", "and", "10x"], id="figures"),
        pytest.param("l’aiguille d'or", ["l", "aiguille", "d", "or"], id="elision"),
        pytest.param("Straße Café Łódź Ærø", ["strasse", "cafe", "lodz", "aero"], id="accents"),
        pytest.param("[a link](https://e.org/x) b", ["a", "link", "b"], id="addresses"),
        pytest.param("والكتاب في المدينة", ["كتاب", "في", "مدينه"], id="Arabic article"),
        pytest.param("राजपुरा गाँव", ["राजपुरा", "गाँव"], id="vowel signs"),
        pytest.param("ёлка", ["елка"], id="Russian yo"),
        pytest.param("发电所", ["发电", "电所"], id="pairs of Han"),
        pytest.param("茶 tea", ["茶", "tea"], id="a lone Han"),
        pytest.param("電気です", ["電気", "気で"], id="no pairs of hiragana"),
        pytest.param("ปลาน้ำ", ["ปลา", "ลาน", "าน้", "น้ำ"], id="triples of Thai"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_tokens_can_be_compared(text: str, found: list[str]):
    assert tokens(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("prices", "price"),
        ("Hasselmoors", "Hasselmoor"),
        ("mountainous", "mountains"),
        ("machines", "machine"),
        ("библиотеки", "библиотеке"),
    ],
)
def test_endings_do_not_count(one: str, other: str):
    assert stems(tokens(one)) == stems(tokens(other))


@pytest.mark.parametrize(
    "question",
    ["how is the", "wie ist das", "est-ce que", "что это", "क्या है", "什么", "ما هو"],
)
def test_function_words_tell_nothing_apart(question: str):
    assert stems(tokens(f"{question} boat")) == ["boat"]


@pytest.mark.parametrize("word", ["war", "fur", "door", "hay", "hat", "ten", "boss"])
def test_names_of_things_are_no_function_words_of_another_language(word: str):
    assert stems(tokens(word)) == [word]


def test_a_question_of_function_words_keeps_them():
    assert terms("The Who") == ["the", "who"]
