"""Errors whose message a person can act on."""

from __future__ import annotations


class GlauberError(Exception):
    """Base class of the errors that glauber_core raises on purpose."""


class UserError(GlauberError, ValueError):
    """Something the user gave cannot be used; the message is one clear sentence that says what to do next."""


class Cancelled(GlauberError):
    """Raised by a progress callback to end the work it reports on; what is complete by then may be kept."""
