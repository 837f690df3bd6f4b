"""The laboratory: encoders and trainers measured against each other, after they gave the same."""
