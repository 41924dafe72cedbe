"""The app's own widgets: painted in the colours of the theme, with accessible names."""
