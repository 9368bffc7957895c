"""Whether a passage supports a question, and what it lacks."""

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


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How much does the AirCore 9 outdoor unit weigh?", "9"),
        ("What did the outdoor unit weigh in 2031?", "2031"),
        ("What does the outdoor unit of Vaillant weigh?", "Vaillant"),
        ("What is the refrigerant and the noise level?", "refrigerant"),
        ("How do I call panel.unlock?", "panel.unlock"),
    ],
)
def test_another_model_year_name_or_matter_is_not_answered_and_named(question, missing):
    found = told(question)
    assert not found.answered
    assert missing in found.missing


def test_one_word_of_many_supports_nothing_and_one_of_few_may():
    about = "A key that begins with Europe/Berlin is not found twice."
    assert not told("What salary does a developer earn in Berlin?", about).answered
    assert told("And what of Berlin?", about).answered


def test_words_far_apart_do_not_support_each_other():
    near = "The red valve closes the pump. " + "Other things happen here. " * 40
    far = "The red valve. " + "Other things happen here. " * 40 + "It closes the pump."
    question = "which red valve closes the pump"
    assert told(question, near).score > told(question, far).score


def test_the_title_of_a_page_stands_above_all_of_it():
    question = "When does the Wind Museum close?"
    assert told(question, "It will close at 18:00.", title="Wind Museum").answered
    assert not told(question, "It will close at 18:00.", title="Slipway").answered


def test_a_name_of_code_or_of_a_version_must_stand_as_it_is_written():
    texts = ("Call parcel.delivered when it was returned.", "It speaks HTTP/2 on 3 ports.")
    assert told("When is parcel.delivered called?", *texts).answered
    assert not told("When is parcel.returned called?", *texts).answered
    assert told("Does it speak HTTP/2?", *texts).answered
    assert told("What does old_work_mem hold?", "Set old_work_mem to 64 MB.").answered
    assert not told("What does old_work_mem hold?", "Set old_mem to 64 MB.").answered
    assert not told("Does it speak HTTP/3?", *texts).answered


def test_a_word_that_stands_nowhere_weakens_more_than_one_that_stands_elsewhere():
    text = "The gate closes the northern lock."
    question = "which gate and siren and ladder"
    assert told(question, text, "Sirens sound. Ladders lean.").answered
    assert not told(question, text).answered


@pytest.mark.parametrize(
    ("text", "answered", "refused"),
    [
        ("Der Ausweis kostet 24 € im Jahr.", "Was kostet der Ausweis?", "Wer leitet das Museum?"),
        ("Колокол весит пятьдесят два пуда.", "Сколько весит колокол?", "Кто купил мост?"),
        ("古镇通票八十元,两天有效。", "古镇通票多少钱", "青岭机场在哪里"),
        ("ค่าโดยสาร 15 บาท", "ค่าโดยสารเท่าไร", "นายกเทศมนตรีชื่ออะไร"),
        ("ごみは黄色の袋に入れて出します。", "黄色の袋に何を入れますか", "町長の名前は何ですか"),
    ],
)
def test_other_languages_and_scripts_without_spaces_are_told_apart(text, answered, refused):
    assert told(answered, text).answered
    found = told(refused, text)
    assert not found.answered
    assert found.missing


def test_letters_that_are_missing_in_a_row_are_named_together():
    assert told("青岭机场", "青岭的票价").missing == ("岭机场",)


def test_an_acronym_has_no_other_form():
    text = "JSON is kept as text; a function reads it."
    assert told("Which function reads JSON?", text).missing == ()
    assert told("Which function reads JSONB?", text).missing == ("JSONB",)


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


def test_a_paraphrase_is_answered_where_most_of_it_stands():
    text = "Stators sit on the housing, which is bolted down."
    others = ("Rotors turn.", "Blades bend.")
    assert told("What are stators attached to?", text, *others).answered


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
