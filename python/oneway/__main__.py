"""The command ``oneway``."""

from __future__ import annotations

import sys

from oneway import _native


def main() -> int:
    """Run the command with the process's arguments; return its exit code."""
    return _native.main(["oneway", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
