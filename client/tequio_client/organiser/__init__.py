"""The organiser's commands: plan a run, open it, control it, admit and rule on keys."""
