"""Inference in two stages with relations from data (Fersini, Messina, Felici & Roth, 2014)."""
