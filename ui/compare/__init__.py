"""What the Compare page is made of: the shelf, the verdict, the figures, languages, the report."""
