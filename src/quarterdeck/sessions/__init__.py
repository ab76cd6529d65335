"""Running agents: the interface of every launcher, and the terminals that agents run in."""
