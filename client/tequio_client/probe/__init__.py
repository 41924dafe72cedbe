"""The probe: reads the state of the accelerators and the machine, for the worker.

A process of its own, because a driver that is reset during a call has taken its caller down with
it. Each source has its thread (`platform.asker`); one that hangs or fails makes only its own facts
unknown.
"""
