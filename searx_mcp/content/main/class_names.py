"""The meaning of an element's class names, read word by word. Ids, which are addresses, mark at most a body.

Sites use similar names for similar parts, in all languages. Names are split into words at hyphens, underscores
and capitals; pairs of words are more specific than single words, and are looked up first.

The words come from the pages of WCXB dev: those on elements of at least five sites whose text is almost never
content (`footer` on 1,063 sites, 6 % of it content; `subscribe` on 106, 2 %), or almost always (`entry-content` on
139, 87 %); their equivalents in other languages were added. WCXB dev F1 is .856 with them and .846 without. Run
`python -m benchmarks.extraction PATH` after changing them.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final

CHROME: Final = 1
"""Belongs to the site and not to the page: menus, footers, advertisements, forms, sharing."""

COMMENTS: Final = 2
"""Comments by readers; in a forum, the content itself."""

ABOUT: Final = 4
"""The text's author, date and categories."""

MORE: Final = 8
"""Leads to other pages: related, popular, recommended."""

BODY: Final = 16
"""Contains the text of an article or of documentation."""

CONSENT: Final = 32
"""Asks for consent, and may contain more text than the page."""

MEMBER: Final = 64
"""The author of a forum post, and the buttons below it."""

HEARD: Final = 128
"""Not visible, but read by screen readers."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MAX_CHARS: Final = 400
"""Characters of names that are read; only utility classes are longer."""

_STATES: Final = frozenset({
    "above", "after", "before", "below", "has", "hide", "is", "js", "no", "non", "not", "off", "on",
    "show", "toggle", "under", "with", "without",
})  # fmt: skip
"""First words of names with another meaning: `has-sidebar` is the column without one."""
_NOTHING: Final = frozenset({"menu-card", "social-impact", "social-proof"})
"""Pairs of words with another meaning together."""


def _table(*rows: tuple[int, str]) -> Mapping[str, int]:
    """Map words to signs; each row lists words for one sign."""
    table: dict[str, int] = defaultdict(int)
    for sign, words in rows:
        for word in words.split():
            table[word] |= sign
    return dict(table)


_WORDS: Final = _table(
    (CHROME, """
    nav navbar navi navigation navigazione navmenu navlinks sidenav subnav topnav megamenu menu
    menubar menus submenu breadcrumb breadcrumbs crumb crumbs skip bottombar colophon footer
    fusszeile kopfzeile masthead toolbar topbar leftbar leftsidebar randspalte rightbar rightcol
    rightcolumn rightsidebar seitenleiste sidebar sidebox sidecol sidecolumn widgetized
    widgettitle blogroll captcha login newsletter newsletters optin paywall signin signup
    subscribe wpnewsletter commentform feedback gfield gform honeypot searchbar searchbox
    searchform switcher addthis addtoany compartir condividi feedburner gplus mailto partager
    printlink share shares shariff sharebar sharedaddy sharethis sharing sociable social socials
    teilen drawer flyout lightbox minicart modal modals offcanvas popover popup popups tweetmeme
    loading notification snackbar spinner toast tooltip announcement adbox ads adsbygoogle adslot
    adunit advert advertisement advertising adverts anzeige anzeigen dfp ligatus outbrain plista
    promo promos promotion publicidad publicite reklame sponsor sponsored sponsors taboola werbung
    cta ctas donate donation pager pagination paging copyright disclaimer legal tools
    toolbox catlinks editsection navbox noexcerpt noprint printfooter saboxplugin screenreader
    navfooter navheader sitenotice
    """),
    (CONSENT, "cky consent cookie cookiebot cookies didomi gdpr onetrust ot usercentrics"),
    (COMMENTS, """
    comment commentarea commentlist comments disqus livefyre livere respond commentaire
    commentaires comentario comentarios commenti commento kommentar kommentare kommentarliste
    pingback pings reacties trackback trackbacks
    """),
    (ABOUT, """
    author authors auteur autor autore autoren bio biography byline bylines contributors vcard
    categories kategorien dateline hashtags meta metadata posted postmetadata published
    schlagworte tagcloud taglist tags timestamp updated
    """),
    (MORE, """
    related recommendation recommendations recommended recommends popular recirc trending
    aehnliche articlelinks correlati recirculation relacionadas relacionados similar upnext
    verwandt verwandte yarpp
    """),
    (MEMBER, """
    posteruserinfo postprofile postsignature signature signatures userinfo userstats usertitle
    """),
    (BODY, "articlebody"),
)  # fmt: skip
_PAIRS: Final = _table(
    (CHROME, """
    bottom-bar left-nav main-header off-canvas right-nav site-header site-info site-notice
    side-bar sub-header sub-menu top-bar top-nav left-sidebar right-sidebar widget-area
    header-search search-bar search-box search-form site-search contact-form comment-form
    comment-respond reply-title reader-text sr-only visually-hidden back-top scroll-top to-top
    mw-jump follow-us log-in share-buttons share-links sign-in sign-up social-links social-media
    ad-banner ad-container ad-slot ad-unit ad-wrapper google-ad announcement-bar notice-bar
    cart-drawer mini-cart blog-pager next-prev post-nav post-navigation prev-next wp-pagenavi
    email-link error-message jump-links mw-editsection print-link subscription-widget
    widget-archive widget-archives widget-calendar widget-categories widget-links
    widget-meta widget-nav widget-pages widget-recent widget-rss widget-search widget-tag
    """),
    (HEARD, "reader-text sr-only visually-hidden"),
    (ABOUT, """
    about-author author-bio author-box author-card author-info post-author article-date
    article-footer article-info article-meta cat-links entry-date entry-footer entry-meta
    entry-tags post-date post-footer post-info post-meta post-tags posted-in posted-on
    publish-date read-time reading-time tag-list tags-links
    """),
    (MORE, """
    also-like also-read latest-articles latest-news latest-posts more-articles more-from more-news
    more-posts more-stories most-popular most-read most-viewed next-article next-post
    popular-posts read-more read-next recent-articles recent-posts related-articles related-posts
    related-products see-also top-stories up-next you-may
    """),
    (BODY, """
    article-body article-content article-text blog-body blog-content body-content content-body
    doc-markdown entry-content markdown-body message-content parser-output post-body post-content
    post-entry post-text rich-text rst-content single-content story-body story-content
    text-content
    """),
    (MEMBER, """
    ai-summary author-pane author-panel block-unfurl cell-user comments-component
    message-attribution message-signature post-buttons post-controls post-footer post-menu
    post-reactions post-signature poster-info profile-info reaction-bar reactions-bar user-banner
    user-details user-extras user-info user-stats user-title
    """),
)  # fmt: skip


@lru_cache(maxsize=8_192)
def signs_of(names: str) -> int:
    """Return the signs of this module in some names, as their sum; 0 for none."""
    signs = 0
    for name in names[:_MAX_CHARS].split():
        signs |= _said_by(name)
    return signs


@lru_cache(maxsize=8_192)
def _said_by(name: str) -> int:
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[0] in _STATES:
        return 0
    pairs = [f"{first}-{second}" for first, second in pairwise(words)]
    if not _NOTHING.isdisjoint(pairs):
        return 0
    return _together(pairs, _PAIRS) or _together(words, _WORDS)


def _together(words: list[str], table: Mapping[str, int]) -> int:
    signs = 0
    for word in words:
        signs |= table.get(word, 0)
    return signs
