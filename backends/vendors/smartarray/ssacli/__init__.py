"""Command lines and parsers for ssacli, hpssacli and hpacucli, which have the same grammar."""
