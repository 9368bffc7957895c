"""Images, videos, sounds and files."""
