"""What the tests of pasted and uploaded texts share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from glauber_core.errors import UserError
from glauber_core.texts import Texts, from_file


def sentences(name: str, text: str) -> list[str]:
    return list(from_file(name, text.encode()).sentences)


def refused(call: Callable[[], Texts], *words: str) -> str:
    with pytest.raises(UserError) as caught:
        call()
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message and all(word in message for word in words)
    return message
