"""How Chromium is started: every way to the net but the gateway is closed.

What each of them closes, and how that was checked, is in `docs/decisions/browser.md`.
"""

from typing import Final

NOWHERE: Final = "http://gateway.invalid:9"
"""The proxy for whatever does not belong to a page: a name that never resolves, RFC 6761 6.4."""

BYPASS: Final = "<-loopback>"
"""Takes back that loopback needs no proxy, which Chromium assumes otherwise."""

_HEAP: Final = 512
"""Megabytes of JavaScript objects a renderer may hold; it ends when they do not suffice."""

SWITCHES: Final = (
    # Only the gateway's own address has a meaning; names are for the gateway to look up.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # WebRTC sends UDP past any proxy otherwise. The second is what older releases call it.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--deny-permission-prompts",
    "--disable-notifications",
    "--disable-speech-api",
    # A frame of another site would be a process of its own, and a page may have a thousand. There are
    # no cookies and no logins here that sites could take from each other.
    "--disable-site-isolation-trials",
    "--disable-gpu",
    "--disable-3d-apis",
    # No text comes from these.
    "--blink-settings=imagesEnabled=false,dnsPrefetchingEnabled=false",
    "--disable-remote-fonts",
    "--autoplay-policy=user-gesture-required",
    f"--js-flags=--max-old-space-size={_HEAP}",
)

UNWANTED_SWITCHES: Final = (
    # Of those that Playwright adds for tests of one's own pages.
    "--disable-popup-blocking",
    "--disable-ipc-flooding-protection",
    "--enable-unsafe-swiftshader",
)
