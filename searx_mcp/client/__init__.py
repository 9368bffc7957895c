"""The client that all areas are reached through, and its composition."""
