"""The client distribution: app, worker, trainer, and the command line."""
