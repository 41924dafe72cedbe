"""The volunteer's programs: worker, trainer, and the commands that start them."""
