"""The probe: reads what the accelerators and the machine are doing, for the worker."""
