"""The rows of the feed: joining, folding, filtering, searching. No I/O."""
