//! A port to listen on, granted to a server: as programs ask for it, and nothing else of the machine.

use harbor_tests::Attempt;
use serde_json::json;

use crate::attacks::Server;
use crate::listeners::free_port;
use crate::rows::{Row, User};
use crate::scene::Scene;

#[test]
fn a_granted_port_is_had_in_every_way_that_programs_ask_for_it() {
    for user in User::all() {
        let scene = Scene::new(Row::on(6, true), *user);
        scene.running(Server::Listening).unwrap();
        let port = scene.granted_port();
        let attempt = |arguments| Attempt::by(&scene.bridge, "listening", "listen_at", &arguments).unwrap();
        for (host, family, only_v6, reached) in [
            ("127.0.0.1", "AF_INET", false, "127.0.0.1"),
            ("0.0.0.0", "AF_INET", false, "127.0.0.1"),
            ("::", "AF_INET6", false, "127.0.0.1"),
            ("::", "AF_INET6", true, "::1"),
            ("::1", "AF_INET6", true, "::1"),
        ] {
            let arguments = json!({
                "port": port, "host": host, "family": family, "only_v6": only_v6, "reached": reached,
            });
            let Attempt { done, detail } = attempt(arguments);
            assert!(done, "{user:?} {host} {only_v6}: {detail}");
        }
        let datagram =
            |arguments| Attempt::by(&scene.bridge, "listening", "hear_datagram", &arguments).unwrap();
        // A port that the kernel chooses is had by whoever only sends.
        for given in [port, 0] {
            let Attempt { done, detail } = datagram(json!({"port": given}));
            assert!(done, "{user:?} UDP {given}: {detail}");
        }
        let Attempt { done, detail } = attempt(json!({"port": free_port()}));
        assert!(!done && detail.starts_with("EACCES"), "{user:?}: {detail}");
        scene.assert_unharmed();
    }
}
