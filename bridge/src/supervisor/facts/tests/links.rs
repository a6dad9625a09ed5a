//! The links that are told, since a hidden home does not have them.

use super::*;

#[test]
fn links_on_all_ways_are_told() {
    let mut home = Home::behind_a_link();
    home.file("src/app/srv.js", "");
    home.file("src/app/run", "\x7fELF");
    home.file("notes/a.md", "");
    home.link("link", "src/app");
    home.link("run", "link/run");
    home.link("way", "notes");
    home.link("unused", "notes");
    home.link("gone", "not/there");
    home.link(".harbor/servers/s/data/own", "own.txt");
    home.file(".harbor/servers/s/data/own.txt", "");
    home.sandbox.read = Some(vec![home.given("way/a.md"), home.given("gone")]);
    let args = [home.given("link/srv.js"), home.given(".harbor/servers/s/data/own")];
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let facts = home.look(&home.given("run"), &args, &home.given("link"), &[]);
    let top = parent_of(&home, 3);
    let pair = |link: &str, real: &str| (home.at(link), home.at(real));
    let mut wanted = vec![
        (below(&top, "home"), below(&top, "var/home")),
        pair(".harbor/servers/s/data/own", ".harbor/servers/s/data/own.txt"),
        pair("link", "src/app"),
        pair("run", "src/app/run"),
        pair("way", "notes"),
    ];
    wanted.sort();
    assert_eq!(facts.links, wanted);
}

fn parent_of(home: &Home, levels: usize) -> String {
    let path = Path::new(&home.path);
    path.ancestors().nth(levels).unwrap().to_str().unwrap().to_owned()
}
