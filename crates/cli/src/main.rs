//! The `lightspeed` command.
fn main() {}
