"""Code of a run's plug-in: what it has to look like, and how the trainer loads and checks it."""
