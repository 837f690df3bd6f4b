"""Count more text than one machine holds: from files by path or URL to one file of counts.

In: files of any size, on this machine or elsewhere. Out: a counts file, as `counting.counts_file`
reads it. The text is divided into stretches, which are counted one by one, in several processes or
on a cluster; each is kept in a work folder once it is counted, so an interrupted run can resume.

Open `count_files` first, the steps in order: `sources` finds the files, `stretches` divides them,
`documents` reads them, `stretch_words` counts a stretch, `shuffle` adds up what was counted.
`work_folder` keeps the parts, and `engines` says who does the work: this process or Dask.
"""
