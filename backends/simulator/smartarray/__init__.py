"""Simulated Smart Array, SmartRAID and Adaptec controllers: firmware shared by ssacli and arcconf, and an older one."""
