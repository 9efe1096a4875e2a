//! The judging procedure over a package, a plan and a device, producing a report.
