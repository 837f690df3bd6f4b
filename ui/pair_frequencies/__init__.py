"""The parts of the Pair frequencies page, which draw counts from the core.

In: a stored run and the chosen step. Out: the pairs of one step, the life of one pair, the gain
from a larger vocabulary, and whether more text would change it.

Open `step` first; `life`, `size`, `whole_run` and `sample_part` are the other parts. `charts` and
`table` draw; `sample_work` trains in the background.
"""
