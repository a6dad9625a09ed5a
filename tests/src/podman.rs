//! A podman of one test's own: its images, containers and settings are in the test's directory.
//!
//! The settings are those of machines on which tests run: without systemd, with control groups of either version, as root.
//! Harbor itself is told nothing of them. Must never touch the tester's own images.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::{Home, programs};

/// The double that runs in containers.
const SERVER: &str = "contained-server";

/// A podman; at its end its containers are gone.
#[derive(Debug)]
pub struct Podman {
    dir: PathBuf,
}

impl Podman {
    /// One without images.
    ///
    /// # Panics
    /// Where podman or runc is not installed.
    #[must_use]
    pub fn new(home: &Home) -> Self {
        let podman = Self { dir: home.scratch("podman") };
        fs::create_dir_all(&podman.dir).expect("the directory can be made");
        // Locks and passing state of its own, too: those of the machine are shared by all storages.
        let own = podman.dir.join("tmp");
        let engine = format!(
            "[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n\
             lock_type = \"file\"\ntmp_dir = {own:?}\n"
        );
        fs::write(podman.dir.join("containers.conf"), engine).expect("a file can be written there");
        let (graph, run) = (podman.dir.join("graph"), podman.dir.join("run"));
        let storage = format!("[storage]\ndriver = \"vfs\"\ngraphroot = {graph:?}\nrunroot = {run:?}\n");
        fs::write(podman.dir.join("storage.conf"), storage).expect("a file can be written there");
        for program in ["podman", "runc"] {
            let found = Command::new(program).arg("--version").output();
            assert!(
                found.is_ok(),
                "{program} is needed to test containers; install the packages podman and runc"
            );
        }
        podman
    }

    /// The variables by which any podman is this one.
    #[must_use]
    pub fn env(&self) -> [(&'static str, String); 2] {
        let file = |name: &str| self.dir.join(name).to_string_lossy().into_owned();
        [("CONTAINERS_CONF", file("containers.conf")), ("CONTAINERS_STORAGE_CONF", file("storage.conf"))]
    }

    fn output(&self, args: &[&str]) -> Output {
        Command::new("podman").args(args).envs(self.env()).output().expect("podman runs")
    }

    /// What podman says.
    ///
    /// # Panics
    /// When it refuses.
    #[must_use]
    pub fn says(&self, args: &[&str]) -> String {
        let output = self.output(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "podman {}: {stderr}", args.join(" "));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Makes an image of the double, which says that it is this version; gives the image's id.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn image(&self, name: &str, version: &str) -> String {
        let root = self.dir.join(format!("root-{version}"));
        let server = programs::double(SERVER);
        let files = libraries(&server).into_iter().map(|library| (library.clone(), library));
        for (from, to) in files.chain([(server, PathBuf::from("/server"))]) {
            let place = root.join(to.strip_prefix("/").expect("libraries have whole paths"));
            fs::create_dir_all(place.parent().expect("it is below the root"))
                .expect("a directory can be made");
            fs::copy(from, place).expect("a file can be copied");
        }
        fs::write(root.join("version"), version).expect("a file can be written there");
        let archive = self.dir.join(format!("{version}.tar"));
        let (root, archive) = (root.to_string_lossy(), archive.to_string_lossy());
        let packed = Command::new("tar").args(["-C", &root, "-cf", &archive, "."]).status();
        assert!(packed.is_ok_and(|status| status.success()), "tar packs what an image is made of");
        let id = self.says(&["import", "--quiet", "--change", r#"ENTRYPOINT ["/server"]"#, &archive, name]);
        format!("sha256:{}", id.trim_start_matches("sha256:"))
    }

    /// All containers there are, running or not.
    #[must_use]
    pub fn containers(&self) -> Vec<String> {
        let all = self.says(&["ps", "--all", "--quiet", "--no-trunc"]);
        all.lines().map(ToOwned::to_owned).collect()
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        // What a failed test has left; its storage goes with the directory.
        let _ = self.output(&["rm", "--force", "--all", "--time", "0"]);
    }
}

/// The loader and the libraries of a program, which an image made of nothing does not have.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let listed = Command::new("ldd").arg(program).output().expect("ldd runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}
