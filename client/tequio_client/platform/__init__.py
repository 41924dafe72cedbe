"""Access to the operating system for app and probe: every call has a deadline and is checked."""
