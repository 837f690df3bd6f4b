"""Long work in the background.

In: a function that reports progress and can be cancelled. Out: its result, or what went wrong; a
page shows the progress meanwhile.

Open `background` first, the queue; `task` holds what a piece of work is given and its status.
`jobs` queues trainings, `training` trains, large corpora in a process (what such processes share is
in `work_process`), and `training_report` follows. `reading` reads a visitor's files. `work_part`
draws the button that begins other work, and its progress for a visitor who waits.
"""
