"""How the ledger's programs are configured: options, environment and a settings file."""
