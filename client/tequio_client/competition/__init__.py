"""Competitions as people take part in them: organisers, entrants, custodians, evaluators."""
