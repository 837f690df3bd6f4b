"""What the start page shows around its merge loop.

In: nothing but the names of pages. Out: three doors, and the style of the page.
`doors` draws the doors and sets the sizes of the heading and the lead.
"""
