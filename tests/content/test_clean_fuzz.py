"""Cleaning removes invisible characters and nothing else."""

# ruff: noqa: RUF001 - letters that look alike are those of the scripts

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from searx_mcp.content.clean import clean, clean_counted, clean_line

WRITTEN = {
    "Latin": "The quick brown fox, naïve façade; Łódź, Việt Nam – 3 × 4 = 12 €",
    "Greek": "Η γρήγορη αλεπού πηδά πάνω από τον τεμπέλη σκύλο· ἀρχή",
    "Cyrillic": "Съешь ещё этих мягких французских булок, да выпей чаю. Ђорђе, Їжак",
    "Armenian": "Բարև աշխարհ։ Հայաստանի Հանրապետություն",
    "Georgian": "გამარჯობა მსოფლიო, საქართველო",
    "Hebrew": "שָׁלוֹם עוֹלָם, הספר על השולחן",
    "Arabic": "السَّلامُ عَلَيْكُم، صفحة ٣ من ١٢؟",
    "Persian": "می\u200cخواهم کتاب\u200cها را بخوانم",
    "Urdu": "یہ ایک صفحہ ہے، جو اُردو میں لکھا گیا ہے۔",
    "Syriac": "ܫܠܡܐ ܥܠܡܐ",
    "Devanagari": "नमस्ते दुनिया। क्\u200dष और श्री",
    "Bengali": "বাংলা ভাষায় লেখা, র\u200d্য",
    "Tamil": "தமிழ் மொழியில் எழுதப்பட்டது",
    "Malayalam": "മലയാളം: ന\u0d4d\u200d അവന്\u200d",
    "Sinhala": "ශ්\u200dරී ලංකාව",
    "Thai": "สวัสดีชาวโลก ภาษาไทย ๑๒๓",
    "Tibetan": "བཀྲ་ཤིས་བདེ་ལེགས།",
    "Burmese": "မြန်မာဘာသာ",
    "Khmer": "ភាសាខ្មែរ",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ",
    "Amharic": "ሰላም ለዓለም።",
    "Cherokee": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "Chinese": "中文网页的内容，繁體字與標點符號。\u3000全角",
    "Japanese": "日本語のページです。カタカナ「引用」、がぎぐ",
    "Korean": "한국어 페이지입니다. 조합형 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "emoji": "👨\u200d👩\u200d👧\u200d👦 ❤\ufe0f 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 👍🏽 "
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🇫🇷",
}
WORDS = sorted({word for text in WRITTEN.values() for word in text.split()})
PIECES = st.sampled_from(
    [*WORDS, " ", "  ", "\t", "\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029", "\u3000", "\xa0",
     "\x00", "\x07", "\x1b", "\x1b[31m", "\x1b[", "\x1b]8;;x\x07", "\x1b]", "\x1b\\", "\x9b1m", "\x9c",
     "\x90", "\x1b(B", "\x1bP", "\xad", "\u034f", "\u061c", "\u115f", "\u3164", "\uffa0", "\u17b4", "\u180b",
     "\u180e", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a", "\u202e", "\u2060", "\u2066",
     "\u206f", "\ufeff", "\ufe00", "\ufe0e", "\ufe0f", "\ufff9", "\ufffd", "\ufdd0", "\uffff", "\ud800",
     "\udc80", "\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100", "\U0001d173", "\U0001bca0",
     "\u20e3", "\U0001f3f4", "\U0001f468", "\u2764", "1", "#", "a", "\u0644", "\u0915", "\u1820", "\u0301"]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.characters(), max_size=30).map("".join) | st.text(
    st.characters(exclude_categories=[])
)


@given(TEXTS)
def test_a_clean_text_is_clean(text):
    cleaned = clean(text)
    assert clean_counted(cleaned) == (cleaned, 0)


@given(TEXTS)
def test_a_clean_text_can_be_written_anywhere(text):
    cleaned = clean(text)
    cleaned.encode()
    controls = {each for each in cleaned if unicodedata.category(each) in {"Cc", "Cs"}}
    assert controls <= {"\t", "\n"}


@example("\u0d05\u0d35\u0d28\u0d4d\u200d\ufe0e")
@given(TEXTS)
def test_cleaning_adds_nothing_and_counts_what_it_takes(text):
    cleaned, removed = clean_counted(text)
    source = iter(text)
    assert all(each in source for each in cleaned if each != "\n")
    assert len(cleaned) + removed == len(text.replace("\r\n", "\n"))


@pytest.mark.parametrize("script", WRITTEN)
def test_what_is_written_in_any_script_stays_as_it_is(script):
    assert clean_counted(WRITTEN[script]) == (WRITTEN[script], 0)
    decomposed = unicodedata.normalize("NFD", WRITTEN[script])
    assert clean_counted(decomposed) == (decomposed, 0)


@given(
    st.lists(st.sampled_from(WORDS)), st.sampled_from([" ", "\n", "\t", ", ", "\u3000", " \u2013 "])
)
def test_words_of_all_scripts_stay_side_by_side(words, between):
    text = between.join(words)
    assert clean_counted(text) == (text, 0)


@given(TEXTS, st.integers(1, 60))
def test_a_line_keeps_to_its_cap_and_to_one_line(text, max_chars):
    line = clean_line(text, max_chars)
    assert len(line) <= max_chars
    assert clean_counted(line) == (line, 0)
    assert line == " ".join(line.split())
    assert clean_line(line, max_chars) == line
