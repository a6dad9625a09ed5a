//! What origins may do: as they and the person see it, with a real bridge and a real server.
//!
//! Each rule of the grants has its property test in `policy`. Here stands what holds from outside: on the wire, over
//! a restart, for several connections.

mod deciding;
mod ending;
mod inheriting;
mod lasting;
mod origins;
mod revoking;
mod telling;
mod wishes;

use harbor_tests::{Bridge, Double, ErrorValue, Home};

pub(crate) const SITE: &str = "https://site.example";

/// A bridge with the running server `s`.
pub(crate) fn bridge_with_server(home: &Home) -> Bridge {
    let bridge = Bridge::start(home);
    bridge.add_and_connect("s", &Double::sound(home));
    bridge
}

/// The same server after a restart of the bridge, which knows it.
pub(crate) fn restarted(home: &Home) -> Bridge {
    let bridge = Bridge::start(home);
    bridge.connect("s");
    bridge
}

/// An error without what differs from request to request.
pub(crate) fn said(error: ErrorValue) -> ErrorValue {
    ErrorValue { request_id: String::new(), ..error }
}
