"""Simulated Smart Array, SmartRAID and Adaptec cards: one firmware behind ssacli and arcconf, and the older one."""
