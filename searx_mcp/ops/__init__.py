"""Operations for the operator, as values that the commands print.

In: validated user input. Out: reports and results as values; nothing is printed here. It uses the pool, files
    and stores of this user, and for `own`, processes and a folder for SearXNG. No code for searching or
    reading imports it, except `client`, which wakes the own instance.
"""
