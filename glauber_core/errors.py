"""Errors whose message a person can act on."""

from __future__ import annotations


class GlauberError(Exception):
    """Base class of the errors that glauber_core raises on purpose."""


class UserError(GlauberError, ValueError):
    """Something the user gave cannot be used; the message is one clear sentence that says what to do next."""


class Busy(UserError):
    """Too much is waiting already; the same request may well be served a moment later."""


class Cancelled(GlauberError):
    """Ends work that nobody waits for any more: raised by a progress callback, and by a sampler whose session ended.

    What is complete by then may be kept.
    """


class Abandoned(Cancelled, Busy):
    """A wait that was given up: the session gave no sign of life. It may ask again."""
