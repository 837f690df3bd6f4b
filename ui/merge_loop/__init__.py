"""The parts of the Merge loop page.

In: a stored run. Out: its data packed for the merge player, and the player as one HTML file that
works offline.

`player_run` packs the data and writes the file. The player is in `components/merge_player`.
"""
