"""Messages between the programs on one computer: app, worker, trainer, evaluator and probe."""
