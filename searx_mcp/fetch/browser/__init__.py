"""Renders pages that are empty until their scripts have run, in a sandboxed Chromium.

In: a page's address and a deadline. Out: the HTML after its scripts, or a typed error.
It uses one Chromium process, whose requests all pass `http.gateway`, which guards addresses as for any
page. It is loaded only if `browser` is switched on; in the core, only `fetch.capture` imports it.
"""
