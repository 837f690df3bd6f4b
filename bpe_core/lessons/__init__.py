"""What the lessons show, computed by the readable reference, step by step."""
