"""Test suites for vendor modules, in this project and elsewhere.

They need the extra `raidbench[testing]`. The program itself never imports them (checked by import-linter), so it does
not need pytest.
"""
