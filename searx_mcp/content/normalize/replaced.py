"""Replaced elements: players and embedded posts as links to their pages, lazy images, and the boxes of tasks."""

import re
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.addresses import TINY
from searx_mcp.content.clean import clean_line
from searx_mcp.content.tree import (
    TASK,
    Dialect,
    Removals,
    ancestors,
    carry,
    classes,
    few,
    has_text,
    is_attached,
    is_hidden,
    neighbour,
    new,
    put_in_place,
)

_ID: Final = r"([A-Za-z0-9_-]{1,64})"
_VALUE: Final = r"([A-Za-z0-9_-]{1,80})\Z"
_PAGE: Final = r"(https?://.*)"


def _rule(pattern: str, page: str, label: str) -> tuple[re.Pattern[str], str, str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL), page, label


_RULES: Final = (
    _rule(rf"(?:www\.|m\.)?youtube(?:-nocookie)?\.com/(?:embed|v|shorts|live)/(?!videoseries){_ID}",
          "https://www.youtube.com/watch?v={0}", "YouTube video"),
    _rule(rf"youtu\.be/{_ID}", "https://www.youtube.com/watch?v={0}", "YouTube video"),
    _rule(r"player\.vimeo\.com/video/(\d+)", "https://vimeo.com/{0}", "Vimeo video"),
    _rule(rf"(?:www\.)?dailymotion\.com/embed/video/{_ID}", "https://www.dailymotion.com/video/{0}",
          "Dailymotion video"),
    _rule(rf"(?:www\.)?loom\.com/embed/{_ID}", "https://www.loom.com/share/{0}", "Loom video"),
    _rule(r"embed(?:-ssl)?\.ted\.com/talks/([\w./-]+)", "https://www.ted.com/talks/{0}", "TED talk"),
    _rule(rf"open\.spotify\.com/embed(?:-podcast)?/(track|album|playlist|episode|show|artist)/{_ID}",
          "https://open.spotify.com/{0}/{1}", "Spotify"),
    _rule(r"embed\.podcasts\.apple\.com/([\w./-]+)", "https://podcasts.apple.com/{0}", "Podcast"),
    _rule(r"embed\.music\.apple\.com/([\w./-]+)", "https://music.apple.com/{0}", "Apple Music"),
    _rule(rf"codepen\.io/([\w-]+)/embed/(?:preview/)?{_ID}", "https://codepen.io/{0}/pen/{1}", "CodePen"),
    _rule(rf"codesandbox\.io/(?:embed|s)/{_ID}", "https://codesandbox.io/s/{0}", "CodeSandbox"),
    _rule(r"jsfiddle\.net/([\w/-]+?)/embedded(?:/|$)", "https://jsfiddle.net/{0}/", "JSFiddle"),
    _rule(r"stackblitz\.com/edit/([\w-]+)", "https://stackblitz.com/edit/{0}", "StackBlitz"),
    _rule(r"gist\.github\.com/([\w-]+/[0-9a-f]+)(?:\.js|\.pibb)?", "https://gist.github.com/{0}", "Gist"),
    _rule(r"(?:twitter|x)\.com/(\w+)/status/(\d+)", "https://x.com/{0}/status/{1}", "Post on X"),
    _rule(r"embed\.bsky\.app/embed/([\w:.-]+)/app\.bsky\.feed\.post/(\w+)",
          "https://bsky.app/profile/{0}/post/{1}", "Post on Bluesky"),
    _rule(r"(?:www\.)?instagram\.com/(p|reel|tv)/([\w-]+)/embed", "https://www.instagram.com/{0}/{1}/",
          "Post on Instagram"),
    _rule(r"archive\.org/embed/([\w.-]+)", "https://archive.org/details/{0}", "Internet Archive"),
    _rule(r"([\w.-]+\.[a-z]{2,})/videos/embed/([0-9A-Za-z-]{8,40})", "https://{0}/w/{1}", "Video"),
    _rule(r"([\w.-]+\.[a-z]{2,}/@[\w.@-]+/\d+)/embed", "https://{0}", "Post"),
    _rule(r"([\w.-]+\.[a-z]{2,}/users/[\w.-]+/statuses/\d+)/embed", "https://{0}", "Post"),
    _rule(r"streamable\.com/[eo]/(\w+)", "https://streamable.com/{0}", "Video"),
    _rule(r"(?:www\.)?redditmedia\.com/(r/\w+/comments/[\w/-]+)", "https://www.reddit.com/{0}", "Reddit"),
    _rule(r"embed\.reddit\.com/(r/\w+/comments/[\w/-]+)", "https://www.reddit.com/{0}", "Reddit"),
    _rule(r"asciinema\.org/a/(\w+)(?:/embed|/iframe|\.js)", "https://asciinema.org/a/{0}", "Terminal recording"),
    _rule(r"(?:www\.)?slideshare\.net/slideshow/embed_code/(?:key/)?(\w+)",
          "https://www.slideshare.net/slideshow/embed_code/key/{0}", "Slides"),
    _rule(rf"(?:www\.)?youtube(?:-nocookie)?\.com/embed[^?]*\?list={_VALUE}",
          "https://www.youtube.com/playlist?list={0}", "YouTube playlist"),
    _rule(rf"geo\.dailymotion\.com/[^?]*\?video={_VALUE}", "https://www.dailymotion.com/video/{0}",
          "Dailymotion video"),
    _rule(rf"player\.twitch\.tv/[^?]*\?video=v?{_VALUE}", "https://www.twitch.tv/videos/{0}", "Twitch video"),
    _rule(rf"player\.twitch\.tv/[^?]*\?channel={_VALUE}", "https://www.twitch.tv/{0}", "Twitch channel"),
    _rule(rf"clips\.twitch\.tv/embed[^?]*\?clip={_VALUE}", "https://clips.twitch.tv/{0}", "Twitch clip"),
    _rule(rf"player\.bilibili\.com/player[^?]*\?bvid={_VALUE}", "https://www.bilibili.com/video/{0}",
          "Bilibili video"),
    _rule(rf"platform\.(?:twitter|x)\.com/embed/[^?]*\?id={_VALUE}", "https://x.com/i/status/{0}", "Post on X"),
    _rule(rf"w\.soundcloud\.com/player[^?]*\?url={_PAGE}", "{0}", "SoundCloud"),
    _rule(rf"(?:www\.)?facebook\.com/plugins/(?:video|post)\.php[^?]*\?href={_PAGE}", "{0}", "Post on Facebook"),
    _rule(rf"(?:www\.)?figma\.com/embed[^?]*\?url={_PAGE}", "{0}", "Figma"),
    _rule(rf"(?:cdn\.)?embedly\.com/widgets/media\.html[^?]*\?url={_PAGE}", "{0}", "Video"),
)  # fmt: skip
"""Host and path of a player, perhaps with one parameter; the page of its content; the link's text if it has no
title."""

_PARAMETERS: Final = ("list", "video", "channel", "clip", "bvid", "id", "url", "href")
"""Parameters in which players name their content."""

_MAX_ADDRESS: Final = 2_000
_SOURCES: Final = ("src", "data-src", "data-lazy-src", "data-litespeed-src", "data-cmp-src", "data")
_TITLE_CHARS: Final = 200
_GENERIC = re.compile(
    r"(?:youtube|vimeo)? ?(?:video )?(?:player|embed|iframe|video|audio)|embedded (?:content|video|post)",
    re.IGNORECASE,
)
"""Default titles of players."""

_PLACEHOLDER = re.compile(
    r"\Adata:|/(?:blank|spacer|pixel|placeholder|loading|lazy|1x1|transparent)\b"
)
_LAZY: Final = ("data-src", "data-lazy-src", "data-original", "data-srcset", "data-lazy-srcset")
_COPIED: Final = ("src", "srcset", "alt", "sizes")
_MAX_PLAYERS: Final = 2_000


def _normalize_players(tree: LexborHTMLParser, _: Removals) -> None:
    """Replace every player whose page is known, and videos and sounds, by a link."""
    for player in filter(is_attached, tree.css(PLAYERS.selector)[:_MAX_PLAYERS]):
        if player.tag == "script":
            if found := _page_of(player.attributes.get("src") or ""):
                put_in_place(player, new(tree, "a", found[1], href=found[0]))
        elif not _is_unseen(player):
            rewrite = _media if player.tag in {"video", "audio"} else _embedded
            rewrite(tree, player)


_PLAYERS: Final = "iframe embed object video audio lite-youtube amp-youtube lite-vimeo"
PLAYERS: Final = Dialect(
    {**dict.fromkeys(_PLAYERS.split(), ""), "script": '[src*="//gist.github.com/"]'},
    _normalize_players,
)
"""Elements that play or show external content, and scripts that write a listing into the page."""


def _show_lazy_images(tree: LexborHTMLParser, _: Removals) -> None:
    """Give a lazy image the address in the fallback for readers without scripts next to it."""
    for fallback in tree.css("noscript")[:_MAX_PLAYERS]:
        image = fallback.css_first("img[src]")
        if image is None or len(few(fallback, 8)) != 1 or has_text(fallback):
            continue
        for forward in (False, True):
            beside = neighbour(fallback, forward=forward)
            waiting = _waiting(beside)
            if waiting is not None:
                _show(waiting, image)
                break


LAZY_IMAGES: Final = Dialect({"noscript": ""}, _show_lazy_images)


def _waiting(beside: LexborNode | None) -> LexborNode | None:
    """The image of an element, if it has no address yet."""
    if beside is None or not beside.is_element_node:
        return None
    images = [beside] if beside.tag == "img" else beside.css("img")
    if len(images) != 1:
        return None
    attributes = images[0].attributes
    address = attributes.get("src") or ""
    if any(attributes.get(name) for name in _LAZY) or (
        address and not _PLACEHOLDER.search(address)
    ):
        return None
    return images[0]


def _show(waiting: LexborNode, image: LexborNode) -> None:
    attributes = image.attributes
    for name in _COPIED:
        value = attributes.get(name)
        if value and (name != "alt" or not waiting.attributes.get("alt")):
            waiting.attrs[name] = value


def _is_unseen(player: LexborNode) -> bool:
    """Whether a player only counts visitors, communicates with a script, or moves as decoration."""
    attributes = player.attributes
    return (
        attributes.get("width") in TINY
        or attributes.get("height") in TINY
        or is_hidden(player)
        or ("loop" in attributes and "controls" not in attributes and not _title(player))
    )


def _embedded(tree: LexborHTMLParser, player: LexborNode) -> None:
    attributes = player.attributes
    known = attributes.get("videoid") or attributes.get("data-videoid")
    addresses = [attributes.get(name) or "" for name in _SOURCES]
    if known:
        host = "player.vimeo.com/video" if player.tag == "lite-vimeo" else "www.youtube.com/embed"
        addresses.insert(0, f"https://{host}/{known}")
    if player.tag == "object":
        addresses += [child.attributes.get("src") or "" for child in player.css("embed,iframe")[:1]]
    for address in addresses:
        if address and (found := _page_of(address.strip())):
            _link(tree, player, found[0], found[1])
            return
    address = next(filter(None, addresses), "")
    is_pdf = attributes.get("type") == "application/pdf" and player.tag in {"object", "embed"}
    if address and is_pdf:
        _link(tree, player, address, _file_name(address))


def _media(tree: LexborHTMLParser, media: LexborNode) -> None:
    """A video or sound that the page itself plays."""
    sources = [media, *media.css("source")]
    addresses = [
        source.attributes.get("src") or source.attributes.get("data-src") for source in sources
    ]
    address = next((text.strip() for text in addresses if text and _is_file(text)), "")
    if address:
        kind = "Video" if media.tag == "video" else "Audio"
        name = _file_name(address)
        _link(tree, media, address, f"{kind}: {name}" if name else kind)


def _is_file(address: str) -> bool:
    return not address.strip().lower().startswith(("blob:", "data:", "javascript:", "about:"))


def _file_name(address: str) -> str:
    path = address.partition("?")[0].partition("#")[0]
    return clean_line(unquote(path.rstrip("/").rpartition("/")[2]), _TITLE_CHARS)


def _link(tree: LexborHTMLParser, player: LexborNode, address: str, label: str) -> None:
    """Replace a player by a link, with its title if it has one."""
    link = new(tree, "a", _title(player) or label, href=address)
    carry(player, link)
    put_in_place(player, link)
    for around in ancestors(link, 1):
        if around.tag == "a":
            around.unwrap()


def _title(player: LexborNode) -> str:
    titles = map(player.attributes.get, ("title", "aria-label", "playlabel", "data-title"))
    title = clean_line(next((text for text in titles if text and text.strip()), ""), _TITLE_CHARS)
    return "" if _GENERIC.fullmatch(title) else title


def _page_of(address: str) -> tuple[str, str] | None:
    """The page of a player's content, and a label for it; `None` if the player is unknown.

    Args:
        address: of the player, with or without scheme.
    """
    if len(address) > _MAX_ADDRESS:
        return None
    try:
        parts = urlsplit(f"https:{address}" if address.startswith("//") else address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
        query = parse_qs(parts.query)
    except ValueError:
        return None
    place = parts.hostname + parts.path
    said = [f"{place}?{name}={unquote(query[name][0])}" for name in _PARAMETERS if name in query]
    for text in (place, *said):
        for pattern, page, label in _RULES:
            if match := pattern.match(text):
                return page.format(*match.groups()), label
    return None


_FORMS: Final = frozenset({"form", "nav", "fieldset", "menu"})
_NOT_TASKS = re.compile(r"menu|filter|facet|dropdown|nav|toggle|accordion|cookie|consent|tree")
_SAYS_TASK = re.compile(r"task|todo|checklist")
_MAX_TASKS: Final = 10_000


def _normalize_tasks(tree: LexborHTMLParser, _: Removals) -> None:
    """Replace every checkbox at the start of a list item by a task.

    Checkboxes of forms, filters and menus have a name or a value to send; they stay as they are.
    """
    for box in tree.css('li input[type="checkbox" i]')[:_MAX_TASKS]:
        item = _item(box)
        if item is not None and _is_task(box, item):
            task = new(tree, TASK, **({"done": ""} if "checked" in box.attributes else {}))
            put_in_place(box, task)


TASKS: Final = Dialect({"input": ""}, _normalize_tasks)


def _item(box: LexborNode) -> LexborNode | None:
    """The list item that begins with the checkbox."""
    node = box
    for around in ancestors(box, 4):
        before = neighbour(node, forward=False)
        if before is not None and (before.tag == TASK or has_text(before)):
            return None
        if around.tag == "li":
            return around
        node = around
    return None


def _is_task(box: LexborNode, item: LexborNode) -> bool:
    attributes = box.attributes
    words = " ".join([*classes(box), *classes(item)])
    if _SAYS_TASK.search(words):
        return True
    if is_hidden(box) or _NOT_TASKS.search(words):
        return False
    if "disabled" not in attributes and (attributes.get("name") or attributes.get("value")):
        return False
    return not any(
        around.tag in _FORMS or _NOT_TASKS.search(" ".join(classes(around)))
        for around in ancestors(item, 12)
    )
