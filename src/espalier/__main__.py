"""`python -m espalier` is the command `espalier`."""

import sys

from espalier.cli import main

if __name__ == "__main__":
    sys.exit(main())
