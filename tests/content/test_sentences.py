"""Where sentences end, by language."""

# ruff: noqa: RUF001 - texts of many scripts

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.sentences import sentence_ends


def divided(text: str) -> list[str]:
    ends = [0, *sentence_ends(text), len(text)]
    parts = [text[start:end].strip() for start, end in pairwise(ends)]
    return [part for part in parts if part]


THAI_FIRST = "หมู่บ้านอ่าวโต๊ะลายเคยเป็นหมู่บ้านที่ยากจนที่สุดในอำเภอ ปลาในอ่าวหายไปจนเรือออกทะเลแล้วกลับมามือเปล่า"

CASES = {
    "English": ["He came home.", "Was it late?", "Yes!", "She slept."],
    "English titles": ["Dr. Smith met Mrs. Jones at St. Mary's.", "They spoke for an hour."],
    "English initials": ["It is in J. R. Smith's shop.", "Pay there."],
    "English e.g.": ["Use tools, e.g. a hammer, i.e. something heavy.", "Then rest."],
    "English figures": ["It costs 3.50 or 1,000.25 at most.", "See No. 5 and fig. 3.", "Never."],
    "English no at the end": ["The answer was no.", "Nobody spoke."],
    "English quotes": ["“Stop!” she said.", "“Why?” he asked.", "Nobody moved."],
    "English brackets": ["It rained (as always.)", "We stayed."],
    "English ellipsis": ["He waited… and waited.", "Nothing came..."],
    "English mark before an ellipsis": ["It begins with “fixup! …” or “squash! …”.", "It ends."],
    "English addresses": ["Read https://e.org/a.b?c=d.e first.", "Then write."],
    "English versions": ["Python 3.11 is needed.", "Version 2.0.1 is not."],
    "English notes": ["It was moved.[^1]", "Nobody saw it.[^note-2]", "Later they did."],
    "English emphasis": ["**It is bold.**", "*This leans.*", "`code` stays."],
    "German": [
        "Wir kommen am 3. Mai, d. h. bald.",
        "Bringt z. B. Brot mit.",
        "Am 12. Juni ist Ruhe.",
    ],
    "German shortened": ["Das kostet ca. 5 Mio. Euro inkl. Steuer.", "Siehe Nr. 7.", "Danke."],
    "French": ["M. Dupont vit à Lyon.", "« Viens ! » dit-il.", "Il partit."],
    "Spanish": [
        "¿Viene el Sr. Pérez?",
        "¡Claro que sí!",
        "Viene de EE.UU. con Ud. mañana.",
        "Bien.",
    ],
    "Italian": ["Il Dott. Rossi è qui.", "Arriva alle 8.30 di sera.", "Bene."],
    "Portuguese": ["O Dr. Silva chegou.", "A Sra. Lima não.", "Que pena!"],
    "Dutch": ["Neem bijv. brood mee.", "Dhr. Jansen komt ook.", "Goed."],
    "Polish": ["To jest np. chleb.", "Mieszka na ul. Długiej.", "Dobrze."],
    "Russian": [
        "Сад основан в 1934 г. ссыльным агрономом.",
        "Он стоит 5 млн. рублей.",
        "Это много.",
    ],
    "Turkish": ["Bugün Sn. Yılmaz geldi.", "Neden?", "Bilmiyorum."],
    "Greek": ["Ήρθε αργά.", "Έφυγε νωρίς!", "Κανείς δεν τον είδε."],
    "Hebrew": ["הוא בא הביתה.", "מה השעה?", "מאוחר."],
    "Arabic": ["كيف ضاع الماء؟", "جفت العيون.", "ورحل الناس!"],
    "Urdu": ["یہ پہلا جملہ ہے۔", "یہ دوسرا جملہ ہے۔"],
    "Persian": ["او آمد.", "چرا رفت؟", "نمی‌دانم."],
    "Hindi": ["यह पहला वाक्य है।", "क्या यह दूसरा है?", "हाँ।"],
    "Bengali": ["আমি যাই।", "তুমি যাও।"],
    "Armenian": ["Նա եկավ։", "Ուշ էր։"],
    "Amharic": ["እሱ መጣ።", "ዘግይቶ ነበር።"],
    "Khmer": ["គាត់មកហើយ។", "វាយឺតហើយ។"],
    "Burmese": ["သူလာပြီ။", "နောက်ကျတယ်။"],
    "Korean": ["비가 옵니다.", "우산이 있나요?", "없습니다."],
    "Chinese": ["这是第一句。", "这是第二句！", "真的吗？", "他说：“走吧。”"],
    "Chinese quoted": ["“我不去。”", "她走了。"],
    "Japanese": ["今日は晴れです。", "「行くよ。」と彼は言った。", "明日は雨？", "たぶん。"],
    "Japanese brackets": ["会場は東京です（雨天中止。）", "入場は無料です。"],
    "Thai": [THAI_FIRST, "วันนี้รายได้เพิ่มขึ้นสามเท่า"],
    "mixed": ["Das Wort 茶 heißt Tee.", "这是茶。", "It is tea."],
}


@pytest.mark.parametrize(("language", "sentences"), CASES.items(), ids=CASES)
def test_sentences_end_where_a_reader_ends_them(language: str, sentences: list[str]):
    space = "" if language.startswith(("Chinese", "Japanese")) else " "
    assert divided(space.join(sentences)) == sentences


@pytest.mark.parametrize(
    ("mark", "ends"),
    [
        *((mark, 0) for mark in ("!", ".", "…", "!?", "।", ".)", "* ", "[^1]")),
        ("。", 1),
        ("。」", 50_000),
    ],
)
def test_long_runs_of_marks_are_read_in_one_go(mark: str, ends: int):
    assert len(list(sentence_ends(mark * 50_000 + "x"))) == ends


@given(st.text())
def test_ends_are_in_order_and_within_the_text(text: str):
    ends = list(sentence_ends(text))
    assert ends == sorted(set(ends))
    assert all(0 < end < len(text) for end in ends)
