//! The browsers that Harbor knows: where each looks for native hosts, and what it wants to read there.
//!
//! ```text
//!  manifest, as text ─► read ─► judge ◄─ what it has to say
//!                                 └─► installed, or what is wrong with it
//! ```
//!
//! Owns the one table of browsers, the text of a manifest, and what is wrong with one. Must never touch a disk.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::extensions::{HARBOR, NATIVE_HOST, is_chromium_id};

/// The file name of the program that a manifest of ours starts.
pub const PROGRAM: &str = "harbor-bridge";

/// A browser.
#[derive(Debug, PartialEq, Eq)]
pub struct Browser {
    /// Its name here.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The names of its program.
    pub programs: &'static [&'static str],
    kind: Kind,
    /// True if only a browser that is installed here is mentioned: a test channel, or a browser that few
    /// have.
    pub is_rare: bool,
    /// The place of its data when a snap or a flatpak confines it, below the person's home.
    confined: &'static [&'static str],
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Chromium, with its directory among those of configurations.
    Chromium(&'static str),
    Firefox,
}

/// All of them, in the order of the help.
pub const BROWSERS: &[Browser] = &[
    Browser {
        id: "chrome",
        title: "Google Chrome",
        programs: &["google-chrome", "google-chrome-stable"],
        kind: Kind::Chromium("google-chrome"),
        is_rare: false,
        confined: &[".var/app/com.google.Chrome"],
    },
    Browser {
        id: "chromium",
        title: "Chromium",
        programs: &["chromium", "chromium-browser"],
        kind: Kind::Chromium("chromium"),
        is_rare: false,
        confined: &["snap/chromium", ".var/app/org.chromium.Chromium"],
    },
    Browser {
        id: "edge",
        title: "Microsoft Edge",
        programs: &["microsoft-edge", "microsoft-edge-stable"],
        kind: Kind::Chromium("microsoft-edge"),
        is_rare: false,
        confined: &[".var/app/com.microsoft.Edge"],
    },
    Browser {
        id: "brave",
        title: "Brave",
        programs: &["brave-browser", "brave-browser-stable", "brave"],
        kind: Kind::Chromium("BraveSoftware/Brave-Browser"),
        is_rare: false,
        confined: &["snap/brave", ".var/app/com.brave.Browser"],
    },
    Browser {
        id: "firefox",
        title: "Firefox",
        programs: &["firefox", "firefox-esr"],
        kind: Kind::Firefox,
        is_rare: false,
        // These ask the desktop's portal, which reads the same manifests as any Firefox.
        confined: &[],
    },
    Browser {
        id: "chrome-beta",
        title: "Google Chrome Beta",
        programs: &["google-chrome-beta"],
        kind: Kind::Chromium("google-chrome-beta"),
        is_rare: true,
        confined: &[],
    },
    Browser {
        id: "chrome-dev",
        title: "Google Chrome Dev",
        programs: &["google-chrome-unstable"],
        kind: Kind::Chromium("google-chrome-unstable"),
        is_rare: true,
        confined: &[],
    },
    Browser {
        id: "edge-beta",
        title: "Microsoft Edge Beta",
        programs: &["microsoft-edge-beta"],
        kind: Kind::Chromium("microsoft-edge-beta"),
        is_rare: true,
        confined: &[],
    },
    Browser {
        id: "edge-dev",
        title: "Microsoft Edge Dev",
        programs: &["microsoft-edge-dev"],
        kind: Kind::Chromium("microsoft-edge-dev"),
        is_rare: true,
        confined: &[],
    },
    Browser {
        id: "brave-beta",
        title: "Brave Beta",
        programs: &["brave-browser-beta"],
        kind: Kind::Chromium("BraveSoftware/Brave-Browser-Beta"),
        is_rare: true,
        confined: &[],
    },
    Browser {
        id: "brave-nightly",
        title: "Brave Nightly",
        programs: &["brave-browser-nightly"],
        kind: Kind::Chromium("BraveSoftware/Brave-Browser-Nightly"),
        is_rare: true,
        confined: &[],
    },
    Browser {
        id: "vivaldi",
        title: "Vivaldi",
        programs: &["vivaldi", "vivaldi-stable"],
        kind: Kind::Chromium("vivaldi"),
        is_rare: true,
        confined: &[],
    },
];

/// The browser of that name.
#[must_use]
pub fn browser(id: &str) -> Option<&'static Browser> {
    BROWSERS.iter().find(|browser| browser.id == id)
}

/// A person's home, and the variables that say where browsers keep their things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    home: PathBuf,
    config: PathBuf,
}

impl Whereabouts {
    /// The places for a person with this home and these variables.
    #[must_use]
    pub fn of(home: &Path, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        let named = ["CHROME_CONFIG_HOME", "XDG_CONFIG_HOME"].into_iter().find_map(variable);
        let config = named.filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(".config"));
        Self { home: home.to_owned(), config }
    }
}

impl Browser {
    /// True for Chromium and the browsers made from it, which take `--user-data-dir`.
    #[must_use]
    pub fn is_chromium(&self) -> bool {
        matches!(self.kind, Kind::Chromium(_))
    }

    /// The directories that show that the person has used it.
    #[must_use]
    pub fn profiles(&self, at: &Whereabouts) -> Vec<PathBuf> {
        match self.kind {
            Kind::Chromium(directory) => vec![at.config.join(directory)],
            Kind::Firefox => [
                ".mozilla/firefox",
                ".config/mozilla/firefox",
                "snap/firefox/common/.mozilla",
                ".var/app/org.mozilla.firefox",
            ]
            .map(|directory| at.home.join(directory))
            .to_vec(),
        }
    }

    /// The place of its data when its sandbox keeps it from starting a native host.
    #[must_use]
    pub fn confined(&self, at: &Whereabouts) -> Vec<PathBuf> {
        self.confined.iter().map(|directory| at.home.join(directory)).collect()
    }

    /// The manifest of Harbor's native host: in a user data directory of its own, if the person says so.
    #[must_use]
    pub fn manifest(&self, at: &Whereabouts, user_data_dir: Option<&Path>) -> PathBuf {
        let directory = match (user_data_dir, &self.kind) {
            (Some(directory), _) => directory.join("NativeMessagingHosts"),
            (None, Kind::Chromium(directory)) => at.config.join(directory).join("NativeMessagingHosts"),
            (None, Kind::Firefox) => at.home.join(".mozilla/native-messaging-hosts"),
        };
        directory.join(format!("{NATIVE_HOST}.json"))
    }

    /// The extensions that it has to let in: ours, and those of `more` that it could have.
    #[must_use]
    pub fn extension_ids(&self, more: &[String]) -> Vec<String> {
        let own = if self.is_chromium() { HARBOR.chromium() } else { HARBOR.firefox.into() };
        let mut ids = vec![own];
        for id in more.iter().filter(|id| self.can_have(id)) {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        ids
    }

    /// True if an extension of this browser can have this id.
    #[must_use]
    pub fn can_have(&self, id: &str) -> bool {
        is_chromium_id(id) == self.is_chromium()
    }

    /// The text of a manifest. Firefox takes none that says more than it knows.
    #[must_use]
    pub fn text(&self, program: &str, extension_ids: &[String]) -> String {
        let ids: Vec<_> =
            extension_ids.iter().map(|id| format!("    {}", quoted(&self.written(id)))).collect();
        format!(
            "{{\n  \"name\": {},\n  \"description\": \"Harbor: MCP servers for web pages, with your consent\",\n  \"path\": {},\n  \
             \"type\": \"stdio\",\n  \"{}\": [\n{}\n  ]\n}}\n",
            quoted(NATIVE_HOST),
            quoted(program),
            self.key(),
            ids.join(",\n")
        )
    }

    /// Reads a manifest. None if this browser does not take the text for a manifest of Harbor's native host.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<Manifest> {
        let value: Value = serde_json::from_str(text).ok()?;
        let ids = value[self.key()].as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
        let sound =
            value["name"] == NATIVE_HOST && value["type"] == "stdio" && value["description"].is_string();
        let program = value["path"].as_str().filter(|_| sound)?;
        Some(Manifest { program: program.into(), ids: ids.into_iter().map(str::to_owned).collect() })
    }

    /// The state of the manifest that stands there. `runs` says if its program can be started.
    #[must_use]
    pub fn judge(
        &self,
        text: &str,
        program: &Path,
        extension_ids: &[String],
        runs: &dyn Fn(&Path) -> bool,
    ) -> State {
        let Some(found) = self.read(text) else { return State::Unreadable };
        let wanted: Vec<_> = extension_ids.iter().map(|id| self.written(id)).collect();
        if !found.is_ours() {
            State::Foreign
        } else if !runs(&found.program) {
            State::NotExecutable
        } else if found.program != program {
            State::Elsewhere
        } else if found.ids != wanted {
            State::WrongId
        } else {
            State::Installed
        }
    }

    fn key(&self) -> &'static str {
        if self.is_chromium() { "allowed_origins" } else { "allowed_extensions" }
    }

    fn written(&self, id: &str) -> String {
        if self.is_chromium() { format!("chrome-extension://{id}/") } else { id.to_owned() }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A manifest in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The program that the browser starts.
    pub program: PathBuf,
    /// The extensions for which it starts the program, as it has them.
    pub ids: Vec<String>,
}

impl Manifest {
    /// True if the manifest is Harbor's, of whichever installation.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.program.file_name().is_some_and(|name| name == PROGRAM)
    }
}

/// The state of a browser's manifest. The words are for scripts and must not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is as it has to be.
    Installed,
    /// There is no manifest.
    Missing,
    /// It starts another installation of Harbor, or one for another home.
    Elsewhere,
    /// It starts another program.
    Foreign,
    /// The program that it names is not there, or cannot be started.
    NotExecutable,
    /// It lets in other extensions than it should.
    WrongId,
    /// The browser cannot read it as a manifest.
    Unreadable,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Missing => "missing",
            Self::Elsewhere => "points elsewhere",
            Self::Foreign => "another program",
            Self::NotExecutable => "not executable",
            Self::WrongId => "wrong id",
            Self::Unreadable => "unreadable",
        }
    }

    /// True if the manifest is somebody else's, as far as can be told: it is removed only when the person
    /// says so.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        matches!(self, Self::Foreign | Self::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(variable: Option<(&'static str, &'static str)>) -> Whereabouts {
        let of = |name: &str| variable.filter(|(set, _)| *set == name).map(|(_, value)| value.into());
        Whereabouts::of(Path::new("/home/me"), &of)
    }

    #[test]
    fn manifests_are_where_browsers_look() {
        let file = |id: &str, at: &Whereabouts, own: Option<&str>| {
            browser(id).unwrap().manifest(at, own.map(Path::new)).to_str().unwrap().to_owned()
        };
        for (id, directory) in [
            ("chrome", ".config/google-chrome/NativeMessagingHosts"),
            ("chromium", ".config/chromium/NativeMessagingHosts"),
            ("edge", ".config/microsoft-edge/NativeMessagingHosts"),
            ("brave", ".config/BraveSoftware/Brave-Browser/NativeMessagingHosts"),
            ("firefox", ".mozilla/native-messaging-hosts"),
            ("chrome-beta", ".config/google-chrome-beta/NativeMessagingHosts"),
            ("brave-nightly", ".config/BraveSoftware/Brave-Browser-Nightly/NativeMessagingHosts"),
            ("vivaldi", ".config/vivaldi/NativeMessagingHosts"),
        ] {
            assert_eq!(file(id, &at(None), None), format!("/home/me/{directory}/harbor_bridge.json"));
        }
        let set = at(Some(("XDG_CONFIG_HOME", "/x")));
        assert_eq!(file("chromium", &set, None), "/x/chromium/NativeMessagingHosts/harbor_bridge.json");
        assert_eq!(
            file("firefox", &set, None),
            "/home/me/.mozilla/native-messaging-hosts/harbor_bridge.json"
        );
        let set = at(Some(("CHROME_CONFIG_HOME", "relative")));
        assert_eq!(set, at(None));
        assert_eq!(file("brave", &set, Some("/p")), "/p/NativeMessagingHosts/harbor_bridge.json");
    }

    #[test]
    fn manifests_say_what_each_browser_reads() {
        let (chromium, firefox) = (browser("chromium").unwrap(), browser("firefox").unwrap());
        let more = ["abcdefghijklmnopabcdefghijklmnop".to_owned(), "me@example.org".to_owned()];
        assert_eq!(
            chromium.text("/a \"b\"/harbor-bridge", &chromium.extension_ids(&more)),
            "{\n  \"name\": \"harbor_bridge\",\n  \"description\": \"Harbor: MCP servers for web pages, with your consent\",\n  \
             \"path\": \"/a \\\"b\\\"/harbor-bridge\",\n  \"type\": \"stdio\",\n  \"allowed_origins\": [\n    \
             \"chrome-extension://lkdfdnjebailkjbgamcenkafhihdhdpg/\",\n    \
             \"chrome-extension://abcdefghijklmnopabcdefghijklmnop/\"\n  ]\n}\n"
        );
        assert_eq!(firefox.extension_ids(&more), ["harbor@harbor", "me@example.org"]);
        let text = firefox.text("/b/harbor-bridge", &firefox.extension_ids(&[]));
        let found = firefox.read(&text).unwrap();
        assert_eq!(found, Manifest { program: "/b/harbor-bridge".into(), ids: vec!["harbor@harbor".into()] });
        assert_eq!(chromium.read(&text), None);
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        let firefox = browser("firefox").unwrap();
        let (ids, runs) = (firefox.extension_ids(&[]), |program: &Path| !program.starts_with("/gone"));
        let judge = |text: &str| firefox.judge(text, Path::new("/b/harbor-bridge"), &ids, &runs);
        let text = |program: &str, ids: &[String]| firefox.text(program, ids);
        assert_eq!(judge(&text("/b/harbor-bridge", &ids)), State::Installed);
        assert_eq!(judge(&text("/c/harbor-bridge", &ids)), State::Elsewhere);
        assert_eq!(judge(&text("/c/keepass", &ids)), State::Foreign);
        assert_eq!(judge(&text("/gone/harbor-bridge", &ids)), State::NotExecutable);
        assert_eq!(judge(&text("/b/harbor-bridge", &["x@y".into()])), State::WrongId);
        for bad in ["", "[]", "{", "{\"path\": \"/b/harbor-bridge\"}"] {
            assert_eq!(judge(bad), State::Unreadable, "{bad}");
        }
    }
}
