//! Trees as installers and people make them, in a directory that plays the home.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use harbor_policy::sandbox::NamedPath;
use harbor_policy::sandbox::paths::below;

use super::*;

mod links;
mod widening;

/// A home on the disk.
struct Home {
    _dir: tempfile::TempDir,
    /// As the environment has it.
    given: PathBuf,
    path: String,
    sandbox: SandboxSettings,
    /// Where other servers could write.
    ever_written: Vec<String>,
    /// Whether the definition has a PATH of its own.
    own_path: bool,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let given = dir.path().to_owned();
        Self::at_given(dir, given)
    }

    /// With `/home` a link to `/var/home`.
    fn behind_a_link() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("var/home/u")).unwrap();
        symlink("var/home", dir.path().join("home")).unwrap();
        let given = dir.path().join("home/u");
        Self::at_given(dir, given)
    }

    fn at_given(dir: tempfile::TempDir, given: PathBuf) -> Self {
        let path = given.canonicalize().unwrap().to_str().unwrap().to_owned();
        let (sandbox, ever_written) = (SandboxSettings::default(), Vec::new());
        let home = Self { _dir: dir, given, path, sandbox, ever_written, own_path: false };
        for name in ["data", "tmp"] {
            fs::create_dir_all(home.given.join(".harbor/servers/s").join(name)).unwrap();
        }
        home
    }

    /// As the environment would have it.
    fn given(&self, name: &str) -> String {
        below(self.given.to_str().unwrap(), name)
    }

    fn at(&self, name: &str) -> String {
        below(&self.path, name)
    }

    /// An executable file.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.given.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self.at(name)
    }

    fn link(&self, name: &str, target: &str) {
        let path = self.given.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    fn look(&self, command: &str, args: &[&str], cwd: &str, path: &[&str]) -> SandboxFacts {
        let args: Vec<_> = args.iter().map(ToString::to_string).collect();
        let own = |name: &str| self.given.join(".harbor/servers/s").join(name);
        let path = path.iter().map(|name| self.at(name)).collect::<Vec<_>>().join(":");
        let wanted = FactsQuery {
            command,
            args: &args,
            cwd,
            starts: None,
            path: self.own_path.then_some(path.as_str()),
            sandbox: &self.sandbox,
            harbor_home: &self.given.join(".harbor"),
            socket: None,
            data: &own("data"),
            tmp: &own("tmp"),
            package: None,
            installs: false,
            shared: false,
            ever_written: &self.ever_written,
            search: "",
        };
        let home = Some(self.given.clone());
        look(
            &wanted,
            &Surroundings {
                home,
                path: path.clone(),
                programs: "/opt/harbor".into(),
                ..Surroundings::default()
            },
        )
    }

    fn program(&self, command: &str, path: &[&str]) -> Vec<String> {
        self.look(command, &[], "/", path).program
    }
}

#[test]
fn a_shim_of_a_version_manager_needs_all_of_it() {
    let home = Home::new();
    home.file(".pyenv/shims/python3", "#!/bin/sh\n");
    assert_eq!(home.program("python3", &[".pyenv/shims"]), [home.at(".pyenv")], "the shell is the system's");
}

#[test]
fn links_are_followed_to_the_prefix() {
    let home = Home::new();
    home.file("node-22/bin/node", "\x7fELF");
    home.file("node-22/lib/node_modules/npm/bin/npx-cli.js", "#!/usr/bin/env node\n");
    home.link("node-22/bin/npx", "../lib/node_modules/npm/bin/npx-cli.js");
    home.link(".local/bin/npx", &home.at("node-22/bin/npx"));
    let found = home.program("npx", &[".local/bin", "node-22/bin"]);
    assert_eq!(found[..2], [home.at(".local/bin"), home.at("node-22")]);
    assert!(!found.iter().any(|path| is_within(&home.path, path)), "{found:?}");
}

#[test]
fn a_venv_names_its_python() {
    let home = Home::new();
    home.file("py/bin/python3", "\x7fELF");
    home.file("proj/.venv/bin/serve", &format!("#!{}\n", home.at("proj/.venv/bin/python")));
    home.link("proj/.venv/bin/python", &home.at("py/bin/python3"));
    home.file("proj/.venv/pyvenv.cfg", &format!("version = 3\nhome = {}\n", home.at("py/bin")));
    let found = home.program(&home.at("proj/.venv/bin/serve"), &[]);
    assert_eq!(found, [home.at("proj/.venv"), home.at("py")]);
    // It is uv that runs what is in it.
    home.file("uv/bin/uv", "\x7fELF");
    let args = ["--directory", &home.at("proj"), "run", "main.py"];
    let found = home.look(&home.at("uv/bin/uv"), &args, "/", &[]).program;
    assert!([home.at("proj/.venv"), home.at("py")].iter().all(|path| found.contains(path)), "{found:?}");
    let args = ["--python", &home.at("py/bin/python3"), "serve"];
    let found = home.look(&home.at("uv/bin/uv"), &args, "/", &[]).program;
    assert!(found.contains(&home.at("py")), "{found:?}");
}

#[test]
fn a_program_in_the_home_itself_is_only_a_file() {
    let home = Home::new();
    home.file("serve", "\x7fELF");
    home.link("bin/serve", "../serve");
    assert_eq!(home.program(&home.at("serve"), &[]), [home.at("serve")]);
    assert_eq!(home.program("serve", &["bin"]), [home.at("bin"), home.at("serve")]);
    assert_eq!(home.program("absent", &["."]), [""; 0]);
}

#[test]
fn circles_and_odd_files_end() {
    let home = Home::new();
    home.link("a/one", "two");
    home.link("a/two", "one");
    home.file("b/self", &format!("#!{}\n", home.at("b/self")));
    nix::unistd::mkfifo(&home.given.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(home.program(&home.at("a/one"), &[]), [home.at("a")]);
    assert_eq!(home.program(&home.at("b/self"), &[]), [home.at("b/self")]);
    assert_eq!(home.program(&home.at("fifo"), &[]), [""; 0]);
}

#[test]
fn arguments_and_their_packages_are_named() {
    let home = Home::new();
    home.file("proj/package.json", "{}");
    let script = home.file("proj/src/s.js", "");
    let module = home.file("app/node_modules/a/node_modules/b/i.js", "");
    let loose = home.file("loose.py", "");
    home.link("link.py", "loose.py");
    fs::create_dir(home.given.join("notes")).unwrap();
    let named = |path: &str, root: Option<&str>, is_cwd| NamedPath {
        path: path.into(),
        package_root: root.map(|root| home.at(root)),
        is_cwd,
    };
    let root = format!("--root={}", home.at("notes"));
    let link = format!("file://{}", home.at("link.py"));
    let args = ["src/s.js", &module, &root, &link, &loose, "--x", "src", "/not/there", ""];
    assert_eq!(
        home.look("x", &args, &home.at("proj"), &[]).named,
        [
            named(&home.at("proj"), Some("proj"), true),
            named(&script, Some("proj"), false),
            named(&module, Some("app"), false),
            named(&home.at("notes"), None, false),
            named(&loose, None, false),
        ]
    );
    let many = vec![loose.as_str(); 1000];
    assert_eq!(home.look("x", &many, "/not/there", &[]).named, [named(&loose, None, false)]);
}

#[test]
fn of_a_path_only_directories_of_programs_are_given() {
    let mut home = Home::new();
    for name in ["private/a", "tools/bin/a", "dotfiles/x/a", ".nvm/versions/a"] {
        home.file(name, "\x7fELF");
    }
    home.link("bin", "dotfiles/x");
    let path = ["private", "tools/bin", "bin", ".nvm/versions"];
    let wanted = ["private/a", "tools/bin", "dotfiles/x", ".nvm"].map(|name| home.at(name));
    let facts = home.look("a", &[], "/", &path);
    assert_eq!((facts.program, facts.left_out), (wanted.to_vec(), vec![]));
    home.own_path = true;
    assert_eq!(home.look("a", &[], "/", &path).left_out, [home.at("private")]);
}

#[test]
fn granted_paths_are_followed_and_sockets_are_sockets() {
    let mut home = Home::new();
    home.file("dots/ssh/id", "");
    home.link(".ssh", "dots/ssh");
    home.link("way", ".ssh");
    let socket = home.at("s.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let (way, new) = (home.at("way"), home.at("way/new/file"));
    home.sandbox.read = Some(vec![way.clone(), new.clone()]);
    home.sandbox.sockets = Some(vec![socket.clone(), home.at("dots"), home.at("none")]);
    let facts = home.look("x", &[], "/", &[]);
    let pair = |given: &str, real: &str| (given.to_owned(), home.at(real));
    assert_eq!(
        facts.granted,
        [
            pair(&way, "dots/ssh"),
            pair(&new, "dots/ssh/new/file"),
            pair(&socket, "s.sock"),
            pair(&home.at("dots"), "dots"),
            pair(&home.at("none"), "none"),
        ]
    );
    assert_eq!(facts.protected, [home.at("dots/ssh")]);
    assert_eq!(facts.not_sockets, [home.at("dots")]);
    assert!(protected::why_never(&home.at("dots/ssh/id"), &facts).is_some());
}

#[test]
fn the_system_is_there_without_links() {
    let home = Home::new();
    let facts = home.look("x", &[], "/", &[]);
    assert!(facts.system.iter().any(|(path, _)| path == "/usr"));
    assert!(facts.system.iter().all(|(path, _)| real(path).as_ref() == Some(path)));
    assert!(!facts.system.iter().any(|(path, _)| path.starts_with("/usr/")), "it is in /usr");
    assert_eq!(facts.proxy, "/opt/harbor/harbor-egress");
    assert_eq!(facts.data, home.at(".harbor/servers/s/data"));
}
