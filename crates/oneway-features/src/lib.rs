//! Nothing but dependencies.
//!
//! Cargo compiles a dependency again for every set of features that is asked of it, and with it all that
//! depends on it. Programs that are built one after another, each with dependencies of its own, would so
//! compile the library once each. Those that depend on this crate ask for the same features.
