"""Plug-ins as files: how an archive is built and read, and which ones a volunteer has allowed."""
