"""The version of this software; the package's own is read from here when it is built."""

BUILD = "0.1.0"
