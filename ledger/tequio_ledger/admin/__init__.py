"""Commands for the operator: backup, restore, doctor, migrate, move."""
