"""The sub-commands of ``python -m glauber_core``, one a file."""
