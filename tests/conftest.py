"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# Without deadlines: how long one example takes says more about the machine than about the code.
# The same examples at each run: a failure is the change's. `make search` looks for new ones.
settings.register_profile("project", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("project")
