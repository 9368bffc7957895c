"""Sections recognised by their heading: more articles, sharing, comments, reviews by buyers.

The headings are known in the languages of most pages. WCXB dev F1 is .8563 with these sections removed and .8555
without; run `python -m benchmarks.extraction PATH` after changing this module.
"""

import re
from itertools import islice
from typing import Final

from searx_mcp.content.main.shapes import Shapes
from searx_mcp.content.main.text_density import Element, live
from searx_mcp.content.tree import HEADINGS, RemovalRule
from searx_mcp.models.page import PageKind

_MAX_CHARS: Final = 60
"""A longer heading is a sentence of the text."""

_WORDS: Final = re.compile(r"[^\W_]+")

_AWAY: Final = frozenset(
    """
    related|related articles|related posts|related content|related topics|related stories|related news|
    related links|related reading|related products|related resources|related reads|related items|related pages|
    related questions|related searches|related tags|related guides|related videos|related items to explore|
    you may also like|you might also like|you may like|you might like|you may also be interested in|
    you might also enjoy|you may also enjoy|you might be interested in|customers also viewed|
    customers also bought|customers who viewed this item also viewed|frequently bought together|
    recently viewed|recently viewed items|recently viewed products|similar products|similar items|
    people also viewed|people also bought|explore related searches|compare with similar items|
    products related to this item|more like this|more to explore|more to read|more to love|
    recommended|recommended for you|recommended reading|recommended articles|recommended products|
    recommended stories|recommended communities|recommendations|suggested articles|suggested reading|
    most popular|most read|most viewed|most recent|popular|popular posts|popular articles|popular topics|
    popular stories|popular now|trending|trending now|trending topics|trending stories|trending articles|
    recent posts|recent articles|recent comments|recent news|recent stories|latest posts|latest articles|
    latest news|latest stories|latest insights|latest from the blog|latest reviews|top stories|top reads|
    top contributors this month|editors picks|editor s picks|featured articles|featured posts|featured stories|
    read more|read next|read also|keep reading|continue reading|up next|what to read next|next post|
    previous post|next article|previous article|more articles|more posts|more stories|more news|more reading|
    further reading|see also|also read|also on|discover more|explore more|more info|more resources|
    similar threads|similar topics|similar discussions|similar posts|hot network questions|linked|
    about the author|about the authors|about author|author|authors|written by|the author|meet the author|
    share|share this|share this article|share this post|share this page|share this story|share on|
    share article|share this entry|share with|spread the word|follow|follow us|follow us on|connect with us|
    connect|stay connected|stay in touch|stay informed|stay up to date|let s connect|social media|
    subscribe|subscribe now|subscribe to our newsletter|newsletter|newsletters|newsletter signup|
    sign up for our newsletter|sign up for our newsletters|join our newsletter|get our newsletter|
    join our mailing list|email newsletter|subscribe to our blog|never miss a post|sign up|sign in|
    log in|login|create an account|create an account or sign in to comment|join the conversation|
    sign up or log in|post as a guest|your answer|leave a reply|leave a comment|leave your comment|
    post a comment|add a comment|add your comment|write a comment|post navigation|discussion about this post|
    ready for more|categories|archives|tags|filed under|posted in|topics in this article|tagged|
    quick links|useful links|helpful links|navigation|main navigation|navigation menu|main menu|
    footer menu|you are here|breadcrumb|breadcrumbs|pagination|advertisement|sponsored|
    sponsored content|sponsored links|from our partners|from around the web|around the web|you are here|
    we care about your privacy|cookie list|cookie settings|your cart|your cart is empty|shopping cart|
    your communities|more stack exchange communities|current community|stack exchange network|
    search|search this site|search this blog|blog archive|labels|blogroll|meta|contact us|get in touch|
    recent activity|recently browsing|who s online|share this product|footer|legal|
    ähnliche artikel|ähnliche beiträge|ähnliche themen|ähnliche produkte|das könnte sie auch interessieren|
    das könnte dich auch interessieren|das könnte ihnen auch gefallen|das könnte dir auch gefallen|
    auch interessant|mehr zum thema|mehr zu diesem thema|mehr zum thema auf|verwandte artikel|verwandte themen|
    weitere artikel|weitere themen|weitere beiträge|weitere meldungen|weitere nachrichten|lesen sie auch|
    lesen sie mehr|lesen sie weiter|zum thema|mehr aus|meistgelesen|meistgelesene artikel|meist gelesen|
    beliebte artikel|beliebte beiträge|beliebteste artikel|neueste beiträge|neueste artikel|neueste kommentare|
    letzte beiträge|aktuelle beiträge|aktuelle artikel|aktuelle nachrichten|top themen|topthemen|
    artikel teilen|beitrag teilen|teilen|jetzt teilen|diesen artikel teilen|diesen beitrag teilen|
    folgen sie uns|folge uns|kommentar schreiben|kommentar verfassen|kommentar hinterlassen|
    schreibe einen kommentar|schreiben sie einen kommentar|einen kommentar schreiben|hinterlasse einen kommentar|
    antwort hinterlassen|hinterlasse eine antwort|antworten abbrechen|schlagwörter|schlagworte|kategorien|archiv|
    über den autor|über die autorin|der autor|die autorin|zum autor|autor|newsletter abonnieren|anzeige|anzeigen|
    beitragsnavigation|artikelnavigation|empfehlungen|unsere empfehlungen|empfohlene artikel|
    articles similaires|articles liés|articles connexes|sur le même sujet|sur le même thème|à lire aussi|
    lire aussi|à lire également|à découvrir|vous aimerez aussi|vous aimerez peut être|cela peut vous intéresser|
    ceci peut aussi vous intéresser|ça peut vous intéresser|les plus lus|articles récents|derniers articles|
    commentaires récents|partager|partager cet article|partagez|partagez cet article|laisser un commentaire|
    laissez un commentaire|ajouter un commentaire|poster un commentaire|suivez nous|catégories|étiquettes|
    à propos de l auteur|l auteur|inscrivez vous à la newsletter|navigation de l article|produits similaires|
    artículos relacionados|noticias relacionadas|entradas relacionadas|contenido relacionado|te puede interesar|
    también te puede interesar|te puede gustar|también te puede gustar|le puede interesar|lo más leído|
    más leídas|más noticias|lee también|lea también|ver también|leer más|entradas recientes|últimas noticias|
    comentarios recientes|compartir|comparte|comparte esto|compártelo|deja un comentario|deja una respuesta|
    dejar un comentario|síguenos|sobre el autor|acerca del autor|categorías|etiquetas|archivos|productos relacionados|
    articoli correlati|articoli simili|leggi anche|ti potrebbe interessare|ti potrebbero interessare|
    potrebbe interessarti anche|potrebbe interessarti|potrebbero interessarti|i più letti|più letti|
    ultime notizie|articoli recenti|condividi|condividi su|lascia un commento|seguici|seguici su|sull autore|
    categorie|prodotti correlati|commenti recenti|
    artigos relacionados|notícias relacionadas|posts relacionados|leia também|veja também|leia mais|
    você também pode gostar|você pode gostar|mais lidas|as mais lidas|últimas notícias|posts recentes|
    compartilhe|compartilhar|partilhar|deixe um comentário|deixe uma resposta|deixar um comentário|siga nos|
    sobre o autor|categorias|comentários recentes|produtos relacionados|
    gerelateerde artikelen|gerelateerde berichten|lees ook|lees meer|meer lezen|meest gelezen|recente berichten|
    delen|deel dit artikel|deel dit bericht|geef een reactie|reageer|volg ons|over de auteur|
    gerelateerde producten|
    zobacz także|czytaj także|czytaj też|zobacz też|podobne artykuły|powiązane artykuły|najnowsze wpisy|
    najczęściej czytane|polecane|udostępnij|dodaj komentarz|o autorze|podobne wpisy|
    läs också|läs även|läs mer|relaterade artiklar|mest läst|dela|lämna ett svar|senaste inläggen|
    les også|læs også|del artikkelen|del artiklen|relaterte artikler|mest lest|mest læste|
    читайте также|читайте еще|похожие статьи|похожие записи|похожие материалы|материалы по теме|по теме|
    добавить комментарий|оставить комментарий|последние записи|свежие записи|поделиться|поделиться ссылкой|
    популярное|рубрики|метки|самое читаемое|смотрите также|
    関連記事|関連リンク|関連ニュース|関連商品|おすすめ記事|人気記事|最新記事|最近の投稿|あわせて読みたい|
    この記事をシェア|シェア|コメントを残す|コメントする|カテゴリー|タグ|アーカイブ|
    相关文章|相关阅读|相关推荐|相關文章|相關新聞|推荐阅读|延伸閱讀|热门文章|最新文章|发表评论|發表評論|分享|分类|标签|猜你喜欢|
    관련 기사|관련기사|관련 글|관련글|추천 기사|인기 기사|많이 본 뉴스|최신 기사|공유하기|댓글 남기기
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
"""Headings of sections that lead away from the page, or belong to its site."""

_REMARKS: Final = re.compile(
    r"(?:\d+ )?(?:comments?|responses?|replies|kommentare?|commentaires?|comentarios?|commenti|comentários?|"
    r"reacties|комментари[ийев]+|コメント|评论|評論|댓글)(?: \d+)?"
    r"|(?:reader|user|latest|recent|all|show|view|post|\d+ thoughts? on|one thought on|\d+ comments? on) .{0,9}comments?.*"
    r"|\d+ thoughts? on .*|one thought on .*|join the (?:discussion|conversation)|discussion \d+"
)
_STARTS: Final = re.compile(
    r"(?:more|read more|latest|other articles|related|similar|popular|trending|recommended|mehr|weitere) "
    r"(?:articles?|posts?|stories|news|reading|content|guides|products?|from|by|on|in|zum thema|aus|von|topics?)\b.*"
    r"|(?:follow|subscribe to|sign up for|join|share) (?:us|our|the|this)\b.*"
    r"|about the authors? .*|tags? .*|categor(?:y|ies) .*|people also (?:ask|search).*|you (?:may|might) .*"
    r"|(?:get|receive) (?:the latest|our|updates).*|customers? (?:who|also).*|shop (?:related|similar).*"
)

_LABELS: Final = frozenset({
    "a", "b", "div", "dt", "header", "legend", "li", "p", "span", "strong", "summary",
})  # fmt: skip
_OUTERMOST: Final = frozenset({"html", "body", "main", "article"})

_MIN_CHARS: Final = 3
_MAX_HEADING: Final = 70
_MAX_LABEL: Final = 60
_MAX_PARTS: Final = 3
"""Elements in a label."""

_MAX_SECTIONS: Final = 200
_MAX_STEPS: Final = 60
"""Bounds the work on a page that is made to be expensive."""

_PROSE_SHARE: Final = 0.3
_TEXT_SHARE: Final = 0.5
"""Largest share of the page in a section."""

_PROSE: Final = 600
_LINKED: Final = 0.1
"""A section with more prose than this and fewer links is not what its heading suggests: papers have a "Discussion",
and books a "Further reading"."""

_SAME_LINE: Final = 70


def leads_away(heading: str) -> bool:
    """Whether the section of a heading leads to other pages, or belongs to the site."""
    words = _plain(heading)
    return words in _AWAY or _STARTS.fullmatch(words) is not None


def _plain(heading: str) -> str:
    if len(heading) > 2 * _MAX_CHARS:
        return ""
    words = " ".join(_WORDS.findall(heading.lower()))
    return words if len(words) <= _MAX_CHARS else ""


def take_out_sections(elements: list[Element], kind: PageKind, shapes: Shapes) -> list[Element]:
    """Remove sections whose heading shows that they are not part of the text.

    A section is the largest element that begins with the heading. Documentation has its own "See also" and "Author".

    Returns:
        What was removed, in order.
    """
    taken: list[Element] = []
    if kind is PageKind.DOCUMENTATION:
        return taken
    away = (
        element
        for element in live(elements)
        if _may_be_heading(element, kind) and _is_away(element.node.text(), kind)
    )
    for heading in islice(away, _MAX_SECTIONS):
        section = _section(heading, elements[0])
        if (
            section is not None
            and not shapes.says_its_own(section)
            and section.take_out(RemovalRule.SECTION)
        ):
            taken.append(section)
    return taken


def _may_be_heading(element: Element, kind: PageKind) -> bool:
    """Whether it is a heading, or looks like one."""
    if element.tag in HEADINGS:
        return _MIN_CHARS <= element.text <= _MAX_HEADING
    return (
        kind not in {PageKind.FORUM, PageKind.LISTING}
        and element.tag in _LABELS
        and _MIN_CHARS < element.text <= _MAX_LABEL
        and element.elements <= _MAX_PARTS
    )


def _is_away(heading: str, kind: PageKind) -> bool:
    """Whether the section of a heading leads away, or contains readers' comments, which are the content of a forum."""
    return leads_away(heading) or (
        kind is not PageKind.FORUM and _REMARKS.fullmatch(_plain(heading)) is not None
    )


def _section(heading: Element, page: Element) -> Element | None:
    """The largest element that begins with a heading, unless it is the text, or the heading only starts a line."""
    section = heading
    is_line = False
    while (parent := section.parent) is not None and _may_be_section(parent, section, page):
        section = parent
        # The cells of a table are short, and none is the beginning of its text.
        most = heading.text if section.tag in {"td", "th"} else _SAME_LINE
        is_line = is_line or section.run > most
    has_own = section.text >= heading.text + _MIN_CHARS
    is_prose = section.prose >= _PROSE and section.linked < _LINKED * section.text
    is_text = is_prose or section.prose > _PROSE_SHARE * page.prose
    is_line = is_line and heading.tag not in HEADINGS
    return section if has_own and not is_text and not is_line else None


def _may_be_section(parent: Element, child: Element, page: Element) -> bool:
    return (
        parent.tag not in _OUTERMOST
        and parent.prose <= _PROSE_SHARE * page.prose
        and parent.text < _TEXT_SHARE * page.text
        and _is_first(parent, child)
    )


def _is_first(parent: Element, child: Element) -> bool:
    said = (other for other in parent.children[:_MAX_STEPS] if other.text and not other.is_out)
    return next(said, None) is child
