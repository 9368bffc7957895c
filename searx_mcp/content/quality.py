"""How useful a page is for a query, and which pages are copies of one text.

The score is 0.5 relevance + 0.35 density + 0.15 for its kind, each 0 to 1, and 0 for a page with nothing useful.

- *Relevance*: the mean over the terms of the question of how well the page covers each: 1 in the title, 0.9 in a
  heading, else n / (n + 1.5) for n occurrences in the text.
- *Density*: how long it is (0.4, full from 600 words on), how much of it is sentences (0.3), and how little of it is
  links (0.3).
- *Kind*: how useful pages of the kind usually are.

Without a question, density and kind make up the whole score.

Copies are pages with the same text at several addresses. A page is reduced to a sketch, the smallest hashes of its
runs of words (bottom-k sketch: Broder, "On the resemblance and containment of documents", 1997). The share of equal
hashes among the smallest of both is an estimate of the share of equal runs.
"""

# ruff: noqa: RUF001 - letters that look like Latin ones are of other scripts here

import heapq
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from searx_mcp.content.words import LINK_TARGET, folded, stems, terms, tokens
from searx_mcp.models.page import PageKind
from searx_mcp.models.response import Poor

_RELEVANCE: Final = 0.5
_DENSITY: Final = 0.35
_KIND: Final = 0.15
"""A page about something else is useless even if it is dense, so relevance has half."""

_KINDS: Final[Mapping[PageKind | None, float]] = {
    PageKind.DOCUMENTATION: 1.0,
    PageKind.ARTICLE: 0.9,
    PageKind.FORUM: 0.8,
    PageKind.COLLECTION: 0.35,
    PageKind.LISTING: 0.35,
}
_OTHER_KIND: Final = 0.6

_IN_TITLE: Final = 1.0
_IN_HEADING: Final = 0.9
_HALF: Final = 1.5

_LOOKED_AT: Final = 4_000
"""Characters of the page that are read for density and signs; about 0.5 ms."""
_SEARCHED: Final = 20_000
"""Characters in which the terms of the question are counted."""
_FULL: Final = 600
_SENTENCE: Final = 30

_EMPTY: Final = 10
"""With fewer words, there is nothing to read."""
_SHORT: Final = 200
"""With fewer words, a page may be only a wall."""
_FIRST_SCREEN: Final = 1_000
_ERROR_SCREEN: Final = 300
_CONSENTS: Final = 2
"""Fewest phrases about cookies on a wall; many pages have one in the footer."""

_JUDGED: Final = 80
"""Fewest words for judging repetition."""
_STUFFED: Final = 0.2
_STUFFED_LIST: Final = 0.4
_REPEATED: Final = 0.65
"""Spam: the share of its most frequent word, or of its runs of four words that occur four times or more; in a list only
the first, from `_STUFFED_LIST` on. Set so that none of the 1,497 main texts of WCXB's
development set is spam: rows of products have repeated runs up to .85 and a word up to .25."""
_LISTED: Final = 40
"""Words per full stop from which a text is a list: rows of products may repeat each other."""
_RUN: Final = 4
_OFTEN: Final = 4
_SHORTEST_KEYWORD: Final = 3

_PROTECTED: Final = 0.6
"""Factor for the score of a page that declares that it is not free: the rest may be behind a wall."""

_LABEL = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*)$", re.MULTILINE)
_SENTENCE_END = re.compile(
    "[.!?\u2026\u061f\u06d4\u0964\u17d4\u104b](?=\\s|$)|[\u3002\uff01\uff1f]"
)
_UNPUNCTUATED = re.compile("[\u0e00-\u0eff]")
"""Thai and Lao, whose sentences have no punctuation."""
_UNKNOWN_PROSE: Final = 0.7
_JOINED: Final = "\u0600"
"""First character of the scripts in which a term may be inside a longer run of letters."""

PHRASES: Final[Mapping[Poor, tuple[str, ...]]] = {
    Poor.PAYWALL: (
        "subscribe to continue", "subscribe to read", "subscribe now to read",
        "this article is for subscribers", "this content is for subscribers",
        "for subscribers only", "to continue reading, subscribe", "unlock this article",
        "you have reached your limit of free articles", "you've reached your limit of free",
        "weiterlesen mit", "nur für abonnenten", "jetzt abonnieren und weiterlesen",
        "abonnez-vous pour", "réservé aux abonnés", "il vous reste % de cet article",
        "suscríbete para", "solo para suscriptores", "exclusivo para suscriptores",
        "assine para continuar", "exclusivo para assinantes", "abbonati per",
        "riservato agli abbonati", "alleen voor abonnees", "только для подписчиков",
        "оформите подписку, чтобы", "tylko dla subskrybentów", "kup dostęp, aby",
        "اشترك للقراءة", "للمشتركين فقط", "订阅后阅读", "仅限订阅", "会员专享",
        "有料会員限定", "この記事は有料", "구독자 전용", "सब्सक्राइब करें",
    ),
    Poor.LOGIN: (
        # English
        "log in to continue", "sign in to continue", "log in to view", "sign in to view",
        "log in to see", "sign in to see", "log in to read", "sign in to read", "please log in",
        "please sign in", "please login", "you must be logged in", "you need to be logged in",
        "you must log in", "you must sign in", "login required", "sign up to see",
        "create an account to continue", "for members only", "members-only content",
        # German
        "bitte melden sie sich an", "melden sie sich an, um", "melde dich an, um",
        "einloggen, um", "anmelden, um", "bitte einloggen", "sie müssen angemeldet sein",
        # French
        "connectez-vous pour", "veuillez vous connecter", "identifiez-vous pour",
        "vous devez être connecté", "réservé aux membres",
        # Spanish
        "inicia sesión para", "inicie sesión para", "debes iniciar sesión",
        "debe iniciar sesión", "regístrate para", "solo para miembros",
        # Portuguese
        "faça login para", "inicie sessão para", "entre para continuar", "faça o login",
        # Italian
        "accedi per", "effettua il login", "effettua l'accesso", "devi accedere",
        # Dutch
        "log in om", "meld je aan om", "meld u aan om", "je moet ingelogd zijn",
        # Russian
        "войдите, чтобы", "необходимо войти", "необходимо авторизоваться",
        "авторизуйтесь, чтобы", "только для зарегистрированных",
        # Polish
        "zaloguj się, aby", "musisz się zalogować", "zaloguj się aby",
        # Turkish
        "giriş yapmalısınız", "devam etmek için giriş yapın",
        # Arabic
        "سجل الدخول", "تسجيل الدخول للمتابعة", "يرجى تسجيل الدخول", "يجب تسجيل الدخول",
        # Hindi
        "लॉग इन करें", "कृपया लॉगिन करें",
        # Chinese
        "请登录", "请先登录", "登录后查看", "登录后才能", "請登入", "請先登入", "需要登录",
        # Japanese
        "ログインしてください", "ログインが必要", "会員限定", "ログインすると",
        # Korean
        "로그인이 필요", "로그인 후 이용", "로그인해 주세요",
    ),
    Poor.SCRIPT: (
        "enable javascript", "javascript is disabled", "requires javascript", "needs javascript",
        "javascript is required", "turn on javascript", "without javascript",
        "aktivieren sie javascript", "javascript aktivieren", "benötigt javascript",
        "activer javascript", "activez javascript", "javascript est désactivé",
        "active javascript", "habilite javascript", "abilita javascript",
        "javascript inschakelen", "schakel javascript in", "включите javascript",
        "włącz javascript", "javascript'i etkinleştirin", "تفعيل جافا سكريبت",
        "启用javascript", "启用 javascript", "javascriptを有効", "javascript를 활성화",
        "जावास्क्रिप्ट सक्षम",
    ),
    Poor.CONSENT: (
        "accept all cookies", "accept cookies", "cookie preferences", "manage cookies",
        "we value your privacy", "before you continue to", "reject all", "we use cookies and data to",
        "alle cookies akzeptieren", "alle akzeptieren", "wir verwenden cookies",
        "tout accepter", "nous utilisons des cookies", "accepter les cookies",
        "aceptar todas las cookies", "aceptar cookies", "utilizamos cookies",
        "aceitar todos os cookies", "accetta tutti", "utilizziamo i cookie",
        "alle cookies accepteren", "accepteer cookies", "принять все", "используем файлы cookie",
        "akceptuję", "używamy plików cookie", "çerezleri kabul et", "قبول الكل",
        "ملفات تعريف الارتباط", "接受所有cookie", "cookieを使用", "쿠키를 사용",
    ),
    Poor.PARKED: (
        "domain is for sale", "domain may be for sale",
        "buy this domain", "domain is parked", "parked free",
        "this domain has expired", "inquire about this domain", "make an offer on this domain",
        "domain steht zum verkauf", "domain kaufen",
        "ce domaine est à vendre", "nom de domaine est à vendre",
        "este dominio está en venta", "dominio en venta", "este domínio está à venda",
        "questo dominio è in vendita", "dit domein is te koop", "домен продается",
        "домен продаётся", "domena na sprzedaż", "域名正在出售", "域名出售",
        "このドメインは販売", "このドメインは、お名前", "도메인을 판매", "هذا النطاق للبيع",
    ),
    Poor.ERROR: (
        "404 not found", "page not found", "error 404", "404 error", "403 forbidden",
        "access denied", "access to this page has been denied", "500 internal server error",
        "502 bad gateway", "503 service unavailable", "service temporarily unavailable",
        "this page could not be found", "this page doesn't exist", "page does not exist",
        "this page isn't available", "page you requested could not be found",
        "the page you are looking for", "something went wrong", "has been removed by the user",
        "seite nicht gefunden", "seite existiert nicht", "seite wurde nicht gefunden",
        "page introuvable", "page non trouvée", "cette page n'existe pas",
        "página no encontrada", "la página no existe", "página não encontrada",
        "pagina non trovata", "pagina niet gevonden", "страница не найдена",
        "такой страницы нет", "nie znaleziono strony", "strona nie istnieje",
        "sayfa bulunamadı", "الصفحة غير موجودة", "पृष्ठ नहीं मिला", "页面不存在", "找不到页面",
        "頁面不存在", "找不到網頁", "ページが見つかりません", "お探しのページ", "페이지를 찾을 수 없",
    ),
}  # fmt: skip
"""Phrases in fifteen languages, as sites write them; the first match counts."""

_SHINGLE: Final = 3
"""Words of a run. Two pages on one subject have common words, but few common runs of three."""
_HASHES: Final = 128
"""Hashes of a sketch: the estimate is off by .04 (one standard deviation) at the threshold."""
_MAX_CHARS: Final = 8_000
"""Characters of the text that are sketched; 2 to 3 ms. Copies are alike from the beginning."""
_FEWEST: Final = 150
"""A text with fewer runs is not sketched: a copy of it costs little, and short pages of one template are alike but have
different content."""

SAME: Final = 0.6
"""Share of equal runs from which two pages count as one. Measured on the texts in `benchmarks/summaries_data`: copies
with every fortieth word changed have .87, with every twentieth .74, with a fifth of foreign text around them .83; two
different texts .01 at most, two pages of one template with other values .16. Run `tests/content/test_quality.py` after
a change."""

Sketch = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of a page.

    Attributes:
        score: 0 to 1.
        poor: why the page is useless, or `None`.
    """

    score: float
    poor: Poor | None = None


def assess(
    markdown: str,
    *,
    query: str = "",
    title: str = "",
    kind: PageKind | None = None,
    is_protected: bool = False,
) -> Quality:
    """Assess a page.

    Args:
        markdown: its main content, or the beginning of it.
        query: what the reader wants to know; may be empty.
        title: of the page.
        kind: of the page, if it is known.
        is_protected: whether it declares that it is not free to read.
    """
    asked = tuple(dict.fromkeys(terms(query))) if query else ()
    beginning = LINK_TARGET.sub("", markdown[:_LOOKED_AT])
    found = tokens(beginning)
    poor = _wall(beginning, title, found, asked)
    if poor is None and is_protected and len(found) < _SHORT:
        poor = Poor.PAYWALL
    if poor is None and _is_spam(beginning, found):
        poor = Poor.SPAM
    if poor is not None:
        return Quality(0.0, poor)
    score = _DENSITY * _density(markdown, beginning, found) + _KIND * _KINDS.get(kind, _OTHER_KIND)
    if asked:
        score += _RELEVANCE * _relevance(markdown, title, asked)
    else:
        score /= _DENSITY + _KIND
    return Quality(round(score * (_PROTECTED if is_protected else 1.0), 4))


def _relevance(markdown: str, title: str, asked: Sequence[str]) -> float:
    """Return how much of the question the page covers."""
    text = markdown[:_SEARCHED]
    in_title = set(terms(title))
    in_headings = set(terms(" ".join(_HEADING.findall(text))))
    counts = _counts(text, [term for term in asked if term not in in_title])
    return sum(
        _IN_TITLE
        if term in in_title
        else max(_IN_HEADING * (term in in_headings), counts[term] / (counts[term] + _HALF))
        for term in asked
    ) / len(asked)


def _counts(text: str, wanted: Sequence[str]) -> dict[str, int]:
    """Count terms in a text, as beginnings of words: faster than splitting it into words."""
    lower = folded(text)
    return {
        term: lower.count(term)
        if term >= _JOINED
        # The literal first, which makes the search fast; then a check that no letter precedes it.
        else len(re.findall(rf"{re.escape(term)}(?<!\w{re.escape(term)})", lower))
        for term in wanted
    }


def _density(markdown: str, beginning: str, found: Sequence[str]) -> float:
    size = len(found) * max(1.0, len(markdown) / max(1, _LOOKED_AT))
    amount = min(1.0, math.log1p(size) / math.log1p(_FULL))
    linked = sum(map(len, _LABEL.findall(markdown[:_LOOKED_AT]))) / max(1, len(beginning))
    if _UNPUNCTUATED.search(beginning):
        prose = _UNKNOWN_PROSE
    else:
        prose = min(1.0, _SENTENCE * len(_SENTENCE_END.findall(beginning)) / max(1, len(found)))
    return 0.4 * amount + 0.3 * prose + 0.3 * (1 - min(1.0, linked))


def _wall(beginning: str, title: str, found: Sequence[str], asked: Sequence[str]) -> Poor | None:
    """Return the kind of wall that a short page shows instead of content."""
    if len(found) >= _SHORT:
        return None
    screen = f"{title}\n{beginning[:_FIRST_SCREEN]}".lower()
    for poor, phrases in PHRASES.items():
        shown = screen[: len(title) + _ERROR_SCREEN] if poor is Poor.ERROR else screen
        hits = [phrase for phrase in phrases if phrase in shown]
        enough = _CONSENTS if poor is Poor.CONSENT else 1
        # For a question about logging in or about an error, such a page may well be the answer.
        if len(hits) >= enough and not set(asked) & set(stems(tokens(" ".join(hits)))):
            return poor
    return Poor.EMPTY if len(found) < _EMPTY else None


def _is_spam(beginning: str, found: list[str]) -> bool:
    """Whether a text repeats itself more than a person would."""
    if len(found) < _JUDGED:
        return False
    keywords = Counter(
        stem for stem in stems(found) if len(stem) >= _SHORTEST_KEYWORD or stem >= _JOINED
    )
    top = max(keywords.values(), default=0) / len(found)
    is_list = len(_SENTENCE_END.findall(beginning)) * _LISTED < len(found)
    if is_list or top >= _STUFFED:
        return top >= (_STUFFED_LIST if is_list else _STUFFED)
    runs = Counter(zip(*(found[at:] for at in range(_RUN)), strict=False))
    return sum(count for count in runs.values() if count >= _OFTEN) / len(found) >= _REPEATED


def sketch(text: str) -> Sketch:
    """Compute the sketch of a text, by which copies are recognised.

    Args:
        text: Markdown or plain text; addresses, marks and letter case are ignored.

    Returns:
        Hashes in order; empty for a text with too few words.
    """
    found = tokens(text[:_MAX_CHARS])
    runs = {" ".join(found[at : at + _SHINGLE]) for at in range(len(found) - _SHINGLE + 1)}
    if len(runs) < _FEWEST:
        return ()
    hashes = sorted(blake2b(run.encode("utf-8", "replace"), digest_size=8).digest() for run in runs)
    return tuple(map(int.from_bytes, hashes[:_HASHES]))


def resemblance(left: Sketch, right: Sketch) -> float:
    """Estimate the share of runs that two texts have in common, 0 to 1."""
    if not (left and right):
        return 0.0
    smallest = heapq.nsmallest(_HASHES, {*left, *right})
    both = {*left} & {*right}
    return sum(each in both for each in smallest) / len(smallest)


def groups(sketches: Sequence[Sketch]) -> dict[int, int]:
    """Find the texts that repeat an earlier one.

    Args:
        sketches: in order of rank.

    Returns:
        For the index of each copy, the index of the first text like it. A text is compared only with first
        ones, so that a chain of small changes does not join its ends.
    """
    firsts: list[int] = []
    repeats: dict[int, int] = {}
    for place, found in enumerate(sketches):
        first = next((each for each in firsts if resemblance(sketches[each], found) >= SAME), None)
        if first is not None:
            repeats[place] = first
        elif found:
            firsts.append(place)
    return repeats
