"""What the page is made of: the libraries it ships, and the labels it shares with every surface.

labels       the labels of the page, made from the tables in Python
screenshots  its pictures for the pages in docs/
typecheck    the types of its scripts, checked with tsc
vendor       the libraries in surfaces/web/vendor, from npm
"""
