//! What a module reaches, and what it tries in vain.

use std::fs;

use super::{module, run_bytes, shown};

#[test]
fn it_has_its_arguments_and_variables() {
    // The texts stand one behind the other.
    let arguments = "(drop (call $args_get (i32.const 64) (i32.const 256))) (i32.const 256) (i32.const 18)";
    assert_eq!(shown(&["--", "--utc", "x"], arguments).text(), "server.wasm\0--utc\0");
    let variables =
        "(drop (call $environ_get (i32.const 64) (i32.const 256))) (i32.const 256) (i32.const 10)";
    assert_eq!(shown(&[], variables).text(), "KEY=välue");
}

/// Tries something in the directory that is the descriptor 3, and returns the number of the error: 0 is none.
#[track_caller]
fn tries(arguments: &[&str], path: &str, what: &str) -> u8 {
    let body = format!(
        r#"(data (i32.const 512) "{path}") (func (export "_start")
          (i32.store8 (i32.const 300) {what})
          (i32.store (i32.const 0) (i32.const 300)) (i32.store (i32.const 4) (i32.const 1))
          (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))"#
    );
    let ran = run_bytes(&module(&body), arguments, b"");
    assert_eq!((ran.code, ran.said.len()), (Some(0), 1), "{ran:?}");
    ran.said[0]
}

/// Opens a path below a descriptor, with these flags and rights.
fn open(descriptor: u8, path: &str, flags: u8, rights: u64) -> String {
    format!(
        "(call $path_open (i32.const {descriptor}) (i32.const 1) (i32.const 512) (i32.const {})
           (i32.const {flags}) (i64.const {rights}) (i64.const 0) (i32.const 0) (i32.const 16))",
        path.len()
    )
}

const CREATE: u8 = 1;
const TRUNCATE: u8 = 8;
const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 6;
/// The number of the error for a descriptor that is none.
const BADF: u8 = 8;

#[test]
fn it_opens_nothing_outside_its_directories() {
    let home = tempfile::tempdir().unwrap();
    let (own, other) = (home.path().join("own"), home.path().join("other"));
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(&other).unwrap();
    fs::write(own.join("a"), "a").unwrap();
    fs::write(other.join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(&other, own.join("way")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", own.join("passwd")).unwrap();
    let write = ["--write", own.to_str().unwrap()];
    assert_eq!(tries(&write, "a", &open(3, "a", 0, READ)), 0);
    for path in ["../other/secret", "/etc/passwd", "passwd", "way/secret", "a/../../other/secret", ".."] {
        assert_ne!(tries(&write, path, &open(3, path, 0, READ)), 0, "{path}");
    }
    assert_ne!(tries(&write, "../new", &open(3, "../new", CREATE, WRITE)), 0);
    assert!(!home.path().join("new").exists());
    assert_eq!(tries(&write, "new", &open(3, "new", CREATE, WRITE)), 0);
    assert!(own.join("new").exists());
    assert_eq!(tries(&[], "a", &open(3, "a", 0, READ)), BADF, "without a grant there is no directory");
    for descriptor in 0..3 {
        assert_ne!(tries(&[], "a", &open(descriptor, "a", 0, READ)), 0, "{descriptor}");
    }
}

#[test]
fn it_changes_nothing_where_it_may_only_read() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("below")).unwrap();
    fs::write(home.path().join("below/a"), "kept").unwrap();
    let read = ["--read", home.path().to_str().unwrap()];
    assert_eq!(tries(&read, "below/a", &open(3, "below/a", 0, READ)), 0);
    for (path, flags, rights) in [
        ("below/a", 0, WRITE),
        ("below/a", 0, READ | WRITE),
        ("below/a", TRUNCATE, READ),
        ("new", CREATE, READ),
        ("new", CREATE, WRITE),
    ] {
        assert_ne!(tries(&read, path, &open(3, path, flags, rights)), 0, "{path} {flags} {rights}");
    }
    assert_ne!(tries(&read, "new", "(call $mkdir (i32.const 3) (i32.const 512) (i32.const 3))"), 0);
    assert_eq!(fs::read_to_string(home.path().join("below/a")).unwrap(), "kept");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn there_is_no_socket() {
    for descriptor in 0..64 {
        let accept = format!("(call $sock_accept (i32.const {descriptor}) (i32.const 0) (i32.const 16))");
        assert_ne!(tries(&[], "", &accept), 0);
    }
    let send = "(call $sock_send (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 16))";
    assert_ne!(tries(&[], "", send), 0);
}
