"""What the pages share: the workspace, runs on disk, jobs, charts and components."""
