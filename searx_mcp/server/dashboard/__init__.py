"""The dashboard at `/` of the HTTP server: pages that need no script, and one small script that refreshes them."""
