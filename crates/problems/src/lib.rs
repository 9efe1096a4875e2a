//! Problem packages: model, loader, validation, shape drawing, expressions, input generators.
