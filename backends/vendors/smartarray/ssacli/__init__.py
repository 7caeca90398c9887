"""Command lines and parsers for ssacli, hpssacli and hpacucli, whose commands have the same form."""
