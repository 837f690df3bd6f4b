"""The parts of the Pair frequencies page, which draw counts from the core.

In: a stored run and the chosen step. Out: the pairs of one step, the life of one pair, the gain
from a larger vocabulary, and whether more text would change it.

Open `step` first: with `life` it is the part on pairs; `size` and `sample_part` are the part on
sizes. `charts` draws, and `words` holds the sentences and tables.
"""
