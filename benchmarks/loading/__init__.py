"""A server over HTTP under many calls at once, and over a long time: its process, its world, its clients."""
