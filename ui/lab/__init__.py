"""The parts of the Lab: its text, what is measured, in words and in charts."""
