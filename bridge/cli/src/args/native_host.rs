//! `harbor host`: the native host in browsers, as it is spoken of on the command line.

use std::path::PathBuf;

use harbor_client_configs::browsers::{BROWSERS, Browser, browser};
use harbor_client_configs::extensions::is_id;
use harbor_policy::suggest::hint;

use super::{Command, Words};

/// The word for all browsers, found or not.
const ALL: &str = "all";

/// What is to be done about browsers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NativeHost {
    Install(HostInstall),
    Uninstall(HostPlace),
    Status(HostPlace),
}

/// Which manifests are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPlace {
    /// Of these browsers; of those that are here when empty.
    pub browsers: Vec<&'static Browser>,
    /// The one in this directory of a Chromium's own.
    pub user_data_dir: Option<PathBuf>,
}

/// Harbor, made known to browsers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostInstall {
    pub place: HostPlace,
    /// Which extensions are let in beside Harbor's.
    pub extension_ids: Vec<String>,
    /// Whether another program's manifest of our name is put aside.
    pub replace: bool,
}

impl Words {
    pub(super) fn native_host(&self) -> Result<Command, String> {
        self.at_most(1)?;
        let verb = self.plain.first().map_or("status", String::as_str);
        let place = self.host_place()?;
        if verb != "install"
            && let Some(option) = ["--extension-id", "--replace"].into_iter().find(|option| self.has(option))
        {
            return Err(format!("{option} has no meaning here"));
        }
        Ok(Command::NativeHost(match verb {
            "install" => NativeHost::Install(self.host_install(place)?),
            "uninstall" => NativeHost::Uninstall(place),
            "status" => NativeHost::Status(place),
            other => {
                let meant = hint(other, ["install", "uninstall", "status"]);
                return Err(format!("unknown word {other}{meant}; say install, uninstall or status"));
            }
        }))
    }

    fn host_place(&self) -> Result<HostPlace, String> {
        let mut browsers = Vec::new();
        for id in self.all("--browser") {
            match browser(id) {
                Some(browser) => browsers.push(browser),
                None if id == ALL => browsers.extend(BROWSERS),
                None => {
                    let known = || BROWSERS.iter().map(|browser| browser.id).chain([ALL]);
                    let names: Vec<_> = known().collect();
                    return Err(format!(
                        "--browser {id}: unknown{}; name one of {}",
                        hint(id, known()),
                        names.join(", ")
                    ));
                }
            }
        }
        let user_data_dir =
            self.named("--user-data-dir", "the directory that the browser is started with")?;
        if user_data_dir.is_empty() {
            return Ok(HostPlace { browsers, user_data_dir: None });
        }
        match browsers.as_slice() {
            [] => browsers.extend(browser("chromium")),
            [one] if one.is_chromium() => {}
            [_] => return Err("--user-data-dir is for Chromium and those made from it".into()),
            _ => return Err("--user-data-dir is of one browser; name one".into()),
        }
        Ok(HostPlace { browsers, user_data_dir: user_data_dir.last().map(PathBuf::from) })
    }

    fn host_install(&self, place: HostPlace) -> Result<HostInstall, String> {
        let extension_ids: Vec<_> = self.all("--extension-id").map(str::to_owned).collect();
        for id in &extension_ids {
            if !is_id(id) {
                return Err(format!(
                    "--extension-id {id}: an id is 32 letters from a to p in Chromium, and such as name@example.org in Firefox"
                ));
            }
            if !place.browsers.is_empty() && !place.browsers.iter().any(|browser| browser.can_have(id)) {
                return Err(format!("--extension-id {id}: no extension of that browser has such an id"));
            }
        }
        Ok(HostInstall { place, extension_ids, replace: self.has("--replace") })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{command, complaint};
    use super::*;

    fn place(ids: &[&str]) -> HostPlace {
        HostPlace { browsers: ids.iter().map(|id| browser(id).unwrap()).collect(), user_data_dir: None }
    }

    #[test]
    fn places() {
        let status = |place| Command::NativeHost(NativeHost::Status(place));
        assert_eq!(command(&["host"]), status(place(&[])));
        assert_eq!(command(&["host", "status", "--browser=edge"]), status(place(&["edge"])));
        let everywhere = place(&["chrome", "chromium", "edge", "brave", "firefox"]);
        let uninstall = Command::NativeHost(NativeHost::Uninstall(everywhere));
        assert_eq!(command(&["host", "uninstall", "--browser", "all"]), uninstall);
        let id = "abcdefghijklmnopabcdefghijklmnop";
        let line = ["host", "install", "--user-data-dir", "d", "--extension-id", id, "--replace"];
        let install = HostInstall {
            place: HostPlace { user_data_dir: Some("d".into()), ..place(&["chromium"]) },
            extension_ids: vec![id.into()],
            replace: true,
        };
        assert_eq!(command(&line), Command::NativeHost(NativeHost::Install(install)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, why) in [
            (&["host", "instal"][..], "unknown word instal; did you mean install?"),
            (&["host", "install", "x"], "unexpected argument x"),
            (&["host", "status", "--replace"], "--replace has no meaning here"),
            (
                &["host", "install", "--browser", "firefax"],
                "--browser firefax: unknown; did you mean firefox?",
            ),
            (&["host", "install", "--browser", "firefox", "--user-data-dir", "d"], "is for Chromium"),
            (&["host", "install", "--browser", "all", "--user-data-dir", "d"], "of one browser"),
            (&["host", "install", "--user-data-dir", ""], "--user-data-dir is empty"),
            (&["host", "install", "--extension-id", "a b"], "--extension-id a b: an id is "),
            (
                &["host", "install", "--browser", "edge", "--extension-id", "a@b"],
                "no extension of that browser",
            ),
        ] {
            let said = complaint(line);
            assert!(said.contains(why), "{line:?}: {said}");
        }
    }
}
