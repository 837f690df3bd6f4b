"""The parts of the Pair frequencies page, which draw counts from the core.

In: a stored run and the chosen step. Out: the pairs of one step, the life of one pair, and the gain
from a larger vocabulary.

Open `step` first; `life`, `size` and `whole_run` are the other parts. `charts` and `table` draw.
"""
