"""Scoring models on texts of one's own, as competitions do."""
