//! service: the bridge as a systemd user unit.
//!
//! Owns the unit, which is that of docs/deploy.md. Must never write over a unit that it has not written itself.

use std::env;
use std::fs;
use std::io;
use std::os::linux::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_home::dial::{Role, bridge_program};
use serde_json::json;

use super::bridge;
use crate::args::Service;
use crate::client::Client;
use crate::screen::Screen;

/// The first line of a unit of ours.
const MARK: &str = "# Written by `harbor service install`.";

const NAME: &str = "harbor.service";

pub fn run(wanted: Option<&Service>, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let file = place()?;
    match wanted {
        None if file.exists() => done(&file, false, "the service is installed", screen),
        None => {
            done(&file, false, "the service is not installed; install it: `harbor service install`", screen)
        }
        Some(Service::Install { dry_run }) => {
            let unit = unit(&bridge_program(&Role::Cli)?, paths, env::var_os("HARBOR_HOME").is_some());
            if *dry_run {
                return Ok(screen.text(&format!("{}:\n\n{unit}", file.display()))?);
            }
            install(&file, &unit, paths, screen)
        }
        Some(Service::Uninstall) => uninstall(&file, screen),
    }
}

/// True if the service is installed.
pub fn is_installed() -> bool {
    place().is_ok_and(|file| file.exists())
}

fn place() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    let config =
        config.ok_or_else(|| Failure::Usage("HOME is not set\nset it, and run the command again".into()))?;
    Ok(config.join("systemd/user").join(NAME))
}

/// The unit. The home is named only where it is not the usual one.
fn unit(program: &Path, paths: &Paths, has_home: bool) -> String {
    let home = match has_home {
        true => format!("Environment=\"HARBOR_HOME={}\"\n", escaped(paths.home())),
        false => String::new(),
    };
    let program = escaped(program);
    format!(
        "{MARK}\n[Unit]\nDescription=Harbor, a supervisor for MCP servers\nStartLimitIntervalSec=0\n\n[Service]\nType=notify\n\
         ExecStart=\"{program}\" serve\nEnvironment=PATH=%h/.local/bin:/usr/local/bin:/usr/bin:/bin\n{home}WatchdogSec=30\n\
         Restart=on-failure\nRestartSec=100ms\nRestartSteps=6\nRestartMaxDelaySec=10\nTimeoutStopSec=15\nKillMode=mixed\n\
         Delegate=yes\nOOMPolicy=continue\nUMask=0077\nLockPersonality=yes\n\n[Install]\nWantedBy=default.target\n"
    )
}

/// A path as systemd reads it between quotes.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}

fn install(file: &Path, unit: &str, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let old = fs::read_to_string(file).ok();
    if old.as_ref().is_some_and(|old| !old.starts_with(MARK)) {
        return Err(foreign(file));
    }
    systemctl(&["--version"])?;
    let write = || {
        fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
        fs::write(file, unit)
    };
    write().map_err(|error| Failure::Io("write the unit", error))?;
    if let Err(failure) = systemctl(&["daemon-reload"]) {
        // As it was before: nobody would start what is left there.
        let _ = match &old {
            Some(old) => fs::write(file, old),
            None => fs::remove_file(file),
        };
        return Err(failure);
    }
    // One that a command has started would keep the service from starting.
    if Client::connect_running(paths)?.is_some() && !is_active() {
        remark(&bridge::end(paths)?.1);
    }
    systemctl(&["enable", "--now", NAME])?;
    done(file, true, "Harbor now starts with your session. Undo: `harbor service uninstall`", screen)?;
    match lingers() {
        Some(true) => {}
        Some(false) => {
            remark(&format!("it ends when you log out. To keep it, and to start it at boot: `{LINGER}`"))
        }
        None => {
            remark(&format!("loginctl does not say whether it ends when you log out; `{LINGER}` keeps it"))
        }
    }
    Ok(())
}

/// The command that keeps a user's services running without a session.
pub const LINGER: &str = "loginctl enable-linger";

/// True if this user's services go on when the last session ends; nothing where that cannot be found out.
pub fn lingers() -> Option<bool> {
    let user = fs::metadata("/proc/self").ok()?.st_uid().to_string();
    let mut ask = Command::new("loginctl");
    let ran =
        ask.args(["show-user", &user, "--property=Linger", "--value"]).stdin(Stdio::null()).output().ok()?;
    match String::from_utf8_lossy(&ran.stdout).trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn uninstall(file: &Path, screen: &mut Screen) -> Result<(), Failure> {
    match fs::read_to_string(file) {
        Err(_) => done(file, false, "the service is not installed", screen),
        Ok(unit) if !unit.starts_with(MARK) => Err(foreign(file)),
        Ok(_) => {
            let told = systemctl(&["disable", "--now", NAME]);
            fs::remove_file(file).map_err(|error| Failure::Io("remove the unit", error))?;
            // Without a bus nothing runs by it; the next login finds no unit.
            if told.and_then(|()| systemctl(&["daemon-reload"])).is_err() {
                remark("systemd could not be reached: it forgets the service at your next login");
            }
            done(file, true, "removed the service; the next command starts the bridge by itself", screen)
        }
    }
}

fn done(file: &Path, changed: bool, text: &str, screen: &mut Screen) -> Result<(), Failure> {
    match screen.json {
        true => screen.json(&json!({"unit": file.display().to_string(), "changed": changed}).to_string())?,
        false => screen.text(text)?,
    }
    if !screen.json && changed {
        remark(&format!("unit: {}", file.display()));
    }
    Ok(())
}

fn foreign(file: &Path) -> Failure {
    let text =
        format!("{} was not written by Harbor\nmove it away, and run the command again", file.display());
    Failure::Usage(text)
}

fn is_active() -> bool {
    systemctl(&["is-active", "--quiet", NAME]).is_ok()
}

fn systemctl(args: &[&str]) -> Result<(), Failure> {
    let ran = Command::new("systemctl").arg("--user").args(args).stdin(Stdio::null()).output();
    let output = ran.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Nothing(
            "this machine has no systemd".into(),
            "start `harbor-bridge serve` by other means; docs/deploy.md has examples".into(),
        ),
        _ => Failure::Io("run systemctl", error),
    })?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if said.contains("connect to bus") || said.contains("connect to user scope bus") {
                return Err(Failure::Nothing(
                    format!("systemd has no session of this user: {said}"),
                    format!(
                        "log in as this user, not by su or sudo, or let its services run without a session: `{LINGER} \
                         USER`, as root; docs/deploy.md shows other ways to start Harbor"
                    ),
                ));
            }
            Err(Failure::Io("run systemctl", io::Error::other(format!("{}: {said}", args.join(" ")))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_that_of_the_document() {
        let paths = Paths::at(Path::new("/h o"));
        let page = include_str!("../../../../docs/deploy.md");
        let shown = page.split("```ini\n").nth(1).unwrap().split("```").next().unwrap();
        let unit = unit(Path::new("/b/harbor-bridge"), &paths, false);
        let setting = |line: &&str| !line.starts_with("ExecStart=") && !line.contains("LOG_FORMAT");
        let ours: Vec<_> = unit.lines().skip(1).filter(setting).collect();
        assert_eq!(ours, shown.lines().filter(setting).collect::<Vec<_>>());
        assert!(
            unit.contains("\nExecStart=\"/b/harbor-bridge\" serve\n") && !unit.contains("HARBOR_HOME"),
            "{unit}"
        );
        let named = super::unit(Path::new("/b%/x"), &paths, true);
        assert!(
            named.contains("Environment=\"HARBOR_HOME=/h o\"\n") && named.contains("\"/b%%/x\""),
            "{named}"
        );
    }
}
