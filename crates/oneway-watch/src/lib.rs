//! A local page that shows runs and agents while they work.
//!
//! | to change … | look in |
//! |---|---|
//! | what the page is told | [`model`] |
//! | how the page is told of changes only | [`hub`] |
//! | what is answered, and to whom | [`server`], `request` |
//! | which points of a long curve are sent | [`thin`] |
//! | what the page looks like and does | `page/` |
//!
//! Whoever has something to show publishes documents in a [`Hub`](hub::Hub); a [`Server`](server::Server)
//! sends them to pages, and what changes after that. A document is a state and not an event: a page that is
//! slow misses states in between and nothing else, and one that comes late is told all there is.
//!
//! ```
//! use oneway_watch::hub::Hub;
//! use oneway_watch::server::Server;
//!
//! # fn main() -> std::io::Result<()> {
//! let hub = std::sync::Arc::new(Hub::default());
//! let server = Server::start(None, std::sync::Arc::clone(&hub))?;
//! assert!(server.address().starts_with("http://127.0.0.1:"));
//! hub.publish("head", &"shown to everyone who looks");
//! # Ok(())
//! # }
//! ```

pub mod hub;
pub mod model;
mod page;
mod request;
pub mod server;
pub mod thin;
