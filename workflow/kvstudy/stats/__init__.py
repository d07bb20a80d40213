"""Statistics: pure functions of numbers, with one definition each.

They import scipy, not parts of it: scipy loads ``scipy.stats`` when it is first used, and most
commands only read what was worked out.
"""
