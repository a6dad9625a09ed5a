//! The container engines, and their commands other than `run`.
//!
//! Owns their command lines and the reading of their answers. Both engines take nearly the same words; the differences are here.

use super::labels::{INSTANCE_LABEL, SERVER_LABEL};

/// A container engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Without a daemon, and most often without root.
    Podman,
    /// Docker, which has a daemon.
    Docker,
}

impl Engine {
    /// All engines, in the order in which they are looked for.
    pub const ALL: [Self; 2] = [Self::Podman, Self::Docker];

    /// Its program.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Podman => "podman",
            Self::Docker => "docker",
        }
    }

    /// The engine with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.as_str() == name)
    }

    /// Asks for an image's id and for its names in registries.
    #[must_use]
    pub fn inspect(self, image: &str) -> Vec<String> {
        words(&["image", "inspect", "--format={{.Id}} {{json .RepoDigests}}", image])
    }

    /// Downloads an image.
    #[must_use]
    pub fn pull(self, image: &str) -> Vec<String> {
        words(&["pull", image])
    }

    /// Asks whether root in a container is the person outside.
    #[must_use]
    pub fn ask_rootless(self) -> Vec<String> {
        let format = match self {
            Self::Podman => "--format={{.Host.Security.Rootless}}",
            Self::Docker => "--format={{json .SecurityOptions}}",
        };
        words(&["info", format])
    }

    /// True if this answer to [`Self::ask_rootless`] says so.
    #[must_use]
    pub fn is_rootless(self, answer: &str) -> bool {
        match self {
            Self::Podman => answer.trim() == "true",
            Self::Docker => answer.contains("name=rootless"),
        }
    }

    /// Asks for the ids of all containers of a server.
    #[must_use]
    pub fn list(self, instance: &str, server: &str) -> Vec<String> {
        let label = |name: &str, value: &str| format!("--filter=label={name}={value}");
        let (instance, server) = (label(INSTANCE_LABEL, instance), label(SERVER_LABEL, server));
        words(&["ps", "--all", "--quiet", "--no-trunc", &instance, &server])
    }

    /// Removes containers, whatever they are doing.
    #[must_use]
    pub fn remove(self, containers: &[String]) -> Vec<String> {
        let mut all = words(&["rm", "--force", "--volumes"]);
        all.extend(containers.iter().cloned());
        all
    }
}

/// True if an engine says on its last line that it has no such image. Other failures say nothing about the image.
#[must_use]
pub fn is_absent(words: &str) -> bool {
    let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_ascii_lowercase();
    ["no such image", "image not known"].iter().any(|said| last.contains(said))
}

/// Reads an engine's answer about an image: its id, and its names in registries.
#[must_use]
pub fn inspected(answer: &str) -> Option<(String, Vec<String>)> {
    let (id, names) = answer.trim().split_once(' ')?;
    let id = id.strip_prefix("sha256:").unwrap_or(id);
    let digests = names.trim_matches(['[', ']']).split(',').map(|name| name.trim().trim_matches('"'));
    let digests = digests.filter(|name| name.contains("@sha256:")).map(ToOwned::to_owned).collect();
    is_hash(id).then(|| (format!("sha256:{id}"), digests))
}

/// Ids of containers, of an answer; words that are none are left out.
#[must_use]
pub fn listed(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| line.trim()).filter(|line| is_hash(line)).map(ToOwned::to_owned).collect()
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_other_words_are_not() {
        let hash = "0123456789abcdef".repeat(4);
        let id = format!("sha256:{hash}");
        let both = Some((id.clone(), vec![format!("quay.io/a/b@{id}")]));
        assert_eq!(inspected(&format!("{hash} [\"quay.io/a/b@{id}\"]\n")), both);
        assert_eq!(inspected(&format!("{id} [\"quay.io/a/b@{id}\"]")), both);
        assert_eq!(inspected(&format!("{id} null")), Some((id.clone(), Vec::new())));
        assert_eq!((inspected("--x []"), inspected(""), inspected(&hash)), (None, None, None));
        let lines = [hash.clone(), "--all".into(), "Emulate Docker CLI".into()];
        assert_eq!(listed(&lines), [hash]);
        assert!(Engine::Podman.is_rootless("true\n") && !Engine::Podman.is_rootless("false"));
        let docker = |answer| Engine::Docker.is_rootless(answer);
        assert!(docker(r#"["name=seccomp","name=rootless"]"#) && !docker(r#"["name=seccomp"]"#));
    }

    #[test]
    fn engines_are_told_by_name() {
        assert_eq!(Engine::of("docker"), Some(Engine::Docker));
        assert_eq!((Engine::of("podman"), Engine::of("/bin/podman")), (Some(Engine::Podman), None));
        let list = Engine::Podman.list("i", "s").join(" ");
        assert_eq!(
            list,
            "ps --all --quiet --no-trunc --filter=label=harbor.instance=i --filter=label=harbor.server=s"
        );
        assert_eq!(Engine::Docker.remove(&["a".into()]).join(" "), "rm --force --volumes a");
    }

    #[test]
    fn only_an_engine_that_says_so_has_no_image() {
        for absent in [
            "Error: inspecting object: localhost/a:1: image not known\n",
            "Error: a: image not known",
            "Error response from daemon: No such image: a:1\n\n",
            "time=\"…\" level=warning msg=x\nError: No such image: a",
        ] {
            assert!(is_absent(absent), "{absent}");
        }
        for other in [
            "",
            "Error: database is locked",
            "Cannot connect to the Docker daemon",
            "no such image\nError: x",
        ] {
            assert!(!is_absent(other), "{other}");
        }
    }
}
