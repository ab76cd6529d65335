"""Programs for contributors: generated pages, screenshots, recordings, fuzzers, the matrix of faults."""
