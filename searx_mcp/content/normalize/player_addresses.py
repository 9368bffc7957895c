"""The page that belongs to the address of a player."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

_Rule = tuple[re.Pattern[str], str, str]
_ID: Final = r"([A-Za-z0-9_-]{1,64})"


def _rule(pattern: str, page: str, label: str) -> _Rule:
    return re.compile(pattern, re.IGNORECASE), page, label


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
)  # fmt: skip
"""Host and path of a player, the page of what it plays, and what to call that without a title."""

_QUERIES: Final[tuple[tuple[re.Pattern[str], str, Callable[[str], str], str], ...]] = (
    (re.compile(r"(?:www\.)?youtube(?:-nocookie)?\.com/embed"), "list",
     lambda value: f"https://www.youtube.com/playlist?list={value}", "YouTube playlist"),
    (re.compile(r"geo\.dailymotion\.com/"), "video",
     lambda value: f"https://www.dailymotion.com/video/{value}", "Dailymotion video"),
    (re.compile(r"player\.twitch\.tv/"), "video",
     lambda value: f"https://www.twitch.tv/videos/{value.removeprefix('v')}", "Twitch video"),
    (re.compile(r"player\.twitch\.tv/"), "channel",
     lambda value: f"https://www.twitch.tv/{value}", "Twitch channel"),
    (re.compile(r"clips\.twitch\.tv/embed"), "clip",
     lambda value: f"https://clips.twitch.tv/{value}", "Twitch clip"),
    (re.compile(r"player\.bilibili\.com/player"), "bvid",
     lambda value: f"https://www.bilibili.com/video/{value}", "Bilibili video"),
    (re.compile(r"platform\.(?:twitter|x)\.com/embed/"), "id",
     lambda value: f"https://x.com/i/status/{value}", "Post on X"),
)  # fmt: skip
"""Players that name what they play in a parameter."""

_WHOLE: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = (
    (re.compile(r"w\.soundcloud\.com/player"), "url", "SoundCloud"),
    (
        re.compile(r"(?:www\.)?facebook\.com/plugins/(?:video|post)\.php"),
        "href",
        "Post on Facebook",
    ),
    (re.compile(r"(?:www\.)?figma\.com/embed"), "url", "Figma"),
    (re.compile(r"(?:cdn\.)?embedly\.com/widgets/media\.html"), "url", "Video"),
)
"""Players that name the page itself in a parameter."""

_VALUE = re.compile(r"[A-Za-z0-9_-]{1,80}")
_MAX_ADDRESS: Final = 2_000


def page_of(address: str) -> tuple[str, str] | None:
    """The page of what a player plays, and what to call it; `None` if the player is not known.

    Args:
        address: of the player, with or without scheme.
    """
    if len(address) > _MAX_ADDRESS:
        return None
    if address.startswith("//"):
        address = "https:" + address
    try:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
        place = parts.hostname + parts.path
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    except ValueError:
        return None
    return _by_path(place) or _by_query(place, query)


def _by_path(place: str) -> tuple[str, str] | None:
    for pattern, page, label in _RULES:
        if match := pattern.match(place):
            return page.format(*match.groups()), label
    return None


def _by_query(place: str, query: dict[str, str]) -> tuple[str, str] | None:
    for pattern, name, page, label in _QUERIES:
        if pattern.match(place) and _VALUE.fullmatch(value := query.get(name, "")):
            return page(value), label
    for pattern, name, label in _WHOLE:
        value = unquote(query.get(name, ""))
        if pattern.match(place) and value.startswith(("https://", "http://")):
            return value, label
    return None
