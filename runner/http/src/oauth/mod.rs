//! OAuth, as far as it is spoken over HTTP: the decisions are `harbor_policy::oauth`'s.
//!
//! ```text
//!  Petition ─► authorize: Flow ─► fetch, or the person ─► Flow ─► … ─► granted
//!  a request ─► `crate::holder`: the token ─► has ended, or 401 ─► the bridge ─► a process of its own: renew ─► stored ─► once more
//! ```
//!
//! Owns that a token goes to its server only, and that a token for renewal goes to the token endpoint only. Must never
//! follow a redirect to another place with either.

mod authorize;
mod fetch;

pub use authorize::{authorize, renew, revoke};
