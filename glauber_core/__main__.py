"""``python -m glauber_core``."""

from glauber_core.cli import main

raise SystemExit(main())
