//! Servers beside each other: what each is granted is its own, in a runner of its own or in one for all.

use std::path::PathBuf;

use harbor_tests::attacker::facts;
use harbor_tests::{Attempt, Process};
use serde_json::{Value, json};

use crate::attacks::Server;
use crate::rows::{ABIS, Row, User};
use crate::scene::{KEY, LETTER, Scene};

const ROWS: &[Row] = &[Row::on(6, true), Row::on(6, false), Row::SHARED];

#[test]
fn a_grant_is_one_servers_and_not_its_neighbours() {
    for (row, user) in ROWS.iter().flat_map(|row| User::all().iter().map(move |user| (*row, *user))) {
        let scene = Scene::new(row, user);
        let key = scene.person_home(KEY);
        scene.add("granted", &json!({"read": [scene.person_home("documents")]}));
        scene.bridge.connect("granted");
        let letter = scene.person_home(LETTER);
        let read = |id: &str, path: &std::path::Path| {
            let arguments = json!({"path": path, "secret": scene.secret});
            Attempt::by(&scene.bridge, id, "read", &arguments).unwrap().done
        };
        let usual = scene.running(Server::Usual).unwrap();
        assert!(read("granted", &letter), "{row:?} {user:?}");
        assert!(!read("granted", &key));
        assert!(!read(usual, &letter));
        assert!(!read("granted", &scene.other_data("diary")));
        assert!(read("other", &scene.other_data("diary")), "it has its own data");
    }
}

#[test]
fn a_server_has_its_secrets_and_a_home_of_its_own() {
    for (row, user) in ROWS.iter().flat_map(|row| User::all().iter().map(move |user| (*row, *user))) {
        let scene = Scene::new(row, user);
        let found = facts(&scene.bridge, "other");
        assert_eq!(found["home"], json!(scene.other_data("").parent().unwrap().join("data")));
        let names = found["environment"].as_array().unwrap();
        assert!(names.contains(&json!("ATTACKER_SECRET")), "{names:?}");
        let process = scene.other_process();
        assert!(!process.command_line().contains(&scene.secret), "secrets are in no command line");
        let runner = Process::named_by(&scene.bridge.server("other")["runner_pid"]);
        assert!(!runner.command_line().contains(&scene.secret));
        let environment = std::fs::read(format!("/proc/{}/environ", runner.pid)).unwrap_or_default();
        let own = format!("ATTACKER_SECRET={}", scene.secret);
        assert!(!String::from_utf8_lossy(&environment).contains(&own), "nor does the runner carry them");
    }
}

/// Without this a server that can do nothing at all would pass every test of this theme.
#[test]
fn what_is_its_own_a_server_may_use() {
    for (row, user) in ROWS.iter().flat_map(|row| User::all().iter().map(move |user| (*row, *user))) {
        let scene = Scene::new(row, user);
        let usual = scene.running(Server::Usual).unwrap();
        let found = facts(&scene.bridge, usual);
        let file = scene.own().join("file");
        let tmp = PathBuf::from(found["tmp"].as_str().unwrap()).join("file");
        let (port, machine) = (scene.tcp_port(), scene.address());
        let does = |name: &str, arguments: Value| {
            let attempt = Attempt::by(&scene.bridge, usual, name, &arguments).unwrap();
            assert!(attempt.done, "{row:?} {user:?}: {name}: {}", attempt.detail);
        };
        does("write", json!({"path": file}));
        does("read", json!({"path": file, "secret": "attacked"}));
        does("change_mode_by_descriptor", json!({"path": file}));
        does("remove", json!({"path": file}));
        does("make_directory", json!({"path": scene.own().join("directory")}));
        does("write", json!({"path": tmp}));
        does("write", json!({"path": "/dev/null"}));
        does("run_program", json!({"path": "/usr/bin/uname", "secret": "Linux"}));
        does("fork_bomb", json!({"count": 8, "seconds": 0}));
        does("connect", json!({"host": machine, "port": port, "answer": scene.secret}));
        does("send_datagram", json!({"host": machine, "port": scene.udp_port(), "answer": scene.secret}));
    }
}

/// What a definition names is granted, at each start anew: what a server can change must not be what it names.
#[test]
fn a_server_does_not_widen_its_own_next_start() {
    for (row, user) in ROWS.iter().flat_map(|row| User::all().iter().map(move |user| (*row, *user))) {
        let scene = Scene::new(row, user);
        let own = scene.data_of("greedy");
        let mut definition = scene.definition("greedy", &json!({}));
        let named = own.join("notes");
        definition["args"].as_array_mut().unwrap().push(json!(named));
        scene.bridge.call("add_server", &definition).unwrap();
        scene.bridge.connect("greedy");
        let does =
            |name: &str, arguments: Value| Attempt::by(&scene.bridge, "greedy", name, &arguments).unwrap();
        let documents = scene.person_home("documents");
        let tmp = PathBuf::from(facts(&scene.bridge, "greedy")["tmp"].as_str().unwrap());
        for (link, target) in [
            (named.clone(), documents.clone()),
            (own.join("node_modules"), documents.clone()),
            (own.join("bin"), documents.clone()),
            (own.join(".venv"), documents.clone()),
            (tmp.join("link"), documents.clone()),
        ] {
            assert!(does("link_to", json!({"path": link, "target": target})).done);
        }
        let package = json!({"path": own.join("package.json"), "text": "{\"name\": \"greedy\"}\n"});
        assert!(does("write", package).done);
        let venv =
            json!({"path": own.join("pyvenv.cfg"), "text": format!("home = {}\n", documents.display())});
        assert!(does("write", venv).done);
        scene.stop("greedy");
        scene.bridge.connect("greedy");
        for way in [scene.person_home(LETTER), named.join("letter"), own.join("node_modules/letter")] {
            let read = does("read", json!({"path": way, "secret": scene.secret}));
            assert!(!read.done, "{row:?} {user:?}: {}", way.display());
        }
    }
}

/// Of what two servers may write, and of what one could write before its grant was taken back.
#[test]
fn a_server_does_not_widen_the_next_start_of_another() {
    for (row, user) in ROWS.iter().flat_map(|row| User::all().iter().map(move |user| (*row, *user))) {
        let scene = Scene::new(row, user);
        let (shared, letter) = (scene.person_home("shared"), scene.person_home(LETTER));
        let (link, granted) = (shared.join("link"), shared.join("granted"));
        for directory in [&shared, &granted] {
            scene.plant_file(&directory.join("file"));
        }
        scene.add("layer", &json!({"write": [shared]}));
        scene.bridge.connect("layer");
        let lay = |scene: &Scene| {
            let documents = json!({"path": link, "target": scene.person_home("documents")});
            assert!(Attempt::by(&scene.bridge, "layer", "link_to", &documents).unwrap().done);
        };
        let mut led = scene.definition("led", &json!({"write": [granted]}));
        led["args"].as_array_mut().unwrap().push(json!(link.join("letter")));
        scene.bridge.call("add_server", &led).unwrap();
        let reads = |scene: &Scene, id: &str| {
            scene.bridge.connect(id);
            let arguments = json!({"path": letter, "secret": scene.secret});
            let done = Attempt::by(&scene.bridge, id, "read", &arguments).unwrap().done;
            scene.stop(id);
            done
        };
        lay(&scene);
        assert!(!reads(&scene, "led"), "{row:?} {user:?}: beside the one that has laid it");
        let narrowed = json!({"server_id": "layer", "sandbox": {"write": []}});
        scene.bridge.call("set_sandbox", &narrowed).unwrap();
        assert!(!reads(&scene, "led"), "{row:?} {user:?}: after its grant");
        let refused = scene.bridge.call("add_server", &scene.definition("asks", &json!({"read": [link]})));
        let refused =
            refused.err().or_else(|| scene.bridge.call("mcp_connect", &json!({"server_id": "asks"})).err());
        let refused = refused.unwrap().message;
        assert!(refused.contains("grant that place by its own name"), "{refused}");
        let by_name = json!({"read": [scene.person_home("documents")]});
        scene.add("named", &by_name);
        assert!(reads(&scene, "named"), "{row:?} {user:?}: what the person names is granted");
    }
}

/// It sees the machine as it is, and is the one process of Harbor's that a server sees.
#[test]
fn the_init_of_its_namespace_is_no_way_out() {
    let off = Row { off: true, namespaces: true, shared: false, landlock: 0 };
    let rows = ABIS.iter().map(|abi| Row::on(*abi, true)).chain([off]);
    for (row, user) in rows.flat_map(|row| User::all().iter().map(move |user| (row, *user))) {
        let scene = Scene::new(row, user);
        let usual = scene.running(Server::Usual).unwrap();
        let expected = row.off && user == User::Root;
        let key = json!({"pid": 1, "path": scene.person_home(KEY), "secret": scene.secret});
        for (name, arguments) in [("read_through_root", key), ("read_program_in_memory", json!({"pid": 1}))] {
            let attempt = Attempt::by(&scene.bridge, usual, name, &arguments).unwrap();
            assert_eq!(attempt.done, expected, "{row:?} {user:?} {name}: {}", attempt.detail);
        }
        // The kernel drops what init has no handler for, so this harms nobody.
        let _ = Attempt::by(&scene.bridge, usual, "send_signal", &json!({"pid": 1, "number": 9})).unwrap();
        scene.assert_unharmed();
    }
}

/// A proxy that is not there at all would let nothing through either.
#[test]
fn what_is_not_listed_is_refused_by_the_proxy() {
    for user in User::all() {
        let scene = Scene::new(Row::on(6, true), *user);
        let hosts = scene.running(Server::Hosts).unwrap();
        for host in ["127.0.0.1", "localhost", "unlisted.example", "[::ffff:127.0.0.1]"] {
            let asked = json!({"host": host, "address": host, "port": 443, "answer": "nothing"});
            let attempt = Attempt::by(&scene.bridge, hosts, "tunnel", &asked).unwrap();
            assert!(
                attempt.detail.starts_with("the proxy said b'HTTP/1.1 403"),
                "{host}: {}",
                attempt.detail
            );
        }
    }
}

#[test]
fn a_granted_socket_can_be_connected_to() {
    for (row, user) in ROWS.iter().flat_map(|row| User::all().iter().map(move |user| (*row, *user))) {
        let scene = Scene::new(row, user);
        let id = scene.running(Server::Socket).unwrap();
        let arguments = json!({"path": scene.run("granted"), "answer": scene.secret});
        let attempt = Attempt::by(&scene.bridge, id, "connect_unix", &arguments).unwrap();
        assert!(attempt.done, "{row:?} {user:?}: {}", attempt.detail);
    }
}

/// A definition may well name such a place: by mistake, or because somebody has talked the person into it.
#[test]
fn what_is_protected_is_not_granted_by_being_named() {
    for (row, user) in ROWS.iter().flat_map(|row| User::all().iter().map(move |user| (*row, *user))) {
        let scene = Scene::new(row, user);
        let places = [
            scene.person_home(KEY),
            scene.person_home(".ssh"),
            scene.person_home(""),
            scene.harbor(""),
            scene.harbor("run/token"),
            scene.harbor("servers/other/data"),
            PathBuf::from("/"),
        ];
        for (number, place) in places.iter().enumerate() {
            let mut by_argument = scene.definition(&format!("argument{number}"), &json!({}));
            by_argument["args"].as_array_mut().unwrap().push(json!(place));
            let mut by_cwd = scene.definition(&format!("cwd{number}"), &json!({}));
            by_cwd["cwd"] = json!(place);
            let by_read = scene.definition(&format!("read{number}"), &json!({"read": [place]}));
            let by_write = scene.definition(&format!("write{number}"), &json!({"write": [place]}));
            for definition in [by_argument, by_cwd, by_read, by_write] {
                let id = definition["server_id"].as_str().unwrap();
                // It may be refused to be defined, to be started, or to read.
                let defined = scene.bridge.call("add_server", &definition).is_ok();
                if defined && scene.bridge.call("mcp_connect", &json!({"server_id": id})).is_ok() {
                    for secret in
                        [scene.person_home(KEY), scene.other_data("diary"), scene.harbor("secrets/key")]
                    {
                        let arguments = json!({"path": secret, "secret": scene.secret});
                        let attempt = Attempt::by(&scene.bridge, id, "read", &arguments).unwrap();
                        assert!(
                            !attempt.done,
                            "{row:?} {user:?} {id} {}: {}",
                            place.display(),
                            secret.display()
                        );
                    }
                    scene.stop(id);
                }
            }
        }
    }
}
