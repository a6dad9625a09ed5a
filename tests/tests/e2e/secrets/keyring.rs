//! A real Secret Service (gnome-keyring) on a message bus of its own: its key, locked, gone, and moved to and from.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use harbor_tests::{Bridge, Double, Home, LIMIT, Program, wait_until};
use serde_json::{Value, json};

use super::{VALUE, environment, file, files_with, set};

/// One of the programs that scripts/test has found.
pub fn tool(name: &str) -> PathBuf {
    let dir = std::env::var_os("HARBOR_TEST_KEYRING").filter(|dir| !dir.is_empty());
    let dir =
        dir.expect("HARBOR_TEST_KEYRING is not set: run scripts/test, which finds a keyring and sets it");
    PathBuf::from(dir).join("bin").join(name)
}

const BUS: &str = r#"<busconfig><type>session</type><listen>unix:path=SOCKET</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"#;

/// A session with a message bus.
struct Session {
    place: PathBuf,
    address: String,
    _bus: Program,
}

impl Session {
    fn begin(home: &Home) -> Self {
        let place = home.scratch("session");
        fs::create_dir_all(place.join("bin")).unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o700)).unwrap();
        let config = place.join("bus.conf");
        fs::write(&config, BUS.replace("SOCKET", place.join("bus").to_str().unwrap())).unwrap();
        // Its libraries are its own; Harbor's programs have the system's.
        let (program, own) = (place.join("bin/secret-tool"), tool("secret-tool"));
        let script = format!("#!/bin/sh\nLD_LIBRARY_PATH={} exec {} \"$@\"\n", libraries(), own.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new("dbus-daemon");
        let mut bus = Program::start(
            command
                .arg(format!("--config-file={}", config.display()))
                .args(["--nofork", "--print-address=1"]),
        );
        let mut address = String::new();
        BufReader::new(bus.pipes().1).read_line(&mut address).unwrap();
        Self { place, address: address.trim().to_owned(), _bus: bus }
    }

    fn env(&self) -> Vec<(&'static str, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        vec![
            ("DBUS_SESSION_BUS_ADDRESS", self.address.clone()),
            ("PATH", format!("{}:{path}", self.place.join("bin").display())),
        ]
    }

    fn bridge(&self, home: &Home) -> Bridge {
        let env = self.env();
        let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Bridge::start_with(home, &env)
    }

    /// A keyring whose password was given, or not.
    fn keyring(&self, unlocked: bool) -> Program {
        let mut command = Command::new(tool("gnome-keyring-daemon"));
        command.args(["--foreground", "--components=secrets"]).args(unlocked.then_some("--unlock"));
        command.envs(self.env()).env("HOME", &self.place).env("XDG_RUNTIME_DIR", &self.place);
        command.env("XDG_DATA_HOME", self.place.join("share")).env("LD_LIBRARY_PATH", libraries());
        let mut program = Program::start(&mut command);
        program.pipes().0.write_all(b"password of the session").unwrap();
        wait_until("the Secret Service", LIMIT, || {
            self.secret_tool(&["search", "service", "none"]).1.is_empty()
        });
        program
    }

    fn secret_tool(&self, args: &[&str]) -> (String, String) {
        let mut command = Command::new(self.place.join("bin/secret-tool"));
        let output = command.args(args).envs(self.env()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }
}

fn libraries() -> String {
    let lib = tool("x").parent().unwrap().with_file_name("lib");
    let below = fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = below.filter(|path| path.is_dir() && path.to_string_lossy().ends_with("-linux-gnu"));
    all.map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>().join(":")
}

fn standing(bridge: &Bridge) -> Value {
    bridge.call("get_secret_store", &json!({})).unwrap()["secret_store"].clone()
}

fn head(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).chars().take(21).collect()
}

#[test]
fn the_keyring_has_the_key_and_nothing_is_written_without_it() {
    let home = Home::new();
    home.configure("[secrets]\nstore = \"keyring\"\n");
    let session = Session::begin(&home);
    {
        // No Secret Service at all: it is said, and no file is made instead.
        let bridge = session.bridge(&home);
        bridge.add("s", &Double::sound(&home));
        let refused =
            bridge.call("set_credential", &json!({"server_id": "s", "key": "API_KEY", "value": VALUE}));
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, "secrets_locked");
        assert!(
            refused.message.contains("start a Secret Service in this session")
                && refused.message.contains("`store = \"file\"` under [secrets] in config.toml"),
            "{}",
            refused.message
        );
        assert!(!file(&home).exists() && files_with(&home, VALUE).is_empty());
    }
    {
        let _keyring = session.keyring(true);
        let bridge = session.bridge(&home);
        set(&bridge, "s", "API_KEY", VALUE);
        bridge.connect("s");
        assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);
        assert_eq!(head(&file(&home)), "age-encryption.org/v1");
        assert!(files_with(&home, VALUE).is_empty());
        assert_eq!(
            standing(&bridge),
            json!({"store": "keyring", "encryption": "keyring", "locked": false, "asks": false})
        );
        let (found, _) = session.secret_tool(&["search", "service", "harbor"]);
        assert_eq!(found.matches("label = Harbor").count(), 1, "{found}");
        assert!(!found.contains(VALUE));
        bridge
            .call("set_supervision", &json!({"server_id": "s", "supervision": {"auto_start": true}}))
            .unwrap();
    }
    {
        // The next session; nobody has given the keyring's password yet.
        let locked = session.keyring(false);
        let bridge = session.bridge(&home);
        wait_until("the start that is given up", LIMIT, || bridge.server("s")["state"] == "failed");
        let why = bridge.server("s")["last_exit"]["message"].as_str().unwrap().to_owned();
        assert!(why.contains("the keyring is locked: unlock it, then run `harbor secrets unlock`"), "{why}");
        let (said, code) = home.refused(&["secrets", "unlock"]);
        assert!(code == Some(1) && said.contains("the keyring is locked"), "{said}");
        drop(locked);
        let _keyring = session.keyring(true);
        assert!(home.done(&["secrets", "unlock"]).contains("unlocked"));
        wait_until("it runs", LIMIT, || bridge.server("s")["state"] == "running");
        assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);
    }
}

#[test]
fn secrets_move_when_the_person_chooses_otherwise() {
    let home = Home::new();
    home.configure("[secrets]\nstore = \"file\"\n");
    let session = Session::begin(&home);
    let _keyring = session.keyring(true);
    let bridge = session.bridge(&home);
    bridge.add("s", &Double::sound(&home));
    set(&bridge, "s", "API_KEY", VALUE);
    let choose = |store: &str| {
        home.configure(&format!("[secrets]\nstore = \"{store}\"\n"));
        wait_until("the configuration is followed", LIMIT, || standing(&bridge)["store"] == store);
    };
    let items = || session.secret_tool(&["search", "service", "harbor"]).0.matches("label = Harbor").count();
    choose("keyring");
    let (_, reminder, _) = home.harbor(&["secrets"]);
    assert!(
        reminder.contains("your secrets are in a plain file; `harbor secrets move` moves them"),
        "{reminder}"
    );
    assert!(home.done(&["doctor", "-v"]).contains("your secrets are in a plain file"));
    let (said, _) = home.refused(&["secrets", "encrypt"]);
    assert!(said.contains("passphrase") || said.contains("keyring"), "{said}");
    assert!(home.done(&["secrets", "move"]).starts_with("the secrets are "));
    assert!(files_with(&home, VALUE).is_empty());
    assert_eq!((items(), &standing(&bridge)["encryption"]), (1, &json!("keyring")));

    choose("file");
    let encrypt = super::typing::given(&home, &["secrets", "encrypt"], "correct horse battery\n");
    assert_eq!(encrypt.1, Some(0), "{}", encrypt.0);
    assert_eq!((items(), &standing(&bridge)["encryption"]), (0, &json!("passphrase")));
    choose("keyring");
    assert!(home.done(&["secrets", "move"]).starts_with("the secrets are "));
    assert_eq!((items(), &standing(&bridge)["encryption"]), (1, &json!("keyring")));
    assert!(!file(&home).with_file_name("key.age").exists());
    choose("file");
    assert!(home.done(&["secrets", "move"]).starts_with("the secrets are "));
    assert_eq!((items(), files_with(&home, VALUE)), (0, vec![file(&home)]));
    bridge.connect("s");
    assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);
}
