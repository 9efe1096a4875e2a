//! All SQL: queue, boards, accounts.
