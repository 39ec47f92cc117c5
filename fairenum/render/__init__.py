"""Rendering: a page, made of words, tables and figures, becomes text for a terminal, HTML, Markdown or a notebook.

Nothing here knows what the page is about. Each medium is a pure function of a page and shows every kind of block.
"""
