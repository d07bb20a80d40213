"""Statistics: pure functions of numbers, with one definition each."""
