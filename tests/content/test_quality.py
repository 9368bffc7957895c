"""The quality of pages, and pages that have none."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.quality import PHRASES, SAME, Quality, assess, groups, resemblance, sketch
from searx_mcp.models.page import PageKind
from searx_mcp.models.response import Poor

ARTICLE = """# The lighthouse walks

The tower was moved inland on steel rails after the cliff had come near. Engineers cut it free from
its old footing and slid forty beams beneath the walls. Hydraulic jacks lifted all of it by the width
of two hands. By the evening it stood farther from the sea than ever before.

Winter storms take a bite out of the soft clay in most years, and one night alone cost five metres of
ground. A wall of boulders would have starved the beach to the north of sand. Taking the building down
stone by stone was cheap, but the heritage office refused. Doing nothing would have meant losing it
before the end of the decade.

Its rollers were greased with ordinary dish soap, which nobody had expected to work so well. Sixty
sensors watched for cracks, and a gull that settled on one of them stopped everybody for forty minutes.
Half of the money came from the fund for monuments, a third from the county. The village raised what
was missing by selling old bricks with small brass plates.

The lamp stays dark until concrete has set. Then the museum opens again, with new windows, a lift for
those who cannot climb, and a room about the keepers who lived there for two centuries. The path along
the coast will be free a week earlier. Nobody expects that another move will be needed within fifty
years, though the chief engineer hopes that by then someone will have found a better soap.
"""
LINKS = "\n".join(f"- [Item {n} of the shop](https://e.org/{n})" for n in range(150))


def test_a_page_about_the_question_is_worth_more_than_another():
    about = assess(ARTICLE, query="lighthouse moved inland rails", title="The lighthouse walks")
    another = assess(ARTICLE, query="tomato blossom rot", title="The lighthouse walks")
    assert about.score > another.score + 0.2


def test_a_word_counts_more_in_the_title_than_in_a_heading_and_there_more_than_in_the_text():
    text = ARTICLE.removeprefix("# The lighthouse walks\n\n")
    title = assess(text, query="lighthouse", title="The lighthouse").score
    heading = assess(f"# The lighthouse\n\n{text}", query="lighthouse").score
    once = assess(f"{text}\n\nThe lighthouse is white.", query="lighthouse").score
    never = assess(text, query="lighthouse").score
    assert title > heading > once > never


def test_sentences_are_worth_more_than_links():
    assert assess(ARTICLE).score > assess(LINKS).score + 0.1


def test_documentation_is_worth_more_than_a_listing():
    scores = [assess(ARTICLE, query="tower", kind=kind).score for kind in (
        PageKind.DOCUMENTATION, PageKind.ARTICLE, None, PageKind.LISTING,
    )]  # fmt: skip
    assert scores == sorted(set(scores), reverse=True)


def test_every_kind_has_a_worth():
    assert all(0 < assess(ARTICLE, kind=kind).score <= 1 for kind in PageKind)


def test_a_long_page_that_is_not_free_is_worth_less_and_a_short_one_nothing():
    assert assess(ARTICLE, is_protected=True).score < assess(ARTICLE).score
    assert assess(ARTICLE, is_protected=True).poor is None
    assert assess(ARTICLE[:600], is_protected=True) == Quality(0.0, Poor.PAYWALL)


WALLS = [
    pytest.param(poor, phrase, id=f"{poor} {phrase}")
    for poor, phrases in PHRASES.items()
    if poor is not Poor.CONSENT
    for phrase in phrases
]


@pytest.mark.parametrize(("poor", "phrase"), WALLS)
def test_a_short_page_that_shows_a_wall_is_known_by_its_words(poor: Poor, phrase: str):
    text = f"# Example\n\n{phrase.capitalize()} the rest of what is here, and see more of it."
    assert assess(text, query="tower", title="Example").poor is poor


@pytest.mark.parametrize(("poor", "phrase"), WALLS[::7])
def test_a_long_page_may_speak_of_walls(poor: Poor, phrase: str):
    assert poor
    assert assess(f"{phrase}\n\n{ARTICLE}", query="tower").poor is None


def test_one_phrase_about_cookies_is_no_wall():
    text = "We make bread. {} We bake it each morning and sell it in the old town until noon."
    assert assess(text.format("Accept all cookies")).poor is None
    assert assess(text.format("We value your privacy. Accept all cookies.")).poor is Poor.CONSENT
    before = "Before you continue to Video, know that we use cookies and data to show ads."
    assert assess(text.format(before)).poor is Poor.CONSENT


def test_who_asks_about_a_wall_may_be_answered_by_one():
    text = "Please log in with your number. Those without one find the form at the town hall."
    assert assess(text, query="tower").poor is Poor.LOGIN
    assert assess(text, query="how to log in").poor is None


POOR = {
    "nothing": ("", Poor.EMPTY),
    "next to nothing": ("Home. Contact. Imprint.", Poor.EMPTY),
    "one word over and over": (
        "Cheap watches here. Watches cheap, watches now, buy watches. " * 30,
        Poor.SPAM,
    ),
    "one sentence over and over": (
        "The best offer of the whole town waits for you today. " * 40,
        Poor.SPAM,
    ),
    "a list of links": (LINKS, None),
    "a table": ("\n".join(f"| Box {n} | {n} cm | {n * 3} g |" for n in range(80)), None),
    "a list of products": ("## Monitor X\n\n24 inch, black, new\n\n" * 40, None),
    "Japanese": ("村の電気の九割をまかなう発電所が動き始めて五年がたった。", None),
    "Thai": ("ชาวบ้านยี่สิบครอบครัวเปิดบ้านพักให้นักท่องเที่ยว", None),
}


@pytest.mark.parametrize(("text", "poor"), POOR.values(), ids=POOR)
def test_what_is_poor_is_told_from_what_is_short_or_a_list(text: str, poor: Poor | None):
    assert assess(text).poor is poor


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            "Der Wärmepumpe wegen kamen viele Leute in das kleine Dorf am Rand der Stadt.",
            "warmepumpe",
        ),
        ("اشترى والده الكتاب القديم من السوق الكبير في وسط المدينة قبل سنوات طويلة", "كتاب"),
        ("発電所の建設費は六億八千万円だった。国の補助が三分の一だった。", "建設費"),
    ],
    ids=["German", "Arabic", "Japanese"],
)
def test_terms_are_found_in_any_script(text: str, query: str):
    assert assess(text, query=query).score > assess(text, query="zebra").score + 0.1


@given(st.text(), st.text(), st.text(), st.sampled_from([None, *PageKind]), st.booleans())
def test_any_page_has_a_worth_between_nothing_and_one(
    text: str, query: str, title: str, kind: PageKind | None, protected: object
):
    quality = assess(text, query=query, title=title, kind=kind, is_protected=bool(protected))
    assert 0 <= quality.score <= 1
    assert quality.poor is None or quality.score == 0


def text_of(seed: int, words: int = 600) -> str:
    dice = random.Random(seed)
    return " ".join(f"word{dice.randrange(400)}" for _ in range(words))


def changed(text: str, every: int) -> str:
    words = text.split(" ")
    words[every // 2 :: every] = ["else"] * len(words[every // 2 :: every])
    return " ".join(words)


TEXT, OTHER = text_of(1), text_of(2)


@pytest.mark.parametrize(
    "copy",
    [
        pytest.param(TEXT, id="itself"),
        pytest.param(TEXT.upper(), id="other letter case"),
        pytest.param(TEXT.replace(" ", "\n\n"), id="other lines"),
        pytest.param(f"**{TEXT}**", id="other marks"),
        pytest.param(changed(TEXT, 20), id="every twentieth word changed"),
        pytest.param(
            f"{OTHER[:500]} {TEXT} {OTHER[-300:]}", id="a fifth of foreign text around it"
        ),
        pytest.param(TEXT[: len(TEXT) * 4 // 5], id="its last fifth missing"),
    ],
)
def test_copies_resemble_each_other(copy: str):
    assert resemblance(sketch(TEXT), sketch(copy)) >= SAME


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(OTHER, id="another text of the same words"),
        pytest.param(changed(TEXT, 5), id="every fifth word changed"),
        pytest.param(f"{TEXT[: len(TEXT) // 3]} {OTHER}", id="a third of it, quoted"),
    ],
)
def test_other_texts_do_not(other: str):
    assert resemblance(sketch(TEXT), sketch(other)) < SAME


def test_two_rows_of_one_template_are_not_the_same():
    page = " ".join(
        f"Property {n} has the value {{0}}{n} and the mark {{1}}{n}." for n in range(60)
    )
    assert resemblance(sketch(page.format("a", "b")), sketch(page.format("x", "y"))) < SAME


def test_short_texts_are_never_the_same():
    assert sketch("These are a few words only. " * 20) == ()
    assert groups([sketch("a b c"), sketch("a b c")]) == {}


def test_the_first_of_each_group_stands_for_it():
    found = [sketch(text) for text in (OTHER, TEXT, changed(TEXT, 40), OTHER, TEXT)]
    assert groups(found) == {2: 1, 3: 0, 4: 1}


def test_a_chain_of_changes_does_not_join_its_ends():
    texts = [TEXT]
    for start in (0, 40, 80, 120, 160, 200, 240, 280):
        words = texts[-1].split(" ")
        words[start : start + 40] = [f"new{start}{at}" for at in range(40)]
        texts.append(" ".join(words))
    repeats = groups([sketch(text) for text in texts])
    assert repeats[1] == 0
    assert repeats.get(8) != 0


def test_a_sketch_is_the_same_in_every_process():
    words = " ".join(map(str, range(1_000, 1_200)))
    assert sketch(words)[0] == 114_184_587_527_151_853


@given(st.text(), st.text())
def test_any_two_texts_have_a_resemblance(one: str, other: str):
    assert 0 <= resemblance(sketch(one), sketch(other)) <= 1
    assert resemblance(sketch(one), sketch(other)) == resemblance(sketch(other), sketch(one))
