"""The file `__main__.py` of the unpacked tree: `python -I TREE` runs it and imports modules from the tree."""

import sys

from app.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
