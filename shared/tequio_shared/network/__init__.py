"""A network as its log defines it: genesis, runs, and the standing, tiers and teams of keys."""
