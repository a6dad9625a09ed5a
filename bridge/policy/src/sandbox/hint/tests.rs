//! Real messages of real programs, what is no refusal, and whatever comes.

use super::*;
use proptest::prelude::*;

fn read(path: &str) -> Option<Refusal> {
    Some(Refusal { path: path.into(), write: false, missing: false })
}

fn write(path: &str) -> Option<Refusal> {
    Some(Refusal { path: path.into(), write: true, missing: false })
}

fn missing(path: &str) -> Option<Refusal> {
    Some(Refusal { path: path.into(), write: false, missing: true })
}

#[test]
fn real_messages_are_read() {
    for (text, wanted) in [
        // Node.
        ("Error: EACCES: permission denied, open '/x/y'", read("/x/y")),
        ("Error: EPERM: operation not permitted, mkdir '/x/y'", write("/x/y")),
        ("[Error: EROFS: read-only file system, open '/x/y.txt'] {", write("/x/y.txt")),
        ("EACCES: permission denied, rename '/x/a.tmp' -> '/x/a'", write("/x/a")),
        ("Error: EACCES: permission denied, copyfile '/a/from' -> '/b/to'", write("/b/to")),
        ("Error: ENOENT: no such file or directory, stat '/home/u/notes'", missing("/home/u/notes")),
        ("\u{1b}[31mError: EACCES: permission denied, scandir '/x'\u{1b}[39m", read("/x")),
        (r#"{"text":"EACCES: permission denied, open \"/x/y z\""}"#, read("/x/y z")),
        // Python.
        ("PermissionError: [Errno 13] Permission denied: '/x/y'", read("/x/y")),
        ("PermissionError: [Errno 1] Operation not permitted: '/a' -> '/b'", read("/b")),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/x/y'", missing("/x/y")),
        ("OSError: [Errno 30] Read-only file system: '/x/y'", write("/x/y")),
        // C and shells.
        ("cat: /x/my file: Permission denied", read("/x/my file")),
        ("cat: /x/writing/y: Permission denied", read("/x/writing/y")),
        ("/usr/bin/cat: /x/y: Permission denied", read("/x/y")),
        ("bash: line 1: /x/y: Permission denied", read("/x/y")),
        ("ls: cannot open directory '/root': Permission denied", read("/root")),
        ("mkdir: cannot create directory \u{2018}/x/y\u{2019}: Permission denied", write("/x/y")),
        ("touch: cannot touch '/x/y': Read-only file system", write("/x/y")),
        ("rm: cannot remove '/x/y': Operation not permitted", write("/x/y")),
        ("fatal: could not open `/x/y' for writing: Permission denied", write("/x/y")),
        // Go.
        ("2024/01/02 03:04:05 open /x/y: permission denied", read("/x/y")),
        ("mkdir /x/y: permission denied", write("/x/y")),
        ("rename /x/a /x/b: permission denied", write("/x/a")),
        ("stat /x/y: no such file or directory", missing("/x/y")),
        // Rust.
        ("Error: failed to read /x/y: Permission denied (os error 13)", read("/x/y")),
        ("failed to open file `/x/y`: Permission denied (os error 13)", read("/x/y")),
        ("Permission denied (os error 13) at path \"/x/y\"", read("/x/y")),
        ("Permission denied (os error 13): /x/y.", read("/x/y")),
        // A line of several.
        ("starting\nError: EACCES: permission denied, open '/x/y'\n    at /a/b.js:1", read("/x/y")),
    ] {
        assert_eq!(denied(text), wanted, "{text:?}");
    }
}

#[test]
fn what_names_no_path_is_no_refusal() {
    for text in [
        "",
        "Permission denied",
        "EACCES",
        "opened /x/y",
        "GET https://example.com/x: permission denied",
        "open x/y: permission denied",
        "open '/x/../y': permission denied",
        "MYEACCES '/x'",
        "EACCES: permission denied, open '/x\u{1b}[2J'",
        "EACCES: permission denied, open '/x\u{202e}y'",
        "EACCES: permission denied, open '/'",
    ] {
        assert_eq!(denied(text), None, "{text:?}");
    }
    let late = format!("{}\ncat: /x: Permission denied", "é".repeat(MAX_TEXT));
    assert_eq!(denied(&late), None);
}

#[test]
fn advice_is_what_a_shell_takes() {
    let facts =
        Facts { home: Some("/home/u".into()), harbor_home: "/home/u/.harbor".into(), ..Facts::default() };
    let advice = |path, write| advice(path, write, &facts).map(|advice| advice.option);
    assert_eq!(advice("/home/u/notes/a.md", false), Ok("--read /home/u/notes/a.md".into()));
    assert_eq!(advice("/home/u/notes/a.md", true), Ok("--write /home/u/notes".into()));
    assert_eq!(advice("/home/u/a.md", true), Ok("--write /home/u/a.md".into()), "never the home");
    assert_eq!(advice("/srv/it's mine", false), Ok(r"--read '/srv/it'\''s mine'".into()));
    for (path, write) in [
        ("/home/u/.ssh/id", false),
        ("/home/u/.harbor/run/token", true),
        ("/usr/x", true),
        ("/home/u", false),
    ] {
        assert!(advice(path, write).unwrap_err().contains("never"), "{path}");
    }
}

#[test]
fn advice_says_what_is_run_outside() {
    let facts =
        Facts { home: Some("/home/u".into()), harbor_home: "/home/u/.harbor".into(), ..Facts::default() };
    for (path, option, is_minded) in [
        ("/home/u/.bashrc", "--write /home/u/.bashrc", true),
        ("/home/u/.vimrc", "--write /home/u/.vimrc", true),
        ("/home/u/.config/autostart/x.desktop", "--write /home/u/.config/autostart", true),
        ("/home/u/bin/ls", "--write /home/u/bin", true),
        ("/home/u/proj/.git/hooks/pre-commit", "--write /home/u/proj/.git/hooks", true),
        ("/home/u/notes/a.md", "--write /home/u/notes", false),
    ] {
        let mind = is_minded.then_some(RUN_OUTSIDE);
        assert_eq!(advice(path, true, &facts), Ok(Advice { option: option.into(), mind }), "{path}");
    }
    let read = Advice { option: "--read /home/u/.bashrc".into(), mind: None };
    assert_eq!(advice("/home/u/.bashrc", false, &facts), Ok(read));
}

proptest! {
    #[test]
    fn whatever_a_server_writes_is_read_without_harm(text in "(?s).{0,200}") {
        let _ = denied(&text);
    }

    #[test]
    fn what_is_found_is_plain(
        words in proptest::collection::vec(
            prop_oneof![
                Just("EACCES"), Just("permission denied"), Just(": "), Just(" "), Just("'"), Just("`"), Just("\""),
                Just("/x/y"), Just("/"), Just(" -> "), Just("\\"), Just("\u{2018}"), Just("é"), Just(".."),
                Just("ENOENT"), Just("\n"), Just("\u{202e}"), Just("mkdir"),
            ],
            0..24,
        ),
    ) {
        if let Some(found) = denied(&words.concat()) {
            prop_assert_eq!(clean(&found.path), Some(found.path.clone()));
            prop_assert!(found.path.chars().all(is_plain));
        }
    }
}
