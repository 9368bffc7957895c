"""Which pages say the same."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.similar import SAME, groups, resemblance, sketch


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
