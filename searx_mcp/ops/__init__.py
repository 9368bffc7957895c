"""The work of an operator, as values: the commands print them.

What enters: what a person typed, checked. What leaves: reports and results as values; nothing is printed here.
What it may touch: the pool, files and stores of this user, and for `own`, processes and a folder of SearXNG's.
Nothing that searches or reads imports it, but `client`, which wakes the own instance.
"""
