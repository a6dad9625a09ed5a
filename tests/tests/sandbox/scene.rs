//! One bridge in one row, with servers, a person, and all that a server is not to reach.
//!
//! ```text
//!  home (HOME of the bridge) ── h: HARBOR_HOME ── servers/usual: attacks, servers/other: is attacked
//!    ├─ .ssh, .gnupg, browsers, documents                person: a program with secrets in memory
//!    └─ attacker.pyz, bin: Harbor's programs             listeners: sockets in /run, /tmp, abstract, TCP, UDP
//! ```
//!
//! Owns who runs. The home is not in /tmp, which is another one for a server anyway. It must never be the tester's own.

mod person;
mod places;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use harbor_tests::processes::assert_gone;
use harbor_tests::{Attacker, Bridge, DOWN_LIMIT, Home, LIMIT, Process, attacker, programs, wait_until};
use nix::unistd::geteuid;
use serde_json::{Value, json};

pub use self::places::{KEY, LETTER};

use self::person::Person;
use self::places::Outside;
use crate::attacks::Server;
use crate::listeners;
use crate::rows::{Row, User};

/// Nobody.
const ORDINARY: u32 = 65534;

/// A bridge and its victims. The bridge goes before its home.
pub struct Scene {
    pub bridge: Bridge,
    pub secret: String,
    pub row: Row,
    pub user: User,
    added: RefCell<BTreeSet<Server>>,
    person: RefCell<Option<Person>>,
    ports: OnceCell<(u16, u16)>,
    granted_port: u16,
    attacker: Attacker,
    outside: Outside,
    home: Home,
}

impl Scene {
    /// A bridge for this user in this row, with everything planted and the victim running.
    pub fn new(row: Row, user: User) -> Self {
        let home = Home::below(&roomy_place());
        let attacker = Attacker::pack(&home);
        let secret = format!("secret-of-{}", home.id());
        let outside = Outside::new();
        let bridge = start_bridge(&home, &outside, row, user, &secret);
        let scene = Self {
            bridge,
            secret,
            row,
            user,
            added: RefCell::default(),
            person: RefCell::default(),
            ports: OnceCell::new(),
            granted_port: listeners::free_port(),
            attacker,
            outside,
            home,
        };
        // It makes its home itself, and takes none that it finds half made.
        scene.bridge.call("ping", &json!({})).unwrap();
        scene.plant();
        scene.listen();
        scene.add("other", &json!({}));
        scene.bridge.connect("other");
        scene.plant_file(&scene.other_data("diary"));
        scene
    }

    fn uid(&self) -> u32 {
        match self.user {
            User::Ordinary if geteuid().is_root() => ORDINARY,
            _ => geteuid().as_raw(),
        }
    }

    fn listen(&self) {
        fs::create_dir(self.run("systemd")).unwrap();
        let at = [
            self.run("bus"),
            self.run("systemd/private"),
            self.run("docker.sock"),
            self.run("granted"),
            self.machine_tmp("agent.1"),
        ];
        for path in &at {
            listeners::stream(path, &self.secret);
        }
        listeners::datagrams(&self.run("notify"));
        for path in at.iter().chain([&self.run("notify"), &self.run("systemd")]) {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        }
        listeners::abstract_stream(&self.abstract_name("x11")[1..], &self.secret);
        listeners::abstract_datagrams(&self.abstract_name("notify")[1..]);
    }

    /// Defines an attacker with these settings.
    pub fn add(&self, id: &str, sandbox: &Value) {
        self.bridge.call("add_server", &self.definition(id, sandbox)).unwrap();
    }

    /// The fields of `add_server`; in the row `off` the settings are only that.
    pub fn definition(&self, id: &str, sandbox: &Value) -> Value {
        let off = json!({"level": "off"});
        self.attacker.definition(id, &self.secret, if self.row.off { &off } else { sandbox })
    }

    /// The server, running.
    ///
    /// # Errors
    /// Why it is not started.
    pub fn running(&self, server: Server) -> Result<&'static str, String> {
        let id = server.id();
        if self.added.borrow_mut().insert(server) {
            self.add(id, &self.settings(server));
        }
        if self.bridge.server(id)["state"] != "running" {
            let connected = self.bridge.call("mcp_connect", &json!({"server_id": id}));
            connected.map_err(|error| format!("{}: {}", error.code, error.message))?;
        }
        Ok(id)
    }

    /// The port of a TCP service of the machine.
    pub fn tcp_port(&self) -> u16 {
        self.ports().0
    }

    /// The port of a UDP service of the machine.
    pub fn udp_port(&self) -> u16 {
        self.ports().1
    }

    fn ports(&self) -> (u16, u16) {
        *self.ports.get_or_init(|| (listeners::tcp(&self.secret), listeners::udp(&self.secret)))
    }

    /// The machine's address.
    pub fn address(&self) -> String {
        listeners::address().to_string()
    }

    /// The port on which a server may listen.
    pub fn granted_port(&self) -> u16 {
        self.granted_port
    }

    /// The bridge's process.
    pub fn bridge_pid(&self) -> u32 {
        self.bridge.process().pid
    }

    fn settings(&self, server: Server) -> Value {
        match server {
            Server::Socket => json!({"sockets": [self.run("granted")]}),
            Server::Usual => json!({}),
            Server::Offline => json!({"network": "none"}),
            Server::Listening => json!({"listen": self.granted_port()}),
            Server::Loopback => json!({"network": "loopback"}),
            Server::Hosts => {
                json!({"network": "hosts", "hosts": ["allowed.example", "*.allowed.example:8443"]})
            }
            Server::Small => json!({
                "memory_mb": 128, "processes": 40, "open_files": 256, "file_size_mb": 16, "disk_mb": 64,
            }),
        }
    }

    /// A fact about the other server, by its own word; its process id as it is outside.
    pub fn other(&self, fact: &str) -> Value {
        let process = self.other_process();
        if fact == "pid" { json!(process.pid) } else { attacker::facts(&self.bridge, "other")[fact].clone() }
    }

    /// The other server, running.
    pub fn other_process(&self) -> Process {
        let mut found = None;
        wait_until("the other server to run", LIMIT, || {
            let shown = self.bridge.server("other");
            if shown["state"] == "running" {
                // Right after its end it may still be told as running.
                found = shown["pid"].as_u64().and_then(|pid| Process::of(u32::try_from(pid).ok()?));
            } else {
                self.bridge.connect("other");
            }
            found.is_some()
        });
        found.unwrap()
    }

    /// A fact about the person's program.
    pub fn person(&self, fact: &str) -> Value {
        let _ = self.person_process();
        self.person.borrow().as_ref().unwrap().facts[fact].clone()
    }

    /// The person's program, running.
    pub fn person_process(&self) -> Process {
        let mut person = self.person.borrow_mut();
        if person.as_ref().is_none_or(|person| person.process.is_gone()) {
            let mut command = self.attacker.command();
            command.arg("person").env("ATTACKER_SECRET", &self.secret).current_dir("/");
            as_user(&mut command, self.uid());
            *person = Some(Person::begin(&mut command));
        }
        person.as_ref().unwrap().process
    }

    /// Waits until a daemon has written its number, and finds it.
    pub fn daemon(&self, file: &Path) -> Process {
        let mut id = String::new();
        wait_until("a daemon to say its number", LIMIT, || {
            id = fs::read_to_string(file).unwrap_or_default();
            !id.is_empty()
        });
        fs::remove_file(file).unwrap();
        harbor_tests::processes::by_own_id(&id, &self.bridge.tree())
    }

    /// Stops a server.
    pub fn stop(&self, id: &str) {
        self.bridge.call("mcp_disconnect", &json!({"server_id": id})).unwrap();
        wait_until("the server to have stopped", LIMIT, || self.bridge.server(id)["state"] == "stopped");
    }

    /// Bridge and other server are as they were, and answer.
    pub fn assert_unharmed(&self) {
        assert!(self.bridge.is_alive(), "the bridge answers");
        assert_eq!(self.bridge.server("other")["state"], "running");
        assert!(attacker::facts(&self.bridge, "other")["pid"].is_u64(), "the other server answers");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if let Some(person) = self.person.get_mut().take() {
            let process = person.process;
            drop(person);
            assert_gone(&[process], DOWN_LIMIT);
        }
    }
}

/// A directory that every user can reach, outside of /tmp; without one, /tmp.
fn roomy_place() -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let open = |dir: &Path| fs::metadata(dir).is_ok_and(|data| data.mode() & 0o001 != 0);
    let fits = place.as_os_str().len() < 60 && place.ancestors().all(open);
    if fits || !geteuid().is_root() { place } else { std::env::temp_dir() }
}

fn as_user(command: &mut Command, uid: u32) {
    if uid != geteuid().as_raw() {
        command.uid(uid).gid(uid);
    }
}

fn start_bridge(home: &Home, outside: &Outside, row: Row, user: User, secret: &str) -> Bridge {
    let person_home = home.path().parent().unwrap().to_owned();
    let copies = person_home.join("bin");
    fs::create_dir(&copies).unwrap();
    // Beside each other, and where every user can reach them.
    for program in fs::read_dir(programs::product_dir()).unwrap().flatten().map(|entry| entry.path()) {
        let name = program.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("harbor") && program.extension().is_none() && program.is_file() {
            fs::hard_link(&program, copies.join(&name))
                .or_else(|_| fs::copy(&program, copies.join(&name)).map(drop))
                .unwrap();
        }
    }
    let mut command = Command::new(copies.join("harbor-bridge"));
    command.args(["serve", "--stdio"]).current_dir("/");
    programs::take_environment(&mut command, &home.command("harbor-bridge"));
    command.envs(row.environment()).env("HOME", &person_home).env("AWS_SECRET_ACCESS_KEY", secret);
    let run = outside.run.path().to_string_lossy().into_owned();
    command.env("XDG_RUNTIME_DIR", &run).env("DISPLAY", ":0");
    command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={run}/bus"));
    command.env("SSH_AUTH_SOCK", outside.tmp.path().join("agent.1"));
    if user == User::Ordinary && geteuid().is_root() {
        home.hand_to(ORDINARY, ORDINARY);
        as_user(&mut command, ORDINARY);
    }
    Bridge::start_as(home, &mut command)
}
