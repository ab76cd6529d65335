"""The number of examples of a property, relative to the hypothesis profile in use."""

from hypothesis import settings


def examples(times: int) -> settings:
    """Run this many times the profile's examples, for a property that is cheap to check and has many cases."""
    return settings(max_examples=times * settings().max_examples)
