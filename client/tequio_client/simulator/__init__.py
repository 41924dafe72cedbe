"""A network of simulated peers on the real rules: admission, fold, coordinator and duties."""
