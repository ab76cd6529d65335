"""The one consumer of inputs: reduce, append, publish, perform."""
