"""Analysis of a question, and the choice of the open collections that it is for."""
