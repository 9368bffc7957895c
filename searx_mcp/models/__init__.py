"""Frozen values that cross the project's borders: requests, results, pages, attempts."""
