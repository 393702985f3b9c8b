"""The command line: ``python -m glauber_core``."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from glauber_core.commands import chain, rectangle, sweep
from glauber_core.errors import UserError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m glauber_core", description="Glauber dynamics on language models.")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (chain, rectangle, sweep):
        command.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0, or 2 after one sentence about what cannot be done, 130 if interrupted."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a word shows "?"
    try:
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stdout = open(os.devnull, "w")
        return 0
