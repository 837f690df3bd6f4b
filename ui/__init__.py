"""What the pages are made of: one package for each page, and below them what pages share."""
