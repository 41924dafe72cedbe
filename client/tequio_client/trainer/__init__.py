"""The torch process: trains, encodes, screens and computes heads; no network, no key."""
