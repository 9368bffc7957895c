"""Repositories, packages and models."""
