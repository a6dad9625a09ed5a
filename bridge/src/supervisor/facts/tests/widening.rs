//! What a server leaves behind for its next start: links, `#!` lines, settings of a venv, marks of a prefix.

use super::*;

const DATA: &str = ".harbor/servers/s/data";

fn named(facts: &SandboxFacts) -> Vec<&str> {
    facts.named.iter().map(|named| named.path.as_str()).collect()
}

#[test]
fn a_server_does_not_widen_its_next_start() {
    let mut home = Home::new();
    home.file("private/run.sh", "#!/bin/sh\n");
    home.file("private/package.json", "{}");
    home.file("node-22/bin/node", "\x7fELF");
    let data = home.at(".harbor/servers/s/data");
    // A name that is an argument, and a program that names another one.
    home.link(".harbor/servers/s/data/stdio", &home.at("private/run.sh"));
    home.link("proj/node", &home.at("node-22/bin/node"));
    home.link("proj/sh", &home.at("private/run.sh"));
    home.file("proj/.venv/pyvenv.cfg", &format!("home = {}\n", home.at("proj/py")));
    home.link("proj/py/python3", &home.at("private/run.sh"));
    for interpreter in ["node", "sh"] {
        home.file(
            &format!("proj/.venv/bin/by-{interpreter}"),
            &format!("#!{}\n", home.at(&format!("proj/{interpreter}"))),
        );
    }
    home.sandbox.write = Some(vec![home.at("proj")]);
    let own = |facts: &SandboxFacts| facts.named.iter().map(|named| named.path.clone()).collect::<Vec<_>>();
    let facts = home.look(&home.at("proj/.venv/bin/by-sh"), &["stdio"], &data, &[]);
    let within = [home.at("proj/.venv"), home.at("proj/py"), home.at("proj")];
    assert_eq!(
        (own(&facts), facts.program),
        (vec![data.clone()], within.to_vec()),
        "what it may write anyway"
    );
    let facts = home.look(&home.at("proj/.venv/bin/by-node"), &[&home.at("proj/sh")], &data, &[]);
    assert_eq!(own(&facts), [data]);
    assert_eq!(facts.program, [&within[..], &[home.at("node-22/bin/node")]].concat());
    assert_eq!(facts.not_followed, [home.at("proj/sh")]);
}

#[test]
fn a_link_that_a_server_lays_leads_nowhere_although_the_home_is_behind_a_link() {
    let mut home = Home::behind_a_link();
    home.file("private/diary.txt", "");
    home.file("private/package.json", "{}");
    home.link(&below(DATA, "c"), "../../../..");
    home.link(&below(DATA, "d"), &home.at(""));
    home.link("proj/e", &home.given("private"));
    home.sandbox.write = Some(vec![home.given("proj")]);
    let (data, proj) = (home.given(DATA), home.given("proj"));
    for name in ["c/private", "d/private", "c/private/diary.txt", "d/private/diary.txt"] {
        let absolute = home.given(&below(DATA, name));
        assert_eq!(named(&home.look("x", &[&absolute, name], &data, &[])), [home.at(DATA)], "{name}");
    }
    for name in ["e", "e/diary.txt"] {
        let absolute = home.given(&below("proj", name));
        assert_eq!(named(&home.look("x", &[&absolute, name], &proj, &[])), [home.at("proj")], "{name}");
        assert!(named(&home.look("x", &[], &absolute, &[])).is_empty(), "{name}");
    }
}

#[test]
fn what_a_server_lays_within_its_own_directory_is_followed() {
    let mut home = Home::new();
    let real = home.file("proj/build-2/run.js", "");
    home.link("proj/build", "build-2");
    home.sandbox.write = Some(vec![home.at("proj")]);
    let facts = home.look("x", &["build/run.js"], &home.at("proj"), &[]);
    assert_eq!(named(&facts), [home.at("proj"), real]);
    assert_eq!(facts.links, [(home.at("proj/build"), home.at("proj/build-2"))]);
}

#[test]
fn a_root_above_what_a_server_may_write_is_not_chosen_by_its_link() {
    let mut home = Home::new();
    home.file("proj/lib/python3/site-packages/m.py", "");
    home.link("proj/lib/m.py", "python3/site-packages/m.py");
    home.sandbox.write = Some(vec![home.at("proj/lib")]);
    let facts = home.look("x", &[&home.at("proj/lib/m.py")], "/not/there", &[]);
    let path = home.at("proj/lib/python3/site-packages/m.py");
    assert_eq!(facts.named, [NamedPath { path, package_root: None, is_cwd: false }]);
}

#[test]
fn a_granted_path_is_not_moved_by_a_server() {
    let mut home = Home::behind_a_link();
    home.file("private/diary.txt", "");
    fs::create_dir(home.given.join("proj")).unwrap();
    home.link("proj/out", &home.given("private"));
    home.link("proj/odd", "odd");
    let [proj, out, odd] = ["proj", "proj/out", "proj/odd"].map(|name| home.given(name));
    let diary = below(&out, "diary.txt");
    home.sandbox.write = Some(vec![proj.clone(), out.clone()]);
    home.sandbox.read = Some(vec![diary.clone(), odd.clone()]);
    let facts = home.look("x", &[], "/", &[]);
    assert_eq!(facts.granted, [(proj, home.at("proj"))]);
    assert_eq!((facts.written, facts.led_out), (vec![home.at("proj")], vec![diary, odd, out]));
}

#[test]
fn a_directory_on_the_way_to_the_program_is_not_moved_by_a_server() {
    let mut home = Home::new();
    home.file("private/scripts/run.sh", "#!/bin/sh\n");
    home.file("private/package.json", "{}");
    home.link("proj/scripts", &home.at("private/scripts"));
    home.sandbox.write = Some(vec![home.at("proj")]);
    assert_eq!(home.program(&home.at("proj/scripts/run.sh"), &[]), [""; 0]);
    assert_eq!(home.look("scripts/run.sh", &[], &home.at("proj"), &[]).program, [""; 0]);
}

#[test]
fn a_first_line_of_a_server_names_an_interpreter_and_nothing_around_it() {
    let mut home = Home::new();
    home.file("legacy/.env", "");
    home.file("legacy/pyvenv.cfg", &format!("home = {}\n", home.at("py/bin")));
    home.file("py/bin/python3", "\x7fELF");
    let python = home.file("legacy/bin/python", "\x7fELF");
    home.file("legacy/bin/notes", "text\n");
    home.file(".pyenv/shims/python", "#!/bin/sh\n");
    home.sandbox.write = Some(vec![home.at("proj")]);
    for (interpreter, wanted) in [
        ("legacy/bin/python", vec![python]),
        ("legacy/bin/notes", vec![]),
        (".pyenv/shims/python", vec![home.at(".pyenv")]),
    ] {
        let script = home.file("proj/run", &format!("#!{}\n", home.at(interpreter)));
        let found = home.program(&script, &[]);
        assert_eq!(found, [vec![script], wanted].concat(), "{interpreter}");
    }
}

#[test]
fn a_venv_of_a_server_does_not_name_a_tree() {
    let mut home = Home::new();
    home.file("legacy/pyvenv.cfg", "");
    let python = home.file("legacy/bin/python3", "\x7fELF");
    let serve = home.file("proj/.venv/bin/serve", "\x7fELF");
    home.file("proj/.venv/pyvenv.cfg", &format!("home = {}\n", home.at("legacy/bin")));
    home.sandbox.write = Some(vec![home.at("proj")]);
    assert_eq!(home.program(&serve, &[]), [home.at("proj/.venv"), python.clone()]);
    home.sandbox.write = Some(vec![home.at("proj/.venv/pyvenv.cfg")]);
    assert_eq!(home.program(&serve, &[]), [serve]);
}

#[test]
fn a_mark_that_a_server_can_make_marks_nothing_above_what_it_may_write() {
    let mut home = Home::new();
    home.file("proj/bin/node", "");
    home.file("proj/package.json", "{}");
    let serve = home.file("proj/bin/serve", "\x7fELF");
    home.sandbox.write = Some(vec![home.at("proj/bin"), home.at("proj/package.json")]);
    assert_eq!(home.program(&serve, &[]), std::slice::from_ref(&serve));
    let facts = home.look("x", &[&serve], "/not/there", &[]);
    assert_eq!(facts.named, [NamedPath { path: serve, package_root: None, is_cwd: false }]);
}

#[test]
fn an_entry_of_the_path_is_not_moved_by_a_server() {
    let mut home = Home::new();
    home.file("private/bin/x", "");
    home.link("proj/bin", &home.at("private/bin"));
    home.sandbox.write = Some(vec![home.at("proj")]);
    assert_eq!(home.program("absent", &["proj/bin"]), [""; 0]);
}

#[test]
fn a_server_is_not_led_by_what_another_one_has_laid() {
    let mut home = Home::new();
    home.file("private/diary.txt", "");
    home.file("private/run.sh", "#!/bin/sh\n");
    home.file("private/package.json", "{}");
    home.link("proj/out", &home.at("private"));
    home.link("proj/run.sh", &home.at("private/run.sh"));
    home.link(".harbor/servers/t/data/out", &home.at("private"));
    let [out, script, theirs] =
        ["proj/out", "proj/run.sh", ".harbor/servers/t/data/out"].map(|name| home.at(name));
    home.sandbox.read = Some(vec![out.clone(), theirs.clone()]);
    let trusted = home.look(&script, &[&out], "/not/there", &[]);
    assert_eq!(trusted.led_out, [theirs.as_str()], "what nobody could write is the person's");
    assert_eq!(named(&trusted), [home.at("private")]);
    assert!(trusted.program.contains(&home.at("private")));
    home.ever_written = vec![home.at("proj")];
    let facts = home.look(&script, &[&out], "/not/there", &[]);
    assert_eq!(facts.led_out, [out.clone(), theirs]);
    assert!(named(&facts).is_empty());
    assert_eq!((facts.program.as_slice(), &facts.not_followed), (&[home.at("proj")][..], &vec![script, out]));
}

/// As in `current -> release-2`: whoever laid it could as well have changed what is there.
#[test]
fn a_link_that_stays_in_what_another_server_may_write_is_followed() {
    let mut home = Home::new();
    let server = home.file("proj/release-2/server.py", "#!/usr/bin/env python3\n");
    home.link("proj/current", "release-2");
    home.link("proj/bin/serve", "../release-2/server.py");
    home.ever_written = vec![home.at("proj")];
    let (behind, linked) = (home.at("proj/current/server.py"), home.at("proj/bin/serve"));
    let current = (home.at("proj/current"), home.at("proj/release-2"));
    let facts = home.look("python3", &[&behind], "/not/there", &[]);
    assert_eq!(named(&facts), [&*server]);
    assert_eq!((facts.links, facts.not_followed), (vec![current], vec![]));
    assert_eq!(home.program(&behind, &[]), [server.as_str()]);
    assert_eq!(home.program(&linked, &[]), [home.at("proj/bin"), server]);
}

#[test]
fn a_repository_in_what_may_be_written_is_known() {
    let mut home = Home::new();
    for name in ["code/x/.git", "notes"] {
        fs::create_dir_all(home.given.join(name)).unwrap();
    }
    home.sandbox.write = Some(vec![home.at("code"), home.at("notes")]);
    let facts = home.look("x", &[], "/", &[]);
    assert_eq!(facts.repositories, [home.at("code")]);
}

#[test]
fn a_venv_in_what_may_be_written_is_no_link_that_leads_out() {
    let mut home = Home::new();
    home.file("py/bin/python3", "\x7fELF");
    home.link("proj/.venv/bin/python", &home.at("py/bin/python3"));
    home.file("proj/.venv/pyvenv.cfg", &format!("home = {}\n", home.at("py/bin")));
    home.sandbox.write = Some(vec![home.at("proj")]);
    let facts = home.look(&home.at("proj/.venv/bin/python"), &[], "/not/there", &[]);
    assert_eq!(facts.not_followed, [""; 0]);
    assert!(facts.program.contains(&home.at("py/bin/python3")), "{:?}", facts.program);
}
