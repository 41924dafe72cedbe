"""The app's worker process and the conversation with it."""
