"""Whether passages answer a question, and which of its words are missing."""

import pytest

from searx_mcp.content.passages import words_of
from searx_mcp.content.support import Support, support

MANUAL = (
    "The AirCore 6 heats water to 65 °C. The outdoor unit weighs 84 kg and needs 230 V.",
    "Hold both keys for five seconds to lock the panel.",
    "The warranty of seven years holds only with a stamp for each inspection.",
)


def told(question: str, *texts: str, title: str = "") -> Support:
    return support(question, [words_of(text, (title,)) for text in texts or MANUAL])


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("How much does the AirCore 6 outdoor unit weigh?", 0),
        ("How do I lock the panel?", 1),
        ("how long is the warranty", 2),
        ("What is locked by holding both keys?", 1),
    ],
)
def test_a_question_in_the_words_of_a_passage_is_answered(question, best):
    found = told(question)
    assert found.answered
    assert found.best == best


WAYS = ("Call parcel.delivered when it was returned.", "It speaks HTTP/2 on 3 ports.")
BERLIN = ("A key that begins with Europe/Berlin is not found twice.",)
GATE = ("The gate closes the northern lock.",)
CLOSING = ("It will close at 18:00.",)
JSON = ("JSON is kept as text; a function reads it.",)
STATORS = ("Stators sit on the housing, which is bolted down.", "Rotors turn.", "Blades bend.")
GERMAN, RUSSIAN = ("Der Ausweis kostet 24 € im Jahr.",), ("Колокол весит пятьдесят два пуда.",)
CHINESE, THAI = ("古镇通票八十元,两天有效。",), ("ค่าโดยสาร 15 บาท",)
JAPANESE = ("ごみは黄色の袋に入れて出します。",)


@pytest.mark.parametrize(
    ("question", "texts", "title"),
    [
        pytest.param("And what of Berlin?", BERLIN, "", id="one word of few"),
        pytest.param("When does the Wind Museum close?", CLOSING, "Wind Museum", id="the title of the page"),
        pytest.param("When is parcel.delivered called?", WAYS, "", id="a name of code"),
        pytest.param("Does it speak HTTP/2?", WAYS, "", id="a version"),
        pytest.param("What does old_work_mem hold?", ("Set old_work_mem to 64 MB.",), "", id="a setting"),
        pytest.param(
            "which gate and siren and ladder", (*GATE, "Sirens sound. Ladders lean."), "", id="words that stand elsewhere"
        ),
        pytest.param("Which function reads JSON?", JSON, "", id="an acronym"),
        pytest.param("What are stators attached to?", STATORS, "", id="a paraphrase"),
        pytest.param("Was kostet der Ausweis?", GERMAN, "", id="German"),
        pytest.param("Сколько весит колокол?", RUSSIAN, "", id="Russian"),
        pytest.param("古镇通票多少钱", CHINESE, "", id="Chinese"),
        pytest.param("ค่าโดยสารเท่าไร", THAI, "", id="Thai"),
        pytest.param("黄色の袋に何を入れますか", JAPANESE, "", id="Japanese"),
    ],
)  # fmt: skip
def test_a_question_is_answered_by(question, texts, title):
    assert told(question, *texts, title=title).answered


@pytest.mark.parametrize(
    ("question", "texts", "missing"),
    [
        pytest.param("How much does the AirCore 9 outdoor unit weigh?", MANUAL, "9", id="another model"),
        pytest.param("What did the outdoor unit weigh in 2031?", MANUAL, "2031", id="a year"),
        pytest.param("What does the outdoor unit of Vaillant weigh?", MANUAL, "Vaillant", id="a name"),
        pytest.param("What is the refrigerant and the noise level?", MANUAL, "refrigerant", id="another matter"),
        pytest.param("How do I call panel.unlock?", MANUAL, "panel.unlock", id="a name of code"),
        pytest.param("What salary does a developer earn in Berlin?", BERLIN, "salary", id="one word of many"),
        pytest.param("When does the Wind Museum close?", CLOSING, "Wind", id="another page"),
        pytest.param("When is parcel.returned called?", WAYS, None, id="a name in two places"),
        pytest.param("What does old_work_mem hold?", ("Set old_mem to 64 MB.",), "old_work_mem", id="part of a name"),
        pytest.param("Does it speak HTTP/3?", WAYS, None, id="another version"),
        pytest.param("which gate and siren and ladder", GATE, "siren", id="words that stand nowhere"),
        pytest.param("Which function reads JSONB?", JSON, "JSONB", id="another acronym"),
        pytest.param("Wer leitet das Museum?", GERMAN, "Museum", id="German"),
        pytest.param("Кто купил мост?", RUSSIAN, "мост", id="Russian"),
        pytest.param("青岭机场在哪里", CHINESE, "", id="Chinese"),
        pytest.param("青岭机场", ("青岭的票价",), "岭机场", id="letters in a row"),
        pytest.param("นายกเทศมนตรีชื่ออะไร", THAI, "", id="Thai"),
        pytest.param("町長の名前は何ですか", JAPANESE, "", id="Japanese"),
    ],
)  # fmt: skip
def test_what_is_not_answered_is_named(question, texts, missing):
    """In the words of the question; `None` if each of them occurs somewhere."""
    found = told(question, *texts)
    assert not found.answered
    assert missing is None or any(missing in each for each in found.missing)


def test_words_far_apart_do_not_support_each_other():
    near = "The red valve closes the pump. " + "Other things happen here. " * 40
    far = "The red valve. " + "Other things happen here. " * 40 + "It closes the pump."
    question = "which red valve closes the pump"
    assert told(question, near).score > told(question, far).score


def test_a_decade_is_answered_by_its_year():
    assert told("Was geschah in den 1970er Jahren?", "Im Jahr 1970 geschah dies.").score > 0.9


@pytest.mark.parametrize("question", ["Summarize the main points", "what is it about?", ""])
def test_what_only_asks_refuses_nothing(question):
    assert told(question).answered
    assert told(question).missing == ()


def test_without_a_passage_nothing_is_answered():
    assert support("How hot?", []) == Support(0.0, answered=False, missing=("hot",))
    assert not support("what is it", []).answered


def test_words_of_a_long_question_may_be_missing():
    words = "valve pump fan tank coil wire seal"
    assert told(f"{words} plus some gadget", f"The {words}.").answered
    assert not told("valve gadget", f"The {words}.").answered


def test_at_most_five_words_are_named_those_that_weigh_most_first():
    texts = ("The valve.", "The valve again.", "A pump.")
    found = told("some old odd hose gasket Kestrel 2031 valve pump", *texts)
    assert (len(found.missing), set(found.missing[:2])) == (5, {"Kestrel", "2031"})
    assert "valve" not in found.missing


def test_a_number_that_stands_nowhere_refuses_and_a_name_only_weakens():
    text = "The harbour master closes the northern lock gates every evening in winter."
    question = "When does the harbour master close the northern lock gates in winter"
    assert told(f"{question} 2031?", text).score == 0
    assert told(f"{question}, Captain?", text).answered
    assert told(f"{question}, Captain?", text).score < told(f"{question}?", text).score - 0.3


def test_the_topic_of_a_page_supports_less_than_what_is_asked_about_it():
    texts = ("The boiler heats.", "The boiler has a gasket.", "The boiler stops.")
    topic, detail = told("boiler sensor", *texts), told("gasket sensor", *texts)
    assert topic.score < detail.score


def test_a_score_is_between_nothing_and_all():
    for question in ("AirCore 9 in 2031 by Vaillant", "AirCore 6", "zebra"):
        assert 0 <= told(question).score <= 1
