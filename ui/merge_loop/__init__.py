"""The parts of the Merge loop page.

In: a stored run. Out: its data packed for the merge player, and the player as one HTML file that
works offline.

Open `player_run` first; `replay` writes the file. The player is in `components/merge_player`.
"""
