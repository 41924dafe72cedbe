"""The connector: a separate program that lets accounts at other providers vouch for keys."""
