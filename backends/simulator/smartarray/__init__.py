"""Simulated Smart Array, SmartRAID and Adaptec controllers. Series 2 to 8 have a different firmware."""
