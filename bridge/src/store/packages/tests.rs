//! Tests of packages.

use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;

fn package(line: &str) -> Package {
    let words: Vec<String> = line.split(' ').map(Into::into).collect();
    harbor_policy::package::recognise(&words[0], &words[1..]).unwrap()
}

/// An executable script, with the directories above it.
fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What npm leaves of `@s/srv`: manifest, file, link.
fn npm(manifest: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let modules = dir.path().canonicalize().unwrap().join("node_modules");
    script(&modules.join("@s/srv/dist/x.js"), "#!/usr/bin/env node\n");
    std::fs::write(modules.join("@s/srv/package.json"), manifest).unwrap();
    std::fs::create_dir(modules.join(".bin")).unwrap();
    symlink("../@s/srv/dist/x.js", modules.join(".bin/srv")).unwrap();
    (dir, modules)
}

fn python(programs: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("venv/bin");
    std::fs::create_dir_all(&bin).unwrap();
    for program in programs {
        script(&bin.join(program), "#!/bin/sh\n");
    }
    symlink("/bin/sh", bin.join("python3")).unwrap();
    dir
}

fn refusal(line: &str, dir: &Path) -> String {
    entry(&package(line), dir).unwrap_err()
}

#[test]
fn an_npm_program_is_found_by_its_link_or_by_its_package() {
    let (dir, modules) = npm(r#"{"name": "@s/srv", "bin": {"srv": "dist/x.js", "gone": "y.js"}}"#);
    let file = modules.join("@s/srv/dist/x.js");
    assert_eq!(entry(&package("npx @s/srv@1"), dir.path()), Ok(file.clone()));
    std::fs::remove_file(modules.join(".bin/srv")).unwrap();
    assert_eq!(entry(&package("npx -p @s/srv srv"), dir.path()), Ok(file.clone()));
    assert!(refusal("npx -p @s/srv gone", dir.path()).contains("is missing"));
    assert!(refusal("npx -p @s/srv other", dir.path()).contains("gone, srv"));
    assert!(refusal("npx other", dir.path()).contains("missing or incomplete"));
    assert!(refusal("npx @s/srv", &dir.path().join("no")).contains("missing or incomplete"));
    assert!(refusal("uvx srv", dir.path()).contains("missing or incomplete"));
    std::fs::write(modules.join("@s/srv/package.json"), "\u{feff}{\"bin\": \"./dist/x.js\"}").unwrap();
    assert_eq!(entry(&package("npx @s/srv"), dir.path()), Ok(file));
}

#[test]
fn a_file_that_the_kernel_cannot_start_is_refused() {
    let (dir, modules) = npm(r#"{"bin": "dist/x.js"}"#);
    let (line, file) = ("npx @s/srv", modules.join("@s/srv/dist/x.js"));
    script(&file, "console.log(1)");
    assert!(refusal(line, dir.path()).contains("`#!` line"));
    script(&file, "#! /no/such/python -x\n");
    assert!(refusal(line, dir.path()).contains("its interpreter \"/no/such/python\" is missing"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(refusal(line, dir.path()).contains("chmod +x"));
    script(&file, "\u{7f}ELF");
    assert!(entry(&package(line), dir.path()).is_ok());
}

#[test]
fn nothing_leads_out_of_the_directory() {
    for bin in ["../../../../../../../../etc/passwd", "/etc/passwd", "../../../outside", "", ".", "dist"] {
        let (dir, modules) = npm(&format!(r#"{{"bin": "{bin}"}}"#));
        std::fs::remove_file(modules.join(".bin/srv")).unwrap();
        assert!(entry(&package("npx @s/srv"), dir.path()).is_err(), "{bin}");
    }
    let (dir, modules) = npm(r#"{"bin": "dist/x.js"}"#);
    let outside = tempfile::tempdir().unwrap();
    script(&outside.path().join("package.json"), r##"#!/bin/sh {"bin": "x"}"##);
    std::fs::remove_file(modules.join(".bin/srv")).unwrap();
    symlink(outside.path().join("package.json"), modules.join(".bin/srv")).unwrap();
    assert!(refusal("npx @s/srv", dir.path()).contains("leads out"));
    std::fs::remove_dir_all(modules.join("@s/srv")).unwrap();
    symlink(outside.path(), modules.join("@s/srv")).unwrap();
    assert!(refusal("npx @s/srv", dir.path()).contains("leads out"));
    let venv = python(&[]);
    symlink("/bin/sh", venv.path().join("venv/bin/srv")).unwrap();
    assert!(refusal("uvx srv", venv.path()).contains("leads out"));
}

#[test]
fn a_hostile_package_json_is_refused_with_a_sentence() {
    let huge = format!(r#"{{"bin": "{}"}}"#, "a".repeat(1 << 20));
    let deep = format!(r#"{{"bin": {}"#, "[".repeat(1 << 19));
    for (text, why) in [
        (huge.as_str(), "too long"),
        (&deep, "not have the expected JSON form"),
        ("", "not have the expected JSON form"),
        ("[]", "library"),
        ("{\"bin\": \"\\u0000", "not have the expected JSON form"),
        ("{}", "library"),
        (r#"{"bin": 1}"#, "library"),
        (r#"{"bin": {"srv": {}, "../x": 1, "-a": "b"}}"#, "library"),
        (r#"{"bin": {"a\u001b[31m": "x"}}"#, "library"),
    ] {
        let (dir, _) = npm(text);
        let found = refusal("npx @s/srv", dir.path());
        assert!(found.contains(why), "{:.60}: {found}", text);
    }
    let (dir, modules) = npm("");
    let manifest = modules.join("@s/srv/package.json");
    std::fs::remove_file(&manifest).unwrap();
    nix::unistd::mkfifo(&manifest, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(refusal("npx @s/srv", dir.path()).contains("not a file"));
}

#[test]
fn a_python_program_is_found_or_the_others_are_listed() {
    let dir = python(&["mcp-x", "tool", "pip3.11", "activate.fish", "Activate.ps1", "python3.11"]);
    let root = dir.path().canonicalize().unwrap();
    assert_eq!(entry(&package("uvx mcp-x@1"), dir.path()), Ok(root.join("venv/bin/mcp-x")));
    assert_eq!(entry(&package("uvx --from y tool"), dir.path()), Ok(root.join("venv/bin/tool")));
    let found = refusal("uvx other>=1", dir.path());
    assert!(
        found.ends_with("choose one of mcp-x, tool: `harbor add NAME -- uvx --from 'other>=1' PROGRAM`"),
        "{found}"
    );
    assert!(refusal("uvx other", python(&[]).path()).contains("library"));
}

#[test]
fn the_program_of_a_download_is_where_its_report_says_and_inside() {
    let (dir, line) = (tempfile::tempdir().unwrap(), "binary:https://h/srv.zip");
    assert!(refusal(line, dir.path()).contains("is missing"));
    script(&dir.path().join("files/bin/srv"), "#!/bin/sh\n");
    script(&dir.path().join("outside"), "#!/bin/sh\n");
    let report = |program: &str| {
        let text = format!(r#"{{"sha256":"0a","size":7,"program":"{program}","unread_signature":false}}"#);
        std::fs::write(dir.path().join("unpacked.json"), text).unwrap();
    };
    report("bin/srv");
    let root = dir.path().canonicalize().unwrap();
    assert_eq!(entry(&package(line), dir.path()), Ok(root.join("files/bin/srv")));
    let found = lock::resolved(&package(line), dir.path(), None).unwrap();
    assert_eq!((found.version.as_str(), found.integrity.as_str(), found.packages), ("0a", "sha256:0a", 1));
    report("../outside");
    assert!(refusal(line, dir.path()).contains("leads out"));
    report("gone");
    assert!(refusal(line, dir.path()).contains("is missing"));
}

#[test]
fn only_a_whole_installation_of_this_package_counts() {
    let dir = python(&["srv"]);
    let (one, two, stamp) = (package("uvx srv==1"), package("uvx srv==2"), dir.path().join(STAMP));
    assert!(!is_installed(&one, dir.path()));
    mark_installed(&one, dir.path()).unwrap();
    assert!(is_installed(&one, dir.path()) && !is_installed(&two, dir.path()));
    assert!(!is_installed(&Package { ecosystem: Ecosystem::Npm, ..one.clone() }, dir.path()));
    let whole = std::fs::read(&stamp).unwrap();
    for text in [&whole[..whole.len() - 1], b"", b"null", b"\xff", &vec![b' '; 2 << 20]] {
        std::fs::write(&stamp, text).unwrap();
        assert!(!is_installed(&one, dir.path()));
    }
    std::fs::remove_file(&stamp).unwrap();
    nix::unistd::mkfifo(&stamp, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(!is_installed(&one, dir.path()));
    mark_installed(&one, dir.path()).unwrap();
    assert!(is_installed(&one, dir.path()));
    std::fs::remove_file(dir.path().join("venv/bin/srv")).unwrap();
    assert!(!is_installed(&one, dir.path()));
}

#[test]
fn of_an_environment_the_packages_own_programs_count() {
    let dir = python(&["serve", "uvicorn", "httpx"]);
    assert!(refusal("uvx a.srv", dir.path()).contains("choose one of httpx, serve, uvicorn:"));
    let site = dir.path().join("venv/lib/python3.13/site-packages");
    let about = |name: &str, lines: &str| {
        let info = site.join(format!("{name}.dist-info"));
        std::fs::create_dir_all(&info).unwrap();
        std::fs::write(info.join("RECORD"), lines).unwrap();
    };
    about("httpx-0.28", "../../../bin/httpx,sha256=a,1\nhttpx/x.py,,\n");
    about("a_srv-1.0", "../../../bin/serve,sha256=a,1\na_srv/bin/uvicorn,,\n/tmp/bin/uvicorn,,\n");
    let root = dir.path().canonicalize().unwrap();
    assert_eq!(entry(&package("uvx A.srv==1.0"), dir.path()), Ok(root.join("venv/bin/serve")));
    assert!(refusal("uvx --from a.srv other", dir.path()).contains("has no program other"));
    about("a_srv-1.0", "../../../bin/serve,,\n../../../bin/uvicorn,,\n../../../bin/..,,\n");
    let said = refusal("uvx a.srv", dir.path());
    assert!(said.contains("choose one of serve, uvicorn: "), "{said}");
    about("a_srv-1.0", "a_srv/x.py,,\n");
    assert!(refusal("uvx a.srv", dir.path()).contains("is a library"));
}

#[test]
fn an_installation_begins_in_an_empty_directory() {
    let (kept, dir) = (tempfile::tempdir().unwrap(), python(&["srv"]));
    std::fs::write(kept.path().join("file"), "").unwrap();
    // What it lies in is made private, too: never the directory that all programs share.
    let (full, new) = (dir.path().join("full"), dir.path().join("a/b"));
    std::fs::create_dir(&full).unwrap();
    symlink(kept.path(), full.join("link")).unwrap();
    prepare(&full).unwrap();
    assert_eq!(full.read_dir().unwrap().count(), 0);
    assert_eq!(full.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    prepare(&new).unwrap();
    std::fs::remove_dir(&new).unwrap();
    symlink(kept.path(), &new).unwrap();
    prepare(&new).unwrap();
    assert!(!new.is_symlink() && new.is_dir() && kept.path().join("file").exists());
}

#[test]
fn each_installation_has_a_number_and_those_that_nobody_uses_go() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(next_place(&dir.path().join("none")), 1);
    for name in ["1", "4", "9", "node_modules", "installed.json"] {
        std::fs::create_dir(dir.path().join(name)).unwrap();
    }
    assert_eq!(next_place(dir.path()), 10);
    keep_only(dir.path(), &[4, 7]);
    let left: Vec<_> = dir.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["4"]);
}

proptest! {
    #[test]
    fn any_package_json_is_read_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..64),
        bin in r#"("\PC{0,9}"|\{"\PC{0,5}": ?"\PC{0,5}"\}|\[\]|1|null|\{)"#,
    ) {
        for text in [bytes, format!(r#"{{"bin": {bin}}}"#).into_bytes()] {
            let Ok(bins) = bins(&text) else { continue };
            for line in ["npx srv", "npx -p @s/srv tool"] {
                let package = package(line);
                if let Ok(program) = npm_program(&package, &bins) {
                    prop_assert!(bins.path(&package, &program).is_some());
                    prop_assert_eq!(Path::new(&program).components().count(), 1);
                }
            }
        }
    }
}
