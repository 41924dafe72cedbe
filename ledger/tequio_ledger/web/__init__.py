"""HTTP interface of the ledger: parse, call, render."""
