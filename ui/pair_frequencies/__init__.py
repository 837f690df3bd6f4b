"""The parts of the Pair frequencies page. Each draws what the core counted; none counts.

In: a stored run and the step chosen. Out: pairs of one step, the life of one pair, and how large a
vocabulary is worth it.

Open `step` first; `life`, `size` and `whole_run` are the other parts. `charts` and `table` draw.
"""
