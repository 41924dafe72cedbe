"""Facts that only a program inside the user's session can see: input, windows, games, the network.

Nothing here reads input devices, hooks into programs or opens other displays than its own. Each
probe runs in its own thread (`platform.asker`), so a desktop service that hangs never blocks the
window; a fact that cannot be determined is None.
"""
