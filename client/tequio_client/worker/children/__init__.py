"""The worker's child processes: one supervisor, and the trainer, evaluator and probe it runs."""
