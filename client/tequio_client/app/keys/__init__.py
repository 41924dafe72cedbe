"""The key in the app: make, unlock, back up, restore and store it."""
