"""What several benches share: loops to measure against, and the machine beside the figures."""
