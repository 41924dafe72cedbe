"""The first run: six steps to the first lending; nothing is lent before the last one."""
