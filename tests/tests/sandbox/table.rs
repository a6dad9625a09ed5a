//! The table of docs/attacks.md: what becomes of each attack in each row. It is made from what the suite runs.

use std::fmt::Write as _;
use std::fs;

use crate::attacks::{ALL, Attack};
use crate::rows::{ABIS, Outcome, Row, User};

const BEGIN: &str =
    "<!-- attacks: made by `HARBOR_BLESS=1 cargo test -p harbor-tests --test sandbox table` -->\n";
const END: &str = "<!-- end of attacks -->";

fn table() -> String {
    let mut text = String::new();
    for (heading, attacks) in ALL {
        let columns: String = Row::table().iter().map(|row| format!(" {} |", column(*row))).collect();
        let line: String = Row::table().iter().map(|_| "---|").collect();
        let _ =
            write!(text, "\n**{heading}**\n\n| a server wants to |{columns} held by |\n|---|{line}---|\n");
        for attack in *attacks {
            let cells: String = Row::table().iter().map(|row| format!(" {} |", cell(attack, *row))).collect();
            let guards: Vec<_> = attack.held_by.iter().map(|guard| guard.name()).collect();
            let guards = if guards.is_empty() { "nothing yet".to_owned() } else { guards.join(", ") };
            let _ = writeln!(text, "| {} |{cells} {guards} |", attack.says);
        }
    }
    text + "\n"
}

/// The versions that a column stands for, and whether there are namespaces.
fn column(row: Row) -> String {
    let next = ABIS.iter().find(|abi| **abi > row.landlock);
    let abis = match next {
        _ if row.landlock == 0 => "none".into(),
        Some(next) if next - 1 == row.landlock => row.landlock.to_string(),
        Some(next) => format!("{}–{}", row.landlock, next - 1),
        None => format!("{}+", row.landlock),
    };
    if row.namespaces { format!("{abis}, ns") } else { abis }
}

fn cell(attack: &Attack, row: Row) -> &'static str {
    match [User::Root, User::Ordinary].map(|user| attack.expected(row, user)) {
        [Outcome::NotStarted, _] | [_, Outcome::NotStarted] => "∅",
        [Outcome::Refused, Outcome::Refused] => "·",
        [Outcome::Possible, Outcome::Possible] => "**possible**",
        [Outcome::Possible, Outcome::Refused] => "**root**",
        [Outcome::Refused, Outcome::Possible] => "**not root**",
    }
}

#[test]
fn the_table_of_the_document_is_what_the_attacks_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/attacks.md");
    let document = fs::read_to_string(path).unwrap();
    let (before, rest) =
        document.split_once(BEGIN).expect("docs/attacks.md has the marker of the table's begin");
    let (shown, after) = rest.split_once(END).expect("docs/attacks.md has the marker of the table's end");
    if std::env::var_os("HARBOR_BLESS").is_some() {
        fs::write(path, [before, BEGIN, &table(), END, after].concat()).unwrap();
    } else {
        assert!(
            shown == table(),
            "docs/attacks.md is stale: HARBOR_BLESS=1 cargo test -p harbor-tests --test sandbox table"
        );
    }
}
