"""Pages that are empty until their scripts have run: Chromium, kept off everything but public pages."""
