//! What clients, workers and the API say to each other.
