"""The connector: a program of its own that lets accounts elsewhere vouch for keys here."""
