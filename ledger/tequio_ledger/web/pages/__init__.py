"""What people see of the ledger in a browser: pages that work without scripts."""
