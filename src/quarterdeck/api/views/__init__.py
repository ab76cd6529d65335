"""Resources as JSON: the shapes, and the functions that build them."""
