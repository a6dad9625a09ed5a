//! What an origin can do with tools, end to end: the acceptance list of the host, every error code of a call, and what
//! passes in each direction.

mod acceptance;
mod arguments;
mod codes;
mod results;

use harbor_tests::{Asker, Bridge, Double, Home};

/// A web page's origin.
pub(crate) const PAGE: &str = "https://page.example";

/// A bridge with the server `s`, and a page that may list and call its tools.
pub(crate) fn scene(home: &Home, double: &Double) -> (Bridge, Asker) {
    let bridge = Bridge::start(home);
    bridge.add_and_connect("s", double);
    let page = bridge.asking(PAGE).allowed();
    (bridge, page)
}
