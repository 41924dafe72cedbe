"""The probe: reads what the accelerators and the machine are doing, for the worker.

A process of its own, because a driver that is reset while it is asked has taken its caller with
it. Each source has its thread (`system.asker`); one that hangs or fails makes its own facts
unknown and nothing else.
"""
