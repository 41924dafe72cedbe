"""Head."""
