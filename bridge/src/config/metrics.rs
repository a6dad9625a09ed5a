//! Where metrics may be listened for.
//!
//! Owns the rule: on loopback. They name servers and count what the person does; whoever should have them from elsewhere has
//! a monitoring system of this machine in between.

use std::net::SocketAddr;

/// The rule for the address, as an error tells it.
pub const LISTEN_RULE: &str =
    "an address of this machine's loopback and a port, such as \"127.0.0.1:9464\" or \"[::1]:9464\"";

/// The address, if it is allowed. Port 0 is any that is free.
#[must_use]
pub fn listen_address(text: &str) -> Option<SocketAddr> {
    text.parse().ok().filter(|address: &SocketAddr| address.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_with_a_port_is_taken() {
        for text in ["127.0.0.1:9464", "127.0.0.2:0", "[::1]:9464"] {
            assert_eq!(listen_address(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "9464",
            ":9464",
            "127.0.0.1",
            "0.0.0.0:9464",
            "192.168.0.1:1",
            "[::]:9464",
            "localhost:9464",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert_eq!(listen_address(text), None, "{text}");
        }
    }
}
