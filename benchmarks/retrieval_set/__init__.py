"""Pages and questions by which retrieval is judged.

Under `pages` stand Markdown pages of invented things, in clusters that are easily confused; `questions.jsonl`
says what is asked of each, in which section the answer stands, and in which words. Both were written before
there was a retriever, and no question is to be changed by what one finds (README.md).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
LOW: Final = 0.35
"""An overlap below this counts as low: the question is asked in other words than the page's."""

_HEADING: Final = re.compile(r"(#{1,6}) +(.+)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_UNSPACED: Final = re.compile(
    "(?P<thai>[\u0e00-\u0e7f]+)|(?P<han>[\u3005\u3040-\u30ff\u3400-\u9fff]+)"
)
_HIRAGANA: Final = re.compile("[\u3040-\u309f]+")
_VOWEL: Final = re.compile("[aeiouy]")
_DOUBLED: Final = re.compile(r"([^aeiouylsz])\1$")
_SUFFIX: Final = re.compile(
    "(?:ational|ization|isation|fulness|ousness|iveness|ations?|ement|ment|ness|able|ible|ance|ence"
    "|ator|iti|ive|ize|ise|ant|ent|ism|ist|ion|ous|ful|al|er|or|ic|li)$"
)
_STEM: Final = 3
"""Characters that a suffix has to leave."""
_LISTED: Final = (
    # English
    "a about after again all also am an and any are as at be because been before being between both but by "
    "can cannot could did do does doing don't down during each either else ever every few for from further "
    "get gets getting give given go goes going got had has have having he her here hers him his how i i'm "
    "if in into is isn't it it's its just let like long lot make makes many may me might mine more most much "
    "must my need needs neither no nor not now of off on once one only or other our ours out over own per "
    "please same shall she should so some still such than that that's the their theirs them then there "
    "these they thing things this those through to too under until up us use used using very want was we "
    "were what what's when where whether which while who whom whose why will with within without would "
    "yes yet you your yours "
    # German
    "aber als am an auf auch aus bei bin bis da das dass dem den der des die dies du ein eine einem einen "
    "einer eines er es für habe haben hat hier ich ihr im in ist ja kann kein keine man mein meine mich mir "
    "mit muss nach nicht noch nur ob oder ohne sein sich sie sind so über um und uns unter vom von vor wann "
    "war was welche welcher welches wenn wer wie wieviel wird wo zu zum zur "
    # French
    "à au aux avec ce ces cette combien comment d'un d'une dans de des du elle en est est-ce et faut il "
    "ils je l'on la le les leur ma mais me mes moi mon ne nous on ou où par pas peut pour pourquoi puis "
    "qu'est qu'il quand que quel quelle quelles quels qui quoi sa sans se ses si son sont sur un une vous y "
    # Spanish
    "al como cómo con cual cuál cuáles cuando cuándo cuánta cuántas cuánto cuántos de del dónde el ella en "
    "es esta este está hay la las le lo los me mi muy no o para pero por puede puedo qué que quién se ser "
    "si sin sobre son su sus también te tengo tiene un una y ya"
)
_STOP_WORDS: Final = frozenset(_LISTED.split())


class Kind(StrEnum):
    """How a question relates to the passage that answers it."""

    DIRECT = "direct"
    PARAPHRASE = "paraphrase"
    VAGUE = "vague"
    CODE = "code"
    TABLE = "table"
    NEGATION = "negation"
    CROSS_LINGUAL = "cross_lingual"
    COMPOUND = "compound"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one page.

    Attributes:
        id: unique in the set.
        question: as a person or an agent asks it.
        page: file name of the page that answers.
        section: headings above the answer, from the title down.
        answer: words of that section that answer, 20 to 200 characters.
        kind: how the question relates to the answer.
    """

    id: str
    question: str
    page: str
    section: tuple[str, ...]
    answer: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Section:
    """What stands below one heading, up to the next of any level.

    Attributes:
        path: the headings, from the title down to its own.
        text: what stands there, without the headings.
    """

    path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """The whole set.

    Attributes:
        pages: Markdown by file name.
        questions: in the order of the file.
    """

    pages: Mapping[str, str]
    questions: tuple[Question, ...]

    def section(self, question: Question) -> Section:
        """The section that answers a question.

        Raises:
            LookupError: the page or the section is not there.
        """
        for section in sections(self.pages[question.page]):
            if section.path == question.section:
                return section
        raise LookupError(f"{question.page} has no section {' > '.join(question.section)}")

    def overlap(self, question: Question) -> float:
        """Share of a question's content words, 0 to 1, that its section or a heading above holds."""
        section = self.section(question)
        asked = content_words(question.question)
        held = content_words("\n".join((*section.path, section.text)))
        return len(asked & held) / len(asked) if asked else 0.0


def load() -> RetrievalSet:
    """Read the set from its files."""
    pages = {
        each.name: each.read_text(encoding="utf-8") for each in sorted(HERE.glob("pages/*.md"))
    }
    lines = (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return RetrievalSet(pages, tuple(_question(json.loads(line)) for line in lines))


def language(page: str) -> str:
    """The language of a page by its file name: `bread.de.md` is German, `bread.md` English."""
    _, _, code = page.removesuffix(".md").rpartition(".")
    return code if len(code) == 2 and "." in page.removesuffix(".md") else "en"


def sections(markdown: str) -> tuple[Section, ...]:
    """The sections of a page in their order; a line in a code fence is no heading."""
    path: tuple[str, ...] = ()
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for line, is_code in _lines(markdown):
        heading = None if is_code else _HEADING.fullmatch(line.rstrip())
        if heading:
            path = (*path[: len(heading[1]) - 1], heading[2])
            found.append((path, []))
        elif found:
            found[-1][1].append(line)
    return tuple(Section(path, "\n".join(lines).strip()) for path, lines in found)


def content_words(text: str) -> frozenset[str]:
    """Stems of the words of a text that are no stop words.

    Scripts without spaces give pairs of characters (Chinese and Japanese, without pairs of Hiragana) or
    runs of four (Thai).
    """
    folded = text.casefold()
    words = (each[0] for each in _WORD.finditer(_UNSPACED.sub(" ", folded)))
    stems = {_stem(word) for word in words if word not in _STOP_WORDS}
    return frozenset(stems.union(*(_runs(each) for each in _UNSPACED.finditer(folded))))


def _question(entry: Mapping[str, object]) -> Question:
    headings = entry["section"]
    if not isinstance(headings, list):
        raise TypeError(f"the section of {entry['id']} is no list")
    return Question(
        id=str(entry["id"]),
        question=str(entry["question"]),
        page=str(entry["page"]),
        section=tuple(map(str, headings)),
        answer=str(entry["answer"]),
        kind=Kind(str(entry["kind"])),
    )


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code."""
    fence = ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence):
                fence = ""
        else:
            yield line, mark is not None
            fence = mark[1] if mark else ""


def _runs(found: re.Match[str]) -> set[str]:
    size = 4 if found["thai"] else 2
    runs = {found[0][at : at + size] for at in range(max(1, len(found[0]) - size + 1))}
    return {run for run in runs if not _HIRAGANA.fullmatch(run)}


def _stem(word: str) -> str:
    """What is left of a word without its ending, much as Porter's stemmer cuts it."""
    word = re.sub("['\u2019]s?$", "", word)
    if word.endswith("sses") or (word.endswith("ies") and len(word) > _STEM + 2):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > _STEM:
        word = word[:-1]
    for ending in ("ing", "ed"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= _STEM - 1 and _VOWEL.search(left):
            word = _DOUBLED.sub(r"\1", left)
            break
    if word.endswith("y") and len(word) > _STEM:
        word = word[:-1] + "i"
    for _ in range(2):
        left = _SUFFIX.sub("", word)
        if len(left) > _STEM:
            word = left
    return word.removesuffix("e") if len(word) > _STEM else word
