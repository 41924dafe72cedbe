"""Scoring of models on any texts, exactly as competitions do it."""
