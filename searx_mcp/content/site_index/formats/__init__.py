"""What generators write of the pages of a site, a format a file; pure functions of what was sent."""
