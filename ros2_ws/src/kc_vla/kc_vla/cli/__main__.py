"""`python -m kc_vla.cli`: the same as `kc-vla`."""

from __future__ import annotations

import sys

from kc_vla.cli import main

if __name__ == "__main__":
    sys.exit(main())
