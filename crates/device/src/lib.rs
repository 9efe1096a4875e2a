//! The Device trait: allocate, write, launch, time, export. One backend so far: emulated.
