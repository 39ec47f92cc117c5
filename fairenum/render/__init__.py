"""Rendering of pages for a terminal, in HTML, in Markdown or for a notebook.

A page consists of texts, tables and figures; nothing in this package knows what they are about. The rendition in each
medium depends on the page alone, and shows every kind of block.
"""
