"""The way of a statement into the log: admitted, put in a batch, committed by the one writer."""
