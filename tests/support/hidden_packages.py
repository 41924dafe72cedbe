"""Programs that run as if some packages were not installed."""

HIDE = """
import sys

class Without:
    def __init__(self, finder):
        self._finder = finder
    def __getattr__(self, name):
        return getattr(self._finder, name)
    def find_spec(self, name, path=None, target=None):
        is_hidden = name.partition(".")[0] in hidden
        return None if is_hidden else self._finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
"""
"""Source that makes the top-level packages in `hidden`, set before it, impossible to import."""
