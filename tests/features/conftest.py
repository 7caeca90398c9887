"""Tests of features: commands on a state folder of their own, and screens of a machine at rest."""

from tests.cli.conftest import cli, demo_state, machine, state
from tests.headless import drawn_at_rest, styles_parsed_once
from tests.tui.conftest import still, table

__all__ = ["cli", "demo_state", "drawn_at_rest", "machine", "state", "still", "styles_parsed_once", "table"]
