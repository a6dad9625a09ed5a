//! `harbor install binary:URL`: what is fetched is what was meant, and nothing else comes of it.

use std::fs;

use harbor_tests::downloads::{Served, Signer, server, sha256, tar_gz, zip};
use harbor_tests::npm_registry::write_server;
use harbor_tests::said::said;
use harbor_tests::tls::{FUTURE, Tls};
use harbor_tests::{Bridge, DOWN_LIMIT, Downloads, Home, INSTALL, Program, Scripted, Terminal, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

const SCRIPT: &[u8] = b"#!/bin/sh\n";

fn refusal(bridge: &Bridge, source: &str) -> String {
    let fields = json!({"source": source, "server_id": "s"});
    bridge.request("install_server", &fields).wait(INSTALL).unwrap_err().message
}

fn done(home: &Home, args: &[&str]) -> String {
    let (out, err, code) = said(home.command("harbor").args(args));
    assert_eq!(code, Some(0), "{args:?}: {out}{err}");
    out + &err
}

fn echoes(bridge: &Bridge, id: &str) {
    bridge.ask("connect_server", &json!({"server_id": id}));
    assert!(bridge.tool_text(id, "echo", &json!({"text": "hello"})).contains("hello"));
}

fn is_gone(home: &Home, id: &str) -> bool {
    !home.path().join("servers").join(id).exists()
}

/// A server with these tools, as a script.
fn script(home: &Home, version: &str, tools: &[&str]) -> Vec<u8> {
    let dir = home.scratch(version);
    write_server(&dir, version, tools, "a server");
    fs::read(dir.join("index.js")).unwrap()
}

#[test]
fn a_program_is_installed_alone_and_out_of_archives() {
    let (home, place) = (Home::new(), Downloads::start());
    let bridge = Bridge::start(&home);
    let program = server(&home);
    let files: [(&str, u32, &[u8]); 2] =
        [("x-1.0/README.md", 0o644, b"read me"), ("x-1.0/bin/x", 0o755, &program)];
    let (tar, zip) = (tar_gz(&files), zip(&files));
    for (path, bytes) in
        [("/notes-linux-x86_64", &program), ("/tarred-1.0.tar.gz", &tar), ("/zipped.zip", &zip)]
    {
        place.offer(path, Served::File(bytes.clone()));
        let source = format!("binary:{}", place.url(path));
        let hash = sha256(bytes);
        let id = path[1..].split(['-', '.']).next().unwrap();
        let args = ["install", &source, "--sha256", &hash, "--allow-http", "--allow-private", "--yes"];
        let said = done(&home, &args);
        assert!(said.contains(&format!("installed {id}: {} {hash}", place.url(path))), "{said}");
        echoes(&bridge, id);
        let listed = bridge.ask("list_installed", &json!({}));
        let listed =
            listed["servers"].as_array().unwrap().iter().find(|one| one["server_id"] == id).unwrap().clone();
        let wanted = format!("{source}#sha256={hash}&allow=http&allow=private");
        assert_eq!((&listed["kind"], &listed["source"]), (&json!("binary"), &json!(wanted)));
        assert_eq!(listed["integrity"], json!(format!("sha256:{hash}")));
        assert_eq!(listed["file"]["size"], json!(bytes.len()));
        let again = bridge.call("install_server", &json!({"source": source, "server_id": id})).unwrap_err();
        assert!(again.message.contains("--allow-http"), "{again:?}");
    }
    let shown = bridge.server("notes")["package"].as_str().unwrap().to_owned();
    assert!(shown.starts_with(&place.url("/notes-linux-x86_64#sha256=")), "{shown}");
    let view = || fs::read_to_string(home.path().join("installed_servers.json")).unwrap_or_default();
    let url = format!("\"binaryUrl\": \"{}\"", place.url("/zipped.zip"));
    let program = home.path().join("servers/zipped/package/1/files/x-1.0/bin/x");
    let path = format!("\"binaryPath\": \"{}\"", program.display());
    wait_until("the file to say so", DOWN_LIMIT, || {
        view().contains(&url) && view().contains(&path) && view().contains("\"packageType\": \"binary\"")
    });

    // What is lost comes back as it was, and not as another file.
    let fetched = place.asked("/tarred-1.0.tar.gz");
    bridge.ask("disconnect_server", &json!({"server_id": "tarred"}));
    fs::remove_dir_all(home.path().join("servers/tarred/package/1/files")).unwrap();
    let _ = bridge.fail_to_connect("tarred");
    echoes(&bridge, "tarred");
    assert_eq!(place.asked("/tarred-1.0.tar.gz"), fetched + 1);
    bridge.ask("disconnect_server", &json!({"server_id": "tarred"}));
    place.offer("/tarred-1.0.tar.gz", Served::File(zip.clone()));
    fs::remove_dir_all(home.path().join("servers/tarred/package/1/files")).unwrap();
    let _ = bridge.fail_to_connect("tarred");
    let refused =
        bridge.request("connect_server", &json!({"server_id": "tarred"})).wait(INSTALL).unwrap_err();
    assert!(refused.message.contains("is not the expected file"), "{refused:?}");

    bridge.ask("uninstall_server", &json!({"server_id": "zipped", "data": true}));
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "zipped"));
}

#[test]
fn what_was_shown_is_what_is_installed_after_a_yes() {
    let (home, place) = (Home::new(), Downloads::start());
    let bridge = Bridge::start(&home);
    // It would leave a trace if it ran.
    let trace = home.scratch("trace");
    let traced = format!("#!/bin/sh\ntouch {}\n", trace.display());
    place.offer("/s", Served::File(traced.into_bytes()));
    let source = place.source("/s");
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", &source]));
    terminal.wait_for("checked    by nobody");
    terminal.wait_for("sandbox standard, network all");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 1);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "s"));
    assert!(!trace.exists());

    let first = script(&home, "1", &["a"]);
    place.offer("/s", Served::File(first.clone()));
    let plan = bridge.ask("install_server", &json!({"source": source, "plan": true}))["installed"].clone();
    assert_eq!(plan["file"], json!({"size": first.len(), "program": "s", "vouched_by": []}));
    // A signature that nobody asked for is spoken of; a page in its place is none.
    place.offer("/s.minisig", Served::File(b"<html>".to_vec()));
    assert!(!done(&home, &["install", &source, "--dry-run"]).contains("there is a signature"));
    let signature = Signer::new(&home, "publish").sign(&first);
    place.offer("/s.minisig", Served::File(signature.into_bytes()));
    let dry = done(&home, &["install", &source, "--dry-run"]);
    assert!(dry.contains("checked    by nobody, although there is a signature"), "{dry}");
    assert_eq!(plan["version"], json!(sha256(&first)));
    place.offer("/s", Served::File(script(&home, "2", &["a"])));
    let fields = json!({"source": source, "planned": plan["planned"]});
    let refused = bridge.request("install_server", &fields).wait(INSTALL).unwrap_err();
    assert!(refused.message.contains("is not the expected file"), "{refused:?}");
    place.offer("/s", Served::File(first.clone()));
    let installed = bridge.ask("install_server", &fields)["installed"].clone();
    assert_eq!((&installed["version"], &installed["tools"]), (&json!(sha256(&first)), &json!(["a"])));

    let wrong = format!("{source}&sha256={}", sha256(b"other"));
    let (said, _) = home.refused(&["install", &wrong, "--name", "s2", "--yes"]);
    assert!(said.contains(&sha256(&first)) && said.contains(&sha256(b"other")), "{said}");
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "s2"));
}

#[test]
fn signatures_are_checked_and_an_upgrade_is_held_to_the_key() {
    let (home, place) = (Home::new(), Downloads::start());
    let bridge = Bridge::start(&home);
    let (signer, other) = (Signer::new(&home, "publish"), Signer::new(&home, "somebody"));
    let (one, two) = (script(&home, "1", &["a"]), script(&home, "2", &["a", "b"]));
    place.offer("/s", Served::File(one.clone()));
    let source = format!("{}&minisign={}", place.source("/s"), signer.public());
    assert!(refusal(&bridge, &source).contains("it is not signed"), "missing");
    for (signature, said) in [
        (signer.sign(&two), "its signature does not match"),
        (signer.sign_as_before(&two), "its signature does not match"),
        (other.sign(&one), "by a different key"),
        ("<html>".into(), "not in minisign's format"),
    ] {
        place.offer("/s.minisig", Served::File(signature.into_bytes()));
        let refused = refusal(&bridge, &source);
        assert!(refused.contains(said), "{refused}");
    }
    place.offer("/s.minisig", Served::File(signer.sign_as_before(&one).into_bytes()));
    let plan = bridge.ask("install_server", &json!({"source": source, "plan": true}))["installed"].clone();
    assert_eq!(plan["file"]["vouched_by"], json!(["signature"]));
    let public = signer.public();
    let plain = format!("binary:{}", place.url("/s"));
    let args = [
        "install",
        &plain,
        "--minisign-key",
        &public,
        "--allow-http",
        "--allow-private",
        "--yes",
        "--name",
        "s",
    ];
    assert!(done(&home, &args).contains("installed s:"));

    // The key that it was installed by is remembered.
    place.offer("/s", Served::File(two.clone()));
    place.offer("/s.minisig", Served::File(other.sign(&two).into_bytes()));
    let refused = bridge.request("upgrade_server", &json!({"server_id": "s"})).wait(INSTALL).unwrap_err();
    assert!(refused.message.contains("by a different key"), "{refused:?}");
    place.offer("/s.minisig", Served::File(signer.sign(&two).into_bytes()));
    let said = done(&home, &["upgrade", "s", "--yes"]);
    assert!(said.contains(&format!("{} → {}", sha256(&one), sha256(&two))), "{said}");
    assert!(said.contains(&format!("signed     by {public}; later versions must be, too")), "{said}");
}

#[test]
fn an_upgrade_leads_to_another_file_and_back() {
    let (home, place) = (Home::new(), Downloads::start());
    let mut bridge = Bridge::start(&home);
    let (one, two, three) =
        (script(&home, "1", &["a"]), script(&home, "2", &["b"]), script(&home, "3", &["c"]));
    place.offer("/v1/s", Served::File(one.clone()));
    place.offer("/v2/s", Served::File(two.clone()));
    done(&home, &["install", &place.source("/v1/s"), "--yes"]);
    let same = done(&home, &["upgrade", "s", "--yes"]);
    assert!(same.contains("already"), "{same}");
    let to = format!("{}#sha256={}", place.url("/v2/s"), sha256(&two));
    let said = done(&home, &["upgrade", "s", "--to", &to, "--yes"]);
    assert!(said.contains("new tools  b") && said.contains("gone tools a"), "{said}");
    let listed = bridge.ask("list_installed", &json!({}))["servers"][0].clone();
    assert_eq!((&listed["name"], &listed["previous"]), (&json!(place.url("/v2/s")), &json!(sha256(&one))));
    // The next one begins at the address that it was led to.
    place.offer("/v2/s", Served::File(three.clone()));
    let tried = bridge.ask("upgrade_server", &json!({"server_id": "s"}))["upgrade"].clone();
    assert_eq!(tried["after"], json!(sha256(&three)));
    done(&home, &["upgrade", "s", "--undo"]);
    bridge.ask("connect_server", &json!({"server_id": "s"}));
    assert_eq!(bridge.tool_text("s", "a", &json!({})), "1");
    let wrong = bridge.call("upgrade_server", &json!({"server_id": "s", "to": "1.2"})).unwrap_err();
    assert_eq!(wrong.details["field"], "to", "{wrong:?}");

    // Which file it was is lost: none is taken for it.
    bridge.stop();
    for lock in fs::read_dir(home.path().join("locks")).unwrap() {
        fs::write(lock.unwrap().path(), "{}").unwrap();
    }
    let bridge = Bridge::start(&home);
    let refused = bridge.request("connect_server", &json!({"server_id": "s"})).wait(INSTALL).unwrap_err();
    assert!(refused.message.contains("its locked version is lost"), "{refused:?}");
}

/// A secret is given later, and the file is another one by then.
#[test]
fn a_file_that_was_replaced_before_its_first_start_is_taken_on_purpose() {
    let (home, place) = (Home::new(), Downloads::start());
    let bridge = Bridge::start(&home);
    let (one, two) = (script(&home, "1", &["a"]), script(&home, "2", &["b"]));
    place.offer("/s", Served::File(one.clone()));
    let said = done(&home, &["install", &place.source("/s"), "--secret", "KEY", "--yes"]);
    assert!(said.contains(&sha256(&one)) && said.contains("before it has KEY"), "{said}");
    place.offer("/s", Served::File(two.clone()));
    bridge.ask("set_credential", &json!({"server_id": "s", "key": "KEY", "value": "hunter2hunter2"}));
    let (said, _) = home.refused(&["start", "s"]);
    assert!(said.contains("is not the expected file") && said.contains("`harbor upgrade s`"), "{said}");
    let said = done(&home, &["upgrade", "s", "--yes"]);
    assert!(said.contains(&format!("s is now {};", sha256(&two))), "{said}");
    bridge.ask("connect_server", &json!({"server_id": "s"}));
    assert_eq!(bridge.tool_text("s", "b", &json!({})), "2");
    // At a first installation there is nothing to be upgraded.
    let wrong = format!("{}&sha256={}", place.source("/s"), sha256(&one));
    let (said, _) = home.refused(&["install", &wrong, "--name", "other", "--yes"]);
    assert!(said.contains("compare your SHA-256") && !said.contains("upgrade"), "{said}");
}

#[test]
fn archives_that_are_none_of_a_server_are_refused() {
    let (home, place) = (Home::new(), Downloads::start());
    let bridge = Bridge::start(&home);
    let mac: &[u8] = b"\xcf\xfa\xed\xfe and so on";
    let two: [(&str, u32, &[u8]); 2] = [("bin/one", 0o755, SCRIPT), ("bin/two", 0o755, SCRIPT)];
    for (path, bytes, said) in [
        ("/out.tar.gz", tar_gz(&[("../out", 0o755, SCRIPT)]), "leads out of the archive"),
        ("/out.zip", zip(&[("a/../../out", 0o755, SCRIPT)]), "leads out of the archive"),
        ("/two.zip", zip(&two), "name the server by --bin; it has bin/one, bin/two"),
        ("/none.zip", zip(&[("README", 0o644, b"text")]), "no program in the archive"),
        ("/mac.tgz", tar_gz(&[("server", 0o755, mac)]), "server is a program for macOS, but this is Linux"),
        ("/windows.exe", b"MZ\x90\0".to_vec(), "is a program for Windows"),
        ("/page", b"<!DOCTYPE html>".to_vec(), "it is a web page"),
        ("/text", b"hello".to_vec(), "neither a program nor"),
        ("/damaged.zip", b"PK\x03\x04and no more".to_vec(), "damaged"),
    ] {
        place.offer(path, Served::File(bytes));
        let refused = refusal(&bridge, &place.source(path));
        assert!(refused.contains(said), "{path}: {refused}");
    }
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "s"));
    let named = format!("{}&bin=bin/two", place.source("/two.zip"));
    let plan = bridge.ask("install_server", &json!({"source": named, "plan": true, "server_id": "s"}));
    assert_eq!(plan["installed"]["file"]["program"], "bin/two");
    let plain = format!("binary:{}", place.url("/two.zip"));
    let (said, _) =
        home.refused(&["install", &plain, "--allow-http", "--allow-private", "--bin", "bin/three", "--yes"]);
    assert!(said.contains("the archive has no file bin/three; it has bin/one, bin/two"), "{said}");
}

#[test]
fn what_does_not_come_whole_or_from_elsewhere_is_refused() {
    let (home, place) = (Home::new(), Downloads::start());
    // What asks for example.com asks this one: its proxy.
    let proxy = Scripted::start({
        let to = place.url("/s");
        move |_, stream| {
            use std::io::Write as _;
            let head = format!(
                "HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: {to}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).is_ok()
        }
    });
    let tls = Tls::start(&home, "DNS:localhost", FUTURE, &["-HTTP"]);
    let whole = b"HTTP/1.0 200 OK\r\n\r\n".to_vec();
    fs::write(tls.dir.join("good"), [whole, SCRIPT.to_vec()].concat()).unwrap();
    let down = format!("HTTP/1.0 302 Found\r\nLocation: {}\r\n\r\n", place.url("/s"));
    fs::write(tls.dir.join("down"), down).unwrap();
    let bridge = Bridge::start_with(
        &home,
        &[
            ("HTTP_PROXY", &format!("http://127.0.0.1:{}", proxy.port)),
            ("SSL_CERT_FILE", tls.certificate.to_str().unwrap()),
        ],
    );
    place.offer("/s", Served::File(SCRIPT.to_vec()));
    place.offer("/half", Served::Half(vec![b'x'; 5000]));
    place.offer("/large", Served::Announced(300 << 20));
    place.offer("/around", Served::To(place.url("/around")));
    let tls_source = |path: &str| format!("binary:{}#allow=private", tls.url(path));
    for (source, said) in [
        (
            format!("binary:{}#allow=http", place.url("/s")),
            "is a private address; `--allow-private` allows that",
        ),
        (
            "binary:http://example.com/s#allow=http".into(),
            "is a private address; `--allow-private` allows that",
        ),
        (tls_source("/down"), "which is without TLS; --allow-http allows that"),
        (place.source("/half"), "was lost after 2500 bytes; try again"),
        (place.source("/large"), "larger than 268 MB"),
        (place.source("/around"), "redirects too many times"),
        (place.source("/none"), "no such file"),
        ("binary:https://localhost:1/s#allow=private".into(), "nothing listens at localhost:1"),
    ] {
        let refused = refusal(&bridge, &source);
        assert!(refused.contains(said), "{source}: {refused}");
    }
    assert_eq!(proxy.asked().len(), 1);
    let plan = bridge.ask("install_server", &json!({"source": tls_source("/good"), "plan": true}));
    assert_eq!(plan["installed"]["version"], json!(sha256(SCRIPT)));
    drop(bridge);
    let bridge = Bridge::start(&home);
    let refused = refusal(&bridge, &tls_source("/good"));
    assert!(refused.contains("this system does not trust who signed the certificate"), "{refused}");
}

/// The bridge is killed, and the person presses Ctrl-C, while the file is under way.
#[test]
fn a_download_that_is_ended_leaves_nothing() {
    let (home, place) = (Home::new(), Downloads::start());
    let mut bridge = Bridge::start(&home);
    place.offer("/s", Served::Held(vec![b'x'; 5000]));
    let source = place.source("/s");
    let _installing = bridge.request("install_server", &json!({"source": source}));
    wait_until("the file to be under way", INSTALL, || place.held() == 1);
    bridge.kill();
    wait_until("who fetched it to have gone", DOWN_LIMIT, || place.held() == 0);
    let bridge = Bridge::start(&home);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "s"));

    let typed = Program::start(home.command("harbor").args(["install", &source, "--yes"]));
    wait_until("the file to be under way", INSTALL, || place.held() == 1);
    typed.signal(Signal::SIGINT);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "s") && place.held() == 0);

    place.offer("/s", Served::File(server(&home)));
    done(&home, &["install", &source, "--yes"]);
    echoes(&bridge, "s");
}
