"""What the Vocabulary page is made of: its choice, looks, search, pictures, charts, and pruning."""
