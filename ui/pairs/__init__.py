"""The parts of Pair frequencies: each draws what the core counted, none of them counts."""
