"""Doubles of the documented open APIs: small collections, answered in each service's shape."""
