"""Long random strings, and what only looks like them."""

from __future__ import annotations

import pytest

from quarterdeck.link.redaction.random_strings import is_random, without_random_strings
from tests.support.secret_corpus import BASE62, BASE64, LOWER_HEX, chars


def test_random_letters_and_digits_are_found_nearly_always() -> None:
    found = [is_random(chars(f"seed {n}", BASE62, 40)) for n in range(1000)]
    assert sum(found) >= 990


def test_hashes_are_not_random_strings() -> None:
    assert not any(is_random(chars(f"seed {n}", LOWER_HEX, 40)) for n in range(200))


@pytest.mark.parametrize("text", ["aVeryLongCamelCaseIdentifierThatNobodyWouldEverWrite1", "short1A", "x" * 40])
def test_words_and_short_texts_are_not_random(text: str) -> None:
    assert not is_random(text)


def test_base64_with_slashes_is_one_secret_and_a_path_is_none() -> None:
    secret = chars("base64", BASE64, 30) + "/" + chars("more", BASE64, 33)
    assert "/" in secret
    assert without_random_strings(f"a {secret} b", "*") == "a * b"
    path = "src/components/CheckoutForm2/CheckoutFormContainerWithHooks2.tsx"
    assert without_random_strings(path, "*") == path
