"""The treaty: pure values and functions that every program and every stranger agrees on."""
