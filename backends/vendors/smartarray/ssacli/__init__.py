"""What ssacli, hpssacli and hpacucli say and are told: one grammar under three names."""
