//! Confines and re-executes the one binary as a throw-away child: Landlock, rlimits, wall clock, no network.
