"""What only a program inside the user's session can see: input, windows, games, the network.

Nothing here reads input devices, hooks into programs or tries displays other than its own. Each
probe is asked in a thread of its own (`system.asker`), so that a desktop service that hangs never
stops the window; what nobody can tell is None.
"""
