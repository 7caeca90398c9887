"""Read-only queries of many hosts: fan-out over ssh, reasons why hosts are missing, and their differences."""
