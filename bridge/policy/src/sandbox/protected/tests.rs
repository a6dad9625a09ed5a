//! Each verdict by example, and at random: what is granted neither holds nor is held by a secret.

use super::*;
use proptest::prelude::*;

fn facts() -> SandboxFacts {
    SandboxFacts {
        home: Some("/home/u".into()),
        harbor_home: "/home/u/.harbor".into(),
        data: "/home/u/.harbor/servers/s/data".into(),
        tmp: "/home/u/.harbor/servers/s/tmp".into(),
        package: Some("/home/u/.harbor/servers/s/package".into()),
        protected: vec!["/home/u/dotfiles/ssh".into()],
        socket: "/srv/harbor/x.sock".into(),
        ..SandboxFacts::default()
    }
}

#[test]
fn sentences_say_why_and_what_to_do() {
    for (path, wanted) in [
        ("/home/u/.ssh", "/home/u/.ssh is never granted: it holds secrets or ways out of the sandbox"),
        (
            "/home/u/.ssh/id",
            "/home/u/.ssh/id is never granted: it is in /home/u/.ssh, which holds secrets or ways out of the sandbox",
        ),
        (
            "/srv",
            "/srv is never granted as a whole, since it contains /srv/harbor/x.sock: name directories below it, for \
             example `--read /srv/DIRECTORY`",
        ),
        (
            "/tmp",
            "/tmp is too large a place to be granted: name directories below it, for example `--read /tmp/DIRECTORY`",
        ),
        ("a", "\"a\" cannot be granted: a path must be absolute, without `..`"),
    ] {
        let alternative = ". Give the server what it needs by `--env`, or copy it into its data directory";
        let said = why_never(path, &facts()).unwrap();
        assert_eq!(said.strip_suffix(alternative).unwrap_or(&said), wanted);
        assert_eq!(said.ends_with(alternative), wanted.contains("secrets"));
    }
}

#[test]
fn secrets_and_wide_places_are_never_granted() {
    for path in [
        "/",
        "/home",
        "/home/u",
        "/home/u/",
        "//home/./u",
        "/home/u/.config",
        "/home/u/.local/share",
        "/home/u/.local",
        "/home/u/.cache",
        "/home/u/.cargo",
        "/home/u/.aws/credentials",
        "/home/u/.harbor",
        "/home/u/.harbor/servers",
        "/home/u/.harbor/servers/s",
        "/home/u/.harbor/servers/other/data",
        "/home/u/.harbor/run/token",
        "/home/u/dotfiles",
        "/home/u/dotfiles/ssh/id",
        "/home/v",
        "/home/v/.ssh/id",
        "/var/home/w/.gnupg",
        "/root",
        "/root/x",
        "/etc",
        "/etc/shadow",
        "/etc/ssh/ssh_host_rsa_key",
        "/run/user/1000/bus",
        "/proc/self/root",
        "/dev",
        "/dev/sda",
        "/sys",
        "/sys/kernel/debug",
        "/boot",
        "/var",
        "/var/tmp",
        "/var/run/docker.sock",
        "/x/..",
        "/srv/harbor",
    ] {
        assert!(why_never(path, &facts()).is_some(), "{path}");
    }
}

#[test]
fn the_rest_can_be_granted() {
    for path in [
        "/home/u/Documents",
        "/home/u/.sshx",
        "/home/u/.config/app",
        "/home/u/.gitconfig",
        "/home/v/shared",
        "/opt",
        "/tmp/x",
        "/etc/ssl/certs",
        "/dev/null",
        "/home/u/.harbor/servers/s/data/x",
        "/home/u/.harbor/servers/s/package",
        "/mnt",
        "/usr",
    ] {
        assert_eq!(why_never(path, &facts()), None);
    }
    assert_eq!(why_never("/root/x", &SandboxFacts { home: Some("/root".into()), ..facts() }), None);
    assert!(why_not_by_name("/mnt", &facts()).is_some() && why_not_by_name("/mnt/a", &facts()).is_none());
}

#[test]
fn what_everybody_runs_is_not_written() {
    for path in ["/usr", "/usr/local/bin", "/etc/cron.d", "/bin", "/home/u/.ssh"] {
        assert!(why_never_written(path, &facts()).is_some(), "{path}");
    }
    assert_eq!(why_never_written("/home/u/Documents", &facts()), None);
    for (path, wanted) in [
        ("/home/u/.bashrc", true),
        ("/home/u/.config/systemd/user", true),
        ("/home/v/.local/bin", true),
        ("/home/u/.vimrc", true),
        ("/home/u/.config/nvim/lua/x.lua", true),
        ("/home/u/.emacs.d", true),
        ("/home/u/.tmux.conf", true),
        ("/home/u/p/.git/hooks", true),
        ("/home/u/Documents", false),
    ] {
        assert_eq!(is_run_later(path, &facts()), wanted, "{path}");
    }
}

proptest! {
    #[test]
    fn what_is_granted_neither_holds_nor_is_held_by_a_secret(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("home"), Just("u"), Just(".ssh"), Just(".config"), Just("gh"), Just("x"), Just("run"), Just("etc"),
                Just(".harbor"), Just("servers"), Just("s"), Just("data"), Just("root"), Just("."), Just(""),
            ],
            0..6,
        ),
    ) {
        let (path, facts) = (format!("/{}", parts.join("/")), facts());
        if why_never(&path, &facts).is_none() {
            let clean = clean(&path).unwrap();
            let secrets = of_home("/home/u").into_iter().chain(["/run".into(), "/etc/shadow".into(), "/root".into()]);
            for secret in secrets {
                prop_assert!(!is_within(&clean, &secret) && !is_within(&secret, &clean), "{} {}", path, secret);
            }
            prop_assert!(!is_within(&clean, "/home/u/.harbor") || is_within(&clean, &facts.data));
        }
    }
}
