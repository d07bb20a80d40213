"""How often Hypothesis tries."""

from hypothesis import settings

# The same examples everywhere, and no failure because a machine is busy.
settings.register_profile("kvstudy", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("kvstudy")
