"""Pages that are empty until their scripts have run: Chromium, kept off everything but public pages.

What enters: the address of a page and a deadline. What leaves: the HTML after its scripts, or a typed error.
What it may touch: one Chromium process of its own, whose requests all pass `http.gateway`, which guards addresses as
for any page. It is loaded only where `browser` is switched on; of the core, only `fetch.capture` knows it.
"""
