"""Count more text than one machine holds: from files by path or URL to one file of counts.

In: files of any size, on this machine or elsewhere. Out: a counts file, as `counting.counts_file`
reads it. The package `scale` divides the text into stretches and says who counts them.

Open `count_files` first, the steps in order: `stretch_words` counts a stretch, and `shuffle` adds
up what was counted. `word_parts` writes words into the work folder.
"""
