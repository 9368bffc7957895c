"""Words in any script, and terms for comparing texts: words without their endings, and pairs of letters.

`words` counts what a reader would call a word; terms are for matching. A question finds "prices" by "price",
"Wärmepumpe" by "warmepumpe", and in Han, kana, Thai, Lao, Khmer and Burmese, which are written without spaces, text by
runs of two or three letters. Words that say little about the subject of a text or a question are not terms.
"""

# ruff: noqa: RUF001 - Cyrillic letters that look like Latin ones are Cyrillic here

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_HAN: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Kana and Han, written without spaces: one character counts as a word."""

_SOUTH_EAST: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer."""

_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0e7f\u1000-\u109f\u1780-\u17d3"
    "\u200c\u200d"
)
"""Vowel signs and accents, which `\\w` does not match, by the blocks of their scripts."""

_WORD = re.compile(
    rf"[{_HAN}]|[^\W_{_HAN}](?:[^\W_{_HAN}]|[{_MARKS}]|['\u2019_-](?=[^\W_{_HAN}]))*+"
)
_SPECIAL = re.compile(rf"[{_HAN}{_MARKS}]")
_PLAIN_WORD = re.compile(r"[^\W_]++(?:['\u2019_-](?=[^\W_])[^\W_]++)*+")
"""The same for a text without any of these, in three quarters of the time."""

LINK_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
_SPACE = re.compile(r"(?<=\S)\s")

_SLICE: Final = 65_536
"""Characters searched at once if a text may be long: 5 ms, in which no other thread runs."""

_TERM_MARKS: Final = "\u0300-\u036f\u0591-\u05bd\u0900-\u0963\u0966-\u0dff\u200c\u200d"
"""The marks inside a term: without those of South-East Asia, whose letters are grouped in threes, and of Arabic, which
are removed before."""

_LETTER: Final = rf"[^\W_{_HAN}{_SOUTH_EAST}]"
_TERM: Final = rf"\d++(?:[.,]\d++)*+(?!{_LETTER})|{_LETTER}(?:{_LETTER}|[{_TERM_MARKS}])*"
_SPACELESS = re.compile(f"[{_HAN}{_SOUTH_EAST}]")
_TOKEN = re.compile(rf"([{_HAN}]+)|([{_SOUTH_EAST}]+)|({_TERM})")
_PLAIN_TOKEN = re.compile(
    rf"\d++(?:[.,]\d++)*+(?![^\W_])|[^\W_][^\W_{_TERM_MARKS}]*(?:[{_TERM_MARKS}]+[^\W_]*)*"
)
_ASCII_TOKEN = re.compile(r"\d++(?:[.,]\d++)*+(?![a-z])|[a-z0-9]+")
_ARABIC_LETTERS = re.compile("\u0627\u0644|\u0644\u0644")
_ARABIC_ARTICLE = re.compile(
    r"(?<!\w)(?:[\u0648\u0628\u0641\u0643]?\u0627\u0644|\u0644\u0644)(?=\w\w)"
)
"""In Arabic the article is joined to its noun, and so are "and", "with", "then" and "like" before it."""

_PREFIX: Final = 6
"""Letters of a word that count: truncation is the only stemming that works for every language. Chosen before anything
was measured; run `python -m benchmarks.summaries` after a change."""

_SHORTEST_PLURAL: Final = 4
_PAIR: Final = 2
_TRIPLE: Final = 3

_EN = """
a about after all also an and any are as at be because been before being but by can could did do
does doing for from had has have how i if in into is it its me more most my no not of on one only or
other our out over should so some such than that the their them then there these they this those to
too up us very was we were what when where which while who whom whose why will with would you your
"""
_DE = """
aber als am an auch auf aus bei bis da das dass dem den der des die dies diese doch durch ein eine
einem einen einer er es haben hatte ich ihr im in ist ja kann mehr mein mit muss nach
nicht noch nur oder schon sehr sein seine sich sie sind so uber um und uns unter vom von vor
warum was wenn wer werden wie wieso wird wo zu zum zur
"""
_FR = """
a ai au aussi aux avec c ce ces cette comme comment d dans de des donc du elle elles en est et etre
faut il ils j je l la le les leur leurs lui m mais me mes mon n ne nos notre nous on ont ou par pas
peut plus pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si sont
sur t ta te un une vos votre vous y
"""
_ES = """
al algo como con cual cuando de del desde donde el ella ellos en entre es esa ese eso esta este
esto estos fue ha han hasta la las le les lo los mas me mi muy ni no nos o para pero por porque
puede que quien se ser si sobre su sus tambien te tiene un una uno unos y ya yo
"""
_PT_IT_NL = """
ao aos as com como da das do dos e ela ele em foi isso isto mas na nas nem nos o os ou pela pelo por
quando que quem se sem seu sua sao um uma
che chi ci come con cui da dal dalla degli dei del della delle di e gli ha hanno ho i il io la le lo
ma nel nella non o per perche piu quale quando quello questa questo se sono su sul sulla tra un una
aan bij dat de deze die dit een en er het hij ik in is je kan maar met naar niet nog of
om onder ook op over te tot uit van veel voor waar waarom wat wel wie wordt ze zich zijn
"""
_RU_PL = """
а без более бы был была были было быть в вам вас во вот все всего вы где да для до его ее если есть
еще же за и из или им их к как какая какие какой ко когда кто ли мне мы на над не него нее нет ни
них но о об он она они оно от по под при с со так такой там то того тоже только том ты у уже чем что
чтобы эта эти это этот я
a bo by byc co czy dla do go i ich ich jak jaki je jego jest juz kiedy ktora ktory lub ma mi na
nie o od oraz po przez przy sa sie to tylko w z za ze
"""
_AR_FA_UR_HI = """
ان او اي الي الذي التي الا اذا به بها بين تم ثم حتي ذلك علي عن عند عندما غير في قد كان كانت كل كما
كيف لا لم لن له لها ليس ما ماذا متي مع من منذ منها هذا هذه هل هم هو هي هناك و يا
از است این با برای به تا در را که می های هم و یک
اور ایک پر جو سے کا کر کو کہ کی کے میں نے ہے ہیں یہ
अब अपने अपनी आप इस इसके इसे उन उनके उन्हें उस उसके उसे एक ऐसे और का कि किया की के को कोई कर करना
करने क्या क्यों कैसे गई गए गया जब जा जाता जाती जिस जिसमें जो तक तब तो था थी थे दिया दी दो द्वारा न
नहीं ने पर फिर भी मैं में यदि यह या ये रहा रही लिए वह वहाँ वे से हम ही हुआ हुई हुए है हैं हो होता
होती होने
"""
_TR_ID_VI = """
ama bir bu cok da daha de degil en gibi icin ile ise kadar ki mi mu nasil ne neden o olan olarak ve
veya ya
ada adalah akan apa atau bagaimana bisa dari dengan di dia dalam ini itu juga karena ke kita pada
saya sebagai tidak untuk yang
ba cac cai cho co cua da de den duoc khi khong la lam mot nay nhu nhung noi o ra the thi
toi trong tu va voi
"""
_CJK = """
什么 怎么 怎样 么样 如何 为什 哪些 哪个 哪里 我们 他们 你们 这个 那个 这些 那些 一个 一些 可以 因为
所以 但是 如果 以及 或者 没有 不是 就是 已经 之后 之前 进行 以后 時候 什麼 怎麼 為什 哪裡 我們 他們
這個 那個 沒有 可以 因為 何を 何が 何の 何か 何で 何割
이 그 저 것 수 등 및 또는 그리고 하지만 무엇 어떻게 왜 어디 있는 있다 하는 합니다 있습니다
"""

_ALL: Final = (_EN, _DE, _FR, _ES, _PT_IT_NL, _RU_PL, _AR_FA_UR_HI, _TR_ID_VI, _CJK)

FUNCTION_WORDS: Final = frozenset(word for words in _ALL for word in words.split())
"""In the form of `tokens`: lower case, without accents. A word of one language may be lost in another ("die", "are"),
except nouns there ("war", "fur", "door"), which are not listed; frequent words of a page have a low weight anyway."""

_ASKING_EN: Final = """
able accept accepted accepts according actually along already always among amount amounts another associated available become becomes begin begins besides between both call
called came can cannot come comes commonly compared considered consist contain contains depend depends did different done during each either end ends entity ever every exactly examples
exist exists far find found gave generally get gets getting give given gives go goes going got happen happened happens have held hold holds include
includes instead involve involves keep keeps kept kind kinds known large last lasts later let lets like likely long look looks made mainly
make makes making many mean means might much must myself name named need needed needs normally number numbers often old one ones order other
part parts people per percentage person possible prior provide provided provides put puts receive receives said same say says see seen several shall should
show shown shows specific start started starts still stop stops such take taken takes tell term than thing things thought took total try type types
typically article briefly content describe details document explain extract facts findings important information key main overview page
points question quote relevant section sentences summarise summarize summary text title topic website
typically until upon use used uses using usually want wants way ways went while within without work worked works would year years yet
"""
_ASKING_DE: Final = """
abschnitt andere anderen art artikel befand befindet bezeichnet bekommt bereits beim bedeutet braucht damit darf dazu durfen etwa erfolgt fallen gab geben gehen geht gibt ging
habe haben hat hatte hatten heisst hiess jede jedem jeden jeder jedes kommen kommt konnen konnte lange lautet liegt machen macht man muss mussen
neben nennt ohne oft seit soll sollte sollen statt viel viele vielen seite text zusammenfassen zusammenfassung verwendet verwenden wahrend wann ware waren welche wem wen wofur wovon welchem welchen welcher
welches wessen wieviel wurde wurden zwischen
"""
_ASKING_ROMANCE: Final = """
avait avoir combien deja devez doit doivent encore entre ete etait etre faire fait faut fois font lequel laquelle lesquels peut peuvent
pendant quels quelle quelles sert servir signifie sorte type utilise utiliser avez nom nomme appelle quoi page resume resumer article
cada cual cuales llama llamaba lugar nombre otro personas porcentaje quienes son termino tipo dio hizo tener pagina resumen resume articulo cuanta cuantas cuanto cuantos cuando debe deben donde durante dura eran estaba fue fueron hace hacer hay pueden puede
significa sirve tiene tienen usa usar
deve devem faz fazer fica ficam foi foram onde pode podem posso preciso quais qual quanta quantas quanto quantos tem nome chama tipo
quale quali quanti deve devono nome chiama tipo fare dove
"""
_ASKING_EAST: Final = """
делает делать другой есть зачем имеет каким какими какова мнению назовите назывался приведите процент такое типа чего чему значит какая какие какой какого каком какому какую какое каких который которая которые кем кого кому кто куда
может можно называется находится нового нужно надо почему сколько где
ile nazwa nazywa rodzaj jaka jaki jakie jakich jakim jest ktore ktory kto gdy gdzie mozna moze musi trzeba robi robic dzieje nalezy
adi bazi daki dan deki hangi kac kadar kimdi kimdir kimin nda nedir neler nelerdir neydi nin sey tane tur kim kime mi nasil nerede neden neyi neye neyin olur olmus yapilir eder etti simdi zaman
اخر اذكر اسم اين بعد بماذا تسمي تكون جانب ذين شيء عدد عليها فيها قام قبل كم ماذا متي من نسبه نوع يسمي يجب يمكن ايه لماذا
איזה איזו איך איפה האם כמה מה מי מתי אפשר צריך של את
कब किन किसका किसकी किसके किसे कुछ तरह दौरान नाम पास प्रकार बारे वर्ष सा साल सी कहाँ कितना कितनी कितने किसने किस कैसे कौन कौनसा क्यों सकते सकता
무슨 무엇 무엇인가요 누가 몇 얼마 얼마나 얼마인가요 어디 어떻게 언제 있나요 했나요 되나요 하나요 인가요
"""
ASKING_WORDS: Final = frozenset(
    word
    for words in (_ASKING_EN, _ASKING_DE, _ASKING_ROMANCE, _ASKING_EAST)
    for word in words.split()
)
"""Words of questions, in addition to `FUNCTION_WORDS`: a passage that answers need not have them."""

ASKING_PARTS: Final = (
    "总结", "概述", "要約", "什么时候", "有没有", "叫什么", "是什么", "为什么", "是谁", "何时", "何处", "哪一", "哪位", "哪种", "名字", "名称", "类型", "关于", "除了", "之外", "多少", "多久", "多长", "几个", "什么", "什麼", "哪个", "哪里", "哪些", "如何", "会怎样", "怎样", "几", "哪", "谁", "吗",
    "何という", "何ですか", "何曜日", "何人", "何度", "何を", "どうしますか", "どのくらい", "どちら", "いくら", "どこ", "誰", "いつ", "ですか", "ますか",
    "でした", "何", "เกี่ยวกับ", "เรียกว่า", "เมื่อไร", "อย่างไร", "ประเภท", "ที่ไหน", "สิ่งใด", "ใคร", "ใด", "เท่าไหร่", "เท่าไร", "อะไร", "ไหน", "ไหม", "กี่", "คือ",
)  # fmt: skip
"""The same in scripts without spaces, the longer ones first if one begins with another."""

_EXCEPTIONS: Final = """
unless except ausser sauf salvo excepto exceto eccetto tenzij behalve кроме oprocz chyba haric kecuali
"""
EXCEPTIONS: Final = frozenset(_EXCEPTIONS.split())
"""Words that take back a part of a statement, anywhere after that part."""

_NEGATIVE: Final = """
not no never without nor neither none nobody nothing nowhere cannot hardly barely
nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts
ne n pas jamais sans aucun aucune ni rien
nunca jamas sin ningun ninguno ninguna nada nadie tampoco
nao sem nem nenhum nenhuma
non senza nessun nessuno nessuna niente
niet geen nooit zonder noch niets
не ни нет никогда без никто ничего нельзя
nie nigdy bez ani nikt nic zaden zadna zadne
لا لم لن ليس ليست غير دون بدون نه هرگز نیست نہیں بغیر مت नहीं न मत बिना
degil yok asla hic
tidak bukan tanpa jangan belum
khong chua
"""
NEGATIONS: Final = frozenset(_NEGATIVE.split()) | EXCEPTIONS
"""Words that negate a statement, in the form of `folded`. Italian "mai" is not here: in German it is a month."""

_DENYING: Final = """
denies denied deny denying refutes refuted disputes disputed doubts doubted false untrue
bestreitet bestritt leugnet dementiert falsch nie conteste dement niega nego desmiente nega smentisce отрицает
"""
DENIALS: Final = NEGATIONS | frozenset(_DENYING.split())
"""Words that negate the clause after them."""

_CONTRASTING: Final = "but while whereas although aber sondern wahrend mais pero ma maar но"
CONTRASTS: Final = frozenset(_CONTRASTING.split())
"""Words that begin a contrasting clause."""

NEGATION_PARTS: Final = (
    "不", "没", "沒", "無", "无", "未", "ない", "ません", "なし", "なく", "ずに", "않", "없", "못",
    "ไม่", "ห้าม", "อย่า", "ยกเว้น",
)  # fmt: skip
"""The same in scripts without spaces, and where particles are joined to words."""

_FIGURES: Final = """
many much long far fast often old tall high deep wide big large loud heavy cost costs price prices
fee weight size length height width age date dates year years deadline duration percent number
temperature speed minimum maximum version limit
viel viele lange weit hoch gross schwer teuer kostet kosten preis gewicht wann datum dauer anzahl
combien prix cout poids taille longueur date duree nombre niveau
cuanto cuanta cuantos cuantas precio cuesta peso fecha cuando largo
quanto quanta quanti quantas preco prezzo
сколько цена стоит стоимость когда дата вес длина температура
كم تكلفه سعر متي عدد طول
कितना कितनी कितने कब मूल्य खर्च
"""

FIGURE_WORDS: Final = frozenset(_FIGURES.split())
"""Words of a question whose answer usually contains a figure."""

FIGURE_PARTS: Final = (
    "多少", "几个", "多长", "多大", "多高", "费用", "价格", "何割", "何人", "何年", "いくら", "いくつ",
    "どのくらい", "料金", "費", "値段", "เท่าไร", "เท่าไหร่", "ราคา", "กี่", "얼마", "몇",
)  # fmt: skip
"""The same in scripts without spaces, and where particles are joined to words."""


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case, in order.

    Args:
        text: plain text or Markdown; the addresses of links do not count.

    Returns:
        Words; a Han character or kana is a separate word.
    """
    text = LINK_TARGET.sub("", text).lower()
    return (_WORD if _SPECIAL.search(text) else _PLAIN_WORD).findall(text)


def count(text: str) -> int:
    """Count the words of a text of any length."""
    return sum(len(words(piece)) for piece in pieces(text))


def pieces(text: str) -> Iterator[str]:
    """Split a text into pieces of 64 Ki characters, each cut before a space if one is near enough."""
    start = 0
    while len(text) - start > _SLICE:
        space = _SPACE.search(text, start + _SLICE, start + 2 * _SLICE)
        end = space.start() if space else start + _SLICE
        yield text[start:end]
        start = end
    yield text[start:]


def _folded_letters() -> dict[str, str]:
    letters = {
        chr(number): unicodedata.normalize("NFD", chr(number))[0]
        for number in (*range(0xE0, 0x250), *range(0x1E00, 0x1F00))
        if unicodedata.decomposition(chr(number))
    }
    pairs = ("øo", "đd", "łl", "\u0131i", "ёе", "أا", "إا", "آا", "ىي", "ةه", "یي", "کك")
    letters |= {pair[0]: pair[1] for pair in pairs} | {"ß": "ss", "æ": "ae", "œ": "oe"}
    marks = (*range(0x300, 0x370), 0x640, *range(0x64B, 0x653))
    return letters | dict.fromkeys(map(chr, marks), "")


_FOLDED: Final = _folded_letters()
"""Latin letters without their accents, Arabic without its vowel signs, and letters with two spellings."""
_FOLDABLE = re.compile(f"[{''.join(_FOLDED)}]")


def tokens(text: str) -> list[str]:
    """Return the comparable pieces of a text, in order.

    Args:
        text: plain text or Markdown; the addresses of links are left out.

    Returns:
        Words in lower case without accents; pairs of Han and kana; triples of South-East Asian letters.
    """
    if "](" in text:
        text = LINK_TARGET.sub("", text)
    text = folded(text)
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    if _ARABIC_LETTERS.search(text):
        text = _ARABIC_ARTICLE.sub("", text)
    if not _SPACELESS.search(text):
        return _PLAIN_TOKEN.findall(text)
    found: list[str] = []
    for token in _TOKEN.finditer(text):
        match token.lastindex:
            case 1:
                found += _grams(token[0], _PAIR)
            case 2:
                found += _grams(token[0], _TRIPLE)
            case _:
                found.append(token[0])
    return found


def folded(text: str) -> str:
    """A text in lower case, without accents."""
    text = text.lower()
    return text if text.isascii() else _FOLDABLE.sub(lambda letter: _FOLDED[letter[0]], text)


def stems(found: list[str]) -> list[str]:
    """Return the distinctive stems among some tokens: no function words, and no endings."""
    return [
        token[:_PREFIX]
        if len(token) > _PREFIX
        else token[:-1]
        if len(token) >= _SHORTEST_PLURAL and token[-1] == "s" and token[-2] != "s"
        else token
        for token in found
        if token not in FUNCTION_WORDS
    ]


def terms(text: str) -> list[str]:
    """The terms of a text, in order; function words count only if there is nothing else."""
    found = tokens(text)
    return stems(found) or found


def _grams(run: str, size: int) -> list[str]:
    if len(run) <= size:
        return [run]
    grams = [run[at : at + size] for at in range(len(run) - size + 1)]
    # Pairs of only hiragana are endings and particles; a new Han word begins after kana.
    kept = [gram for gram in grams if not ("\u3040" <= gram[0] < "\u30a0" > gram[1])]
    return kept or grams
