"""The app's own parts: each draws itself by the theme and says aloud what it shows."""
