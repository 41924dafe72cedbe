"""Training on a member's own texts, for a private group: with differential privacy, if it asks."""
