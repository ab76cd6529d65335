"""The client side of the API, for every surface."""
