"""The tree's own __main__: `python -I TREE` looks for modules there, and this is what it runs."""

import sys

from app.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
