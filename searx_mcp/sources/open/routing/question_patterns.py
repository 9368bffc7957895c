"""How questions are put: frames around what is asked for, and words that name nothing."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from searx_mcp.content.function_words import FUNCTION_WORDS
from searx_mcp.sources.open.engine import word_set
from searx_mcp.sources.open.routing.tokens import Part
from searx_mcp.sources.open.routing.words import AMBIGUOUS, CODE, CODING, TECHNOLOGY
from searx_mcp.sources.open.table import ENGINES

MAX_KEYWORDS: Final = 6
_LONGEST: Final = 7
"""Words of the longest frame."""
_TIMES: Final = 3
"""Frames taken off one end: `please tell me`, `what is the best way to`."""


def _frames(text: str) -> frozenset[str]:
    return frozenset(" ".join(frame.split()) for frame in text.split(","))


PRACTICAL: Final = _frames("""
how do i, how do you, how do we, how to, how can i, how can we, how can you, how can one, how could i, how should i,
how would i, how would you, what is the best way to, what's the best way to, best way to, easiest way to,
is there a way to, is it possible to, is it legal to, is it safe to, is it ok to, can i, can you, can we, should i, why does my, why is my, why are my, why do my,
why won't my, why doesn't my, what should i, do i need to, how i can, how does one, tips for,
how long does it take to, how long should i, how long to, how much, how often should i, when should i,
wie kann ich, wie kann man, wie mache ich, wie macht man, wie geht, wie lasst sich, wie bekomme ich,
was ist der beste weg, kann man, kann ich, soll ich, warum ist mein, warum geht mein,
comment puis-je, comment faire pour, comment faire, comment on fait, comment peut-on, puis-je, comment,
como puedo, como se puede, como hacer, como se hace, como se, puedo
""")
"""These ask for doing something."""

DEFINING: Final = _frames("""
what is a, what is an, what is the, what is, what are, what's, whats, what was, what were, what does, what do,
define, definition of, meaning of, the meaning of, explain, who is, who was, who are, who were, who's,
was ist, was sind, was bedeutet, was heisst, wer ist, wer war, definition von,
qu'est-ce que, qu'est-ce qu, qu'est-ce qu'un, qu'est-ce qu'une, c'est quoi, qui est, qui etait, definition de,
que es, que son, que significa, quien es, quien fue, definicion de, was ist ein, was ist eine, que es un, que es una
""")
"""These ask what something is."""

_OPENING: Final = (
    PRACTICAL
    | DEFINING
    | _frames("""
    please, please tell me, tell me, tell me about, tell me more about, show me, find me, find, give me, i want, i want to,
    i need, i need to, i am looking for, i'm looking for, looking for, search for, searching for, do you know,
    what happened to, what happened with, what happened in, what do you know about, information about, information on, info on,
    info about, introduction to, intro to, a guide to, guide to, beginner's guide to, tutorial on, tutorial for, examples of,
    example of, an example of, overview of, an overview of, summary of, a summary of, list of, the, a, an, how does, how is, how are, how did,
    how was, how were, how much does, how much is, how many, how old is, how long is, how tall is, how far is, how big is,
    what is the difference between, what's the difference between, difference between, differences between,
    the difference between, which is better, which is the best, which, what kind of, what type of, what causes,
    what are the best, what is the best, what is the name of, what is the meaning of, what year did, what year was,
    where is, where is the, where are, where was, where can i find, where can i get, where can i buy, where do i find, where to find,
    where does, where do, when is, when was, when did, when does, when were, why is, why does, why do, why are, why did,
    why was, is there a, is there an, is there any, are there any, are there, could you, would you, have there been,
    does anyone know, anyone know, i have a question about, question about, help with, help me, in which,
    wie funktioniert, wie ist, wie wird, wie, wo ist, wo liegt, wo finde ich, wo kann ich, wann ist, wann war, wann wurde, warum ist,
    warum, wieso, weshalb, welche, welcher, welches, gibt es, ich suche, ich mochte, bitte, was ist der unterschied zwischen,
    unterschied zwischen, was kostet, wie viel kostet, informationen uber,
    ou est, ou se trouve, ou trouver, quand, pourquoi, quelle est la difference entre, difference entre, quel est,
    quelle est, quels sont, quelles sont, y a-t-il, je cherche, est-ce que, combien coute, combien de, informations sur,
    como funciona, como, donde esta, donde queda, donde puedo, cuando, cuando fue, por que, cual es la diferencia entre,
    diferencia entre, cual es, cuales son, hay, busco, cuanto cuesta, informacion sobre, existe
    """)
)

_MEDIA: Final = _frames("""
photo of, photos of, photograph of, photographs of, picture of, pictures of, image of, images of, pics of, pic of,
stock photo of, stock photos of, video of, videos of, video about, videos about, video on, videos on, a video of,
documentary on, documentary about, documentaries about, documentaries on, lecture on, lectures on, talk on, footage of,
lyrics of, lyrics to, lyrics for, the lyrics of, song by, songs by, the song, music by, album by, albums by,
discography of, map of, a map of, address of, coordinates of, location of, directions to, near me, nearest, closest, near,
sound of, sounds of, sound effect of, recording of, recordings of, news about, news on, news from, latest news on,
latest news about, latest news, breaking news, latest on, latest, headlines, recent news, updates on, update on,
paper on, papers on, paper about, papers about, research on, research about, studies on, studies about, study on, articles on,
article on, articles about, article about, preprint on, preprints on, research papers on, scientific papers on,
dataset of, dataset for, datasets for, datasets of, dataset about,
bilder von, bild von, foto von, fotos von, video von, videos uber, liedtext von, lieder von, nachrichten uber, nachrichten zu,
nachrichten aus, in der nahe von, karte von, adresse von, studien zu, dokumentation uber,
photo de, photos de, image de, images de, video de, videos de, paroles de, chanson de, chansons de, pres de, carte de,
actualites sur, etudes sur, documentaire sur, adresse de,
foto de, fotos de, imagen de, imagenes de, video de, videos de, letra de, cancion de, canciones de, cerca de, mapa de,
noticias sobre, noticias de, estudios sobre, documental sobre, direccion de
""")
"""These say what sort of thing is wanted; the engines have one sort each. In programs they mean other things."""

_SOURCES: Final = frozenset[str]().union(*(engine.words.frames for engine in ENGINES))
"""These say which collection is meant."""

_FAILURES: Final = _frames("""
not working, is not working, are not working, isn't working, doesn't work, does not work, don't work, won't work, stopped working,
keeps failing, no longer works, how to fix, how do i fix, fix for
""")
"""These say no more than that something fails."""

_ALWAYS: Final = _SOURCES | _FAILURES

_CLOSING: Final = _frames(
    "please, mean, meaning, definition, explained, in english, for me, thanks, thank you, bitte, s'il vous plait, por favor"
)
_CLOSING_MEDIA: Final = _frames("""
photo, photos, picture, pictures, image, images, pics, video, videos, lyrics, song, songs, news, paper, papers, preprint, preprints, latest, latest news,
today, this week, this month, near me, nearby, bilder, fotos, imagenes, liedtext, paroles, letra, nachrichten, noticias,
pdf, right now
""")
_NEWS_WORDS: Final = word_set(
    "news latest today breaking yesterday tonight headlines recent nachrichten actualites noticias"
)
_YEAR = re.compile(r"20[2-4][0-9]")

_ENGLISH: Final = word_set("""
    a about after all also an and any are as at be because been before being but by can could did do does doing done for from
    had has have having how i if in into is it its me more most my no nor not of on only or other our out over should so some
    such than that the their them then there these they this those to too us was we were what when where which while who whom
    whose why will with would you your he she his her him am im i'm i've i'd it's that's what's how's there's don't doesn't didn't
    isn't aren't can't cannot won't wouldn't shouldn't couldn't let's vs versus via between during within without upon per
    every each both either neither just really very actually ever still even much many s t
    """)  # fmt: skip
"""English words alone: those of another language may be names in an English question (`go`, `ai`, `os`)."""
_STRONG_FOREIGN: Final = word_set("""
    und der das ist fur mit ein eine einen einem wie im zum zur beim von vom auf nicht oder pour avec dans les des est sont une
    sur para con los una del por que como nao della che sono met voor een het niet
wann wurde warum welche wo wer quel quelle qui ou comment pourquoi donde cual
    """)
"""One of these is enough to make a question foreign."""
_ELISION = re.compile(r"(?:qu|[ldjnscmt])'(?=\w{2})", re.IGNORECASE)

_PARTICLE = re.compile("[\u3041-\u309f]{1,2}")
"""Hiragana that stand alone."""

WEAK: Final = word_set("""
    best good better great way ways example examples tutorial tutorials guide guides introduction intro overview explained
    explanation meaning definition difference differences list using use used uses make making get getting need want
    help please problem problems question questions simple easy easily quick quickly new old small big large work works working
    thing things different type types kind step steps beginner beginners basics top popular common latest recent
    current official free online information info facts documentation docs review reviews compare comparison
    proper properly correct right first last real possible available happen happens happened main
    name names number numbers same special specific various several related part parts
    """)
"""Words that stand in texts about anything."""
_FILLER: Final = word_set(
    "way ways using use used need want help please get getting good easily quickly properly correctly someone something anyone"
)
_NAMES: Final = CODE | AMBIGUOUS | CODING | TECHNOLOGY
_FOREIGN: Final = FUNCTION_WORDS - _ENGLISH - _NAMES
_ACRONYM_LENGTH: Final = 5
_LONG: Final = 10
"""Letters from which on a word counts as long."""


def opens_with(parts: Sequence[Part], frames: Collection[str]) -> bool:
    """Whether a question begins with one of some frames."""
    return bool(_frame_at(_tokens(parts), 0, frames))


def content(parts: Sequence[Part], *, is_code: bool, is_news: bool) -> tuple[Part, ...]:
    """What a question asks for: its parts without frames and without function words.

    Args:
        parts: of the query, in order.
        is_code: whether it is about programs; then `image of` and the like are no frames.
        is_news: whether it asks for news; then a year beside a word such as `latest` is part of the frame.

    Returns:
        Parts in their order; all of them if nothing else were left.
    """
    tokens = _tokens(parts)
    kept = [True] * len(tokens)
    _take_opening(tokens, kept)
    _take_inner(tokens, kept, _ALWAYS if is_code else _ALWAYS | _MEDIA)
    _take_closing(tokens, kept, _CLOSING if is_code else _CLOSING | _CLOSING_MEDIA)
    if is_news and _NEWS_WORDS.intersection(tokens):
        for place, token in enumerate(tokens):
            kept[place] &= token not in _NEWS_WORDS and not _YEAR.fullmatch(token)
    left = [part for part, keep in zip(parts, kept, strict=True) if keep]
    left = _without_function_words(left, is_foreign=_is_foreign(tokens))
    return tuple(left) or tuple(parts)


def keywords(parts: Sequence[Part]) -> tuple[str, ...]:
    """The texts of the parts that say most, at most six, in their order, each once."""
    once = {part.folded: part for part in reversed(parts)}
    parts = [part for part in parts if once.get(part.folded) is part]
    told = [part for part in parts if part.is_phrase or part.folded not in _FILLER]
    parts = told if len(told) > 1 else parts
    ranked = sorted(range(len(parts)), key=lambda place: -_weight(parts[place], place))
    return tuple(parts[place].text for place in sorted(ranked[:MAX_KEYWORDS]))


def _tokens(parts: Sequence[Part]) -> list[str]:
    # A phrase is no part of a frame.
    return ["" if part.is_phrase else part.folded for part in parts]


def _frame_at(tokens: Sequence[str], place: int, frames: Collection[str]) -> int:
    """The length of the longest frame that begins at a place, 0 if none does."""
    for length in range(min(_LONGEST, len(tokens) - place), 0, -1):
        if " ".join(tokens[place : place + length]) in frames:
            return length
    return 0


def _take_opening(tokens: Sequence[str], kept: list[bool]) -> None:
    place = 0
    for _ in range(_TIMES):
        length = _frame_at(tokens, place, _OPENING)
        kept[place : place + length] = [False] * length
        place += length


def _take_inner(tokens: Sequence[str], kept: list[bool], frames: Collection[str]) -> None:
    place = 0
    while place < len(tokens):
        length = _frame_at(tokens, place, frames)
        kept[place : place + length] = [False] * length
        place += max(1, length)


def _take_closing(tokens: Sequence[str], kept: list[bool], frames: Collection[str]) -> None:
    end = len(tokens)
    for _ in range(_TIMES):
        for length in range(min(_LONGEST, end), 0, -1):
            if " ".join(tokens[end - length : end]) in frames:
                kept[end - length : end] = [False] * length
                end -= length
                break


def _is_foreign(tokens: Sequence[str]) -> bool:
    english = sum(token in _ENGLISH for token in tokens)
    foreign = sum(token in _FOREIGN for token in tokens)
    return foreign > english and (foreign > 1 or not _STRONG_FOREIGN.isdisjoint(tokens))


def _without_function_words(parts: Sequence[Part], *, is_foreign: bool) -> list[Part]:
    shouts = all(part.text.isupper() for part in parts)
    left = []
    for part in parts:
        is_acronym = 1 < len(part.text) <= _ACRONYM_LENGTH and part.text.isupper() and not shouts
        is_name = part.is_phrase or part.folded in _NAMES or is_acronym
        drops = FUNCTION_WORDS if is_foreign or not part.folded.isascii() else _ENGLISH
        if is_name or not (part.folded in drops or _PARTICLE.fullmatch(part.folded)):
            left.append(_without_article(part) if is_foreign and not part.is_phrase else part)
    return left


def _without_article(part: Part) -> Part:
    """A word without the French article that is written onto it."""
    article = _ELISION.match(part.text)
    return Part(part.text[article.end() :], part.folded[article.end() :]) if article else part


def _weight(part: Part, place: int) -> float:
    """How much a part says: phrases and shapes of code most, then names, then long words."""
    text = part.text
    weight = min(len(text), _LONG) / _LONG
    has_digit = any(map(str.isdigit, text))
    if part.is_phrase:
        weight += 3
    if part.folded in WEAK:
        weight -= 2
    if part.folded in _NAMES:
        weight += 1
    if (
        any(map(str.isupper, text[1:]))
        or (has_digit and any(map(str.isalpha, text)))
        or "_" in text
    ):
        weight += 1.5
    elif place and text[:1].isupper():
        weight += 1
    elif text.replace(".", "").isdigit():
        weight -= 0.5
    return weight
