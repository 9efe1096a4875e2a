//! A .cu file becomes device source and a host plan; the interpreter of the host subset.
