"""What an organiser does: plans a run, opens it, and watches over it."""
