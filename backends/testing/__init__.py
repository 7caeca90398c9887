"""What a vendor module is tested with: for tests here and of authors elsewhere.

Needs the extra `raidbench[testing]`. Nothing else in the program imports it (import-linter), so the program never needs
pytest.
"""
