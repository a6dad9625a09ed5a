//! What a server is not to reach of the file system: where it is, and that it is there as it was.
//!
//! Must never plant anything in the tester's own home.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use tempfile::TempDir;

use super::Scene;
use crate::attacks::Server;

/// The file that most attacks are after.
pub const KEY: &str = ".ssh/id_ed25519";

/// The file that is not to be changed.
pub const LETTER: &str = "documents/letter";

const SECRET_FILES: &[&str] = &[
    KEY,
    LETTER,
    ".bashrc",
    ".gnupg/private-keys-v1.d/key",
    ".config/google-chrome/Default/Cookies",
    ".mozilla/firefox/p.default/logins.json",
];

/// Directories that are not in the home.
pub struct Outside {
    pub tmp: TempDir,
    pub shm: TempDir,
    pub run: TempDir,
}

impl Scene {
    /// A path in the person's home.
    pub fn person_home(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.home.path().parent().unwrap().to_owned() } else { self.home.scratch(name) }
    }

    /// A path in `HARBOR_HOME`.
    pub fn harbor(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The data directory of the usual attacker.
    pub fn own(&self) -> PathBuf {
        self.data(Server::Usual)
    }

    /// The data directory of an attacker.
    pub fn data(&self, server: Server) -> PathBuf {
        self.data_of(server.id())
    }

    /// The data directory of a server.
    pub fn data_of(&self, id: &str) -> PathBuf {
        self.harbor("servers").join(id).join("data")
    }

    /// A path in the data directory of the server that is attacked.
    pub fn other_data(&self, name: &str) -> PathBuf {
        self.harbor("servers/other/data").join(name)
    }

    /// A path below the machine's /tmp.
    pub fn machine_tmp(&self, name: &str) -> PathBuf {
        self.outside.tmp.path().join(name)
    }

    /// A path below /dev/shm.
    pub fn shm(&self, name: &str) -> PathBuf {
        self.outside.shm.path().join(name)
    }

    /// A path below /run.
    pub fn run(&self, name: &str) -> PathBuf {
        self.outside.run.path().join(name)
    }

    /// The attacker's program, which it may read.
    pub fn attacker_file(&self) -> PathBuf {
        self.attacker.file().to_owned()
    }

    /// The bridge's socket.
    pub fn socket(&self) -> PathBuf {
        self.home.run_file("bridge.sock")
    }

    /// The bridge's token.
    pub fn token(&self) -> String {
        fs::read_to_string(self.home.run_file("token")).unwrap().trim().to_owned()
    }

    /// A name in no file system; the @ stands for the zero byte.
    pub fn abstract_name(&self, name: &str) -> String {
        format!("@{}-{name}", self.home.id())
    }

    /// Everything that is to be protected.
    pub fn plant(&self) {
        for file in SECRET_FILES {
            self.plant_file(&self.person_home(file));
        }
        let tool = self.person_home("tool");
        fs::write(&tool, format!("#!/bin/sh\necho {}\n", self.secret)).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        self.give(&tool);
        self.give(self.attacker.file());
        for file in [self.harbor("secrets/key"), self.machine_tmp("file"), self.shm("file"), self.run("file")]
        {
            self.plant_file(&file);
        }
    }

    /// A file with the secret, of the user who runs the bridge.
    pub fn plant_file(&self, path: &Path) {
        let parent = path.parent().unwrap();
        fs::create_dir_all(parent).unwrap();
        fs::write(path, &self.secret).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        self.give(path);
        for above in parent.ancestors().take_while(|above| *above != self.home.scratch("").as_path()) {
            if above.starts_with(self.home.scratch("")) && fs::metadata(above).unwrap().uid() != self.uid() {
                self.give(above);
            }
        }
    }

    /// To the user who runs the bridge.
    pub fn give(&self, path: &Path) {
        if geteuid().is_root() {
            chown(path, Some(self.uid()), Some(self.uid())).unwrap();
        }
    }

    /// Nothing is left below this directory.
    pub fn empty(&self, directory: &Path) {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
    }

    /// Has it as it was before an attack.
    pub fn repair(&self, path: &Path) {
        if SECRET_FILES.iter().any(|file| self.person_home(file) == path) || path == self.other_data("diary")
        {
            let _ = fs::remove_file(path);
            self.plant_file(path);
        } else if path.is_dir() {
            fs::remove_dir(path).unwrap();
        } else if path != self.attacker_file() {
            fs::remove_file(path).unwrap();
        }
    }
}

impl Outside {
    /// New ones, which every user can reach.
    pub fn new() -> Self {
        let below = |parent: &str| {
            let dir = tempfile::Builder::new().prefix("hb-").tempdir_in(parent).unwrap();
            // For every user, as these places are.
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
            dir
        };
        let run = if geteuid().is_root() {
            "/run".to_owned()
        } else {
            std::env::var("XDG_RUNTIME_DIR").expect("an ordinary tester has a directory below /run")
        };
        Self { tmp: below("/tmp"), shm: below("/dev/shm"), run: below(&run) }
    }
}
