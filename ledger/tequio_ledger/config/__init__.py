"""Configuration of the ledger's programs: options, environment and a settings file."""
