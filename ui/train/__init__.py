"""The parts of Train: a corpus, settings, the training as it runs, and its result."""
