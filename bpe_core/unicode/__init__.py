"""What is known of characters: classes, pinned to one version of Unicode, and scripts."""
