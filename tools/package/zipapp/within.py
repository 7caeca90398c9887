"""The `__main__.py` of the unpacked tree. `python -I TREE` runs it, so that modules are imported from the tree."""

import sys

from app.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
