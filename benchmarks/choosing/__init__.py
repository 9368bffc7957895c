"""Which tool a model chooses: requests of users, the calls that serve them, and servers of models."""
