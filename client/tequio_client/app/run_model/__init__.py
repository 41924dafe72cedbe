"""The Model page: how a run's model develops, and a chat with its newest head."""
