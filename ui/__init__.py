"""The parts of the pages: one package for each page, and packages that pages share."""
