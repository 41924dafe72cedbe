"""Checking a log as a stranger who trusts nobody: audits, competitions, and every reader of one."""
