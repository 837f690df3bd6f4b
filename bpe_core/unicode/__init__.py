"""What is known of characters: their classes and scripts, pinned to one version of Unicode."""
