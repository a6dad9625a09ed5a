//! `harbor auth`: every form of it.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use harbor_tests::authority::visit;
use harbor_tests::{Bridge, Home, LIMIT, Program, Terminal, wait_until};

use super::sound;

/// The page that a command asks its person to open.
fn page(program: &Program) -> String {
    let mut page = None;
    wait_until("the page", LIMIT, || {
        page = program.said().into_iter().find(|line| line.starts_with("http://127.0.0.1:"));
        page.is_some()
    });
    page.unwrap()
}

/// With these words and on its stdin, to its end, the page having been opened: what it prints, and its exit code.
fn auth(home: &Home, args: &[&str], input: &str) -> (String, Option<i32>) {
    let mut program = Program::start(home.command("harbor").args(["auth", "s"]).args(args));
    let (mut stdin, mut stdout) = program.pipes();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let _ = visit(&page(&program));
    let mut said = String::new();
    stdout.read_to_string(&mut said).unwrap();
    (said, program.wait(LIMIT).and_then(|status| status.code()))
}

#[test]
fn the_command_asks_shows_and_gives_back() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "before a command starts one of its own");
    let (_, said, code) = home.harbor(&["add", "s", "--url", &authority.mcp.url(), "--transport", "http"]);
    assert!(code == Some(5) && said.contains("sign in with `harbor auth s`"), "{said}");
    let (said, code) = home.refused(&["auth", "s", "--status"]);
    assert!(code == Some(4) && said.contains("not signed in to s"), "{said}");

    let (said, code) = auth(&home, &["--no-browser", "--scope", "more"], "");
    assert_eq!(
        (said.as_str(), code),
        ("signed in to s: read more\ns is running: 3 tools (`harbor tools s`)\n", Some(0))
    );
    let shown = home.done(&["auth", "s", "--status"]);
    assert!(shown.contains("may       read more") && shown.contains("is renewed automatically"), "{shown}");
    assert!(home.done(&["auth", "s", "--status", "--json"]).contains("\"client-0\""));
    assert_eq!(home.done(&["call", "s/t"]), "done\n");

    let given = ["--no-browser", "--client-id", "known", "--client-secret", "--json"];
    let (said, code) = auth(&home, &given, "s3cr3t-of-it\n");
    assert!(code == Some(0) && said.contains("\"known\"") && !said.contains("s3cr3t-of-it"), "{said}");
    let back = home.done(&["auth", "s", "--revoke"]);
    assert_eq!(back, "signed out of s; it is stopped\n");
    assert_eq!(home.refused(&["auth", "s", "--revoke"]).1, Some(4));
}

/// A browser that notes what it is to open.
fn browser(dir: &Path) {
    let script = "#!/bin/sh\nprintf '%s\\n' \"$1\" > \"$(dirname \"$0\")/opened.new\"\nmv \"$(dirname \"$0\")/opened.new\" \"$(dirname \"$0\")/opened\"\n";
    for name in ["xdg-open", "open"] {
        let path = dir.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn the_page_is_opened_in_the_persons_browser_and_ctrl_c_ends_it() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "before a command starts one of its own");
    let _ = home.harbor(&["add", "s", "--url", &authority.mcp.url()]);
    let dir = home.scratch("browser");
    std::fs::create_dir_all(&dir).unwrap();
    browser(&dir);
    let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
    let begin =
        |command: &mut Command| Program::start(command.args(["auth", "s", "--port", "0"]).env("PATH", &path));
    assert_ne!(begin(&mut home.command("harbor")).wait(LIMIT).unwrap().code(), Some(0), "no port");
    let mut program = Program::start(home.command("harbor").args(["auth", "s"]).env("PATH", &path));
    let url = page(&program);
    wait_until("it is opened", LIMIT, || dir.join("opened").exists());
    assert_eq!(std::fs::read_to_string(dir.join("opened")).unwrap().trim(), url);
    program.signal(nix::sys::signal::Signal::SIGINT);
    program.wait(LIMIT).unwrap();
    let asked = harbor_tests::authority::fields(url.split_once('?').unwrap().1);
    let port = url::Url::parse(&asked["redirect_uri"]).unwrap().port().unwrap();
    wait_until("the port is closed", LIMIT, || std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// It is there, so that there is something to be let in at.
#[test]
fn what_is_installed_and_wants_its_person_is_kept() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    let url = authority.mcp.url();
    let (out, err, code) = home.harbor(&["install", &url, "--yes", "--name", "s"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("it requires a sign-in") && out.contains("sign in: `harbor auth s`"), "{out}");
    let server = bridge.server("s");
    assert_eq!(
        (&server["state"], &server["last_exit"]["cause"]),
        (&"failed".into(), &"needs_authorization".into())
    );
    let (said, code) = auth(&home, &["--no-browser"], "");
    assert!(code == Some(0) && said.contains("s is running: 3 tools"), "{said}");
    assert_eq!(home.done(&["call", "s/t"]), "done\n");

    // At a terminal it can be done at once.
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", &url, "--name", "other"]));
    terminal.wait_for("Install it? [y/N]");
    terminal.press("y\r");
    terminal.wait_for("sign in: `harbor auth other`");
    terminal.wait_for("Do that now? [y/N]");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 0, "{}", terminal.text());
    assert_eq!(bridge.server("other")["state"], "failed");
}
