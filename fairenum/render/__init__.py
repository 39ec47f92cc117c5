"""Rendering of pages, made of texts, tables and figures, for a terminal, in HTML, in Markdown or for a notebook.

Nothing here knows what the page is about. Each medium is a pure function of a page and shows every kind of block.
"""
