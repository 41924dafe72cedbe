"""What an operator does to a ledger that rests or serves: back up, restore, replay, examine."""
