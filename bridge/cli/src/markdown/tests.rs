//! What a terminal gets, byte for byte.

use super::*;

/// What is shown of an answer that comes at once.
fn shown(answer: &str) -> String {
    let mut markdown = Markdown::default();
    let shown = markdown.push(answer);
    shown + &markdown.end()
}

/// The same, as it comes in these pieces: what is shown after each.
fn as_it_comes(pieces: &[&str]) -> Vec<String> {
    let mut markdown = Markdown::default();
    let mut all: Vec<_> = pieces.iter().map(|piece| markdown.push(piece)).collect();
    all.push(markdown.end());
    all
}

const ANSWER: &str = "# Herons of *the* lake\n\nThey **stand** and _wait_ in `shallow_water`, see\n\
    [the list](https://a.example/x?y=1&z).\n\n- one **bold**\n  * two\n3. three\n> a quote\n> - in it\n\n\
    ```rust\nlet a = \"**no**\"; // # [x](y)\n```\n---\n| Name | Size |\n|---|--:|\n| `a|b` | **90** cm |\n\nend\n";

const SHOWN: &str = "\x1b[1mHerons of \x1b[0m\x1b[1;3mthe\x1b[0m\x1b[1m lake\x1b[0m\n\nThey \x1b[1mstand\x1b[0m and \
    \x1b[3mwait\x1b[0m in \x1b[36mshallow_water\x1b[0m, see\nthe list\x1b[2m (https://a.example/x?y=1&z)\x1b[0m.\n\n\
    • one \x1b[1mbold\x1b[0m\n  • two\n3. three\n\x1b[2m│ \x1b[0ma quote\n\x1b[2m│ \x1b[0m• in it\n\n\
    \x1b[2m```rust\x1b[0m\n\x1b[2mlet a = \"**no**\"; // # [x](y)\x1b[0m\n\x1b[2m```\x1b[0m\n";

#[test]
fn each_mark_is_shown_as_what_it_means() {
    let rule = format!("\x1b[2m{}\x1b[0m\n", "─".repeat(78));
    let (bar, gap) = ("\x1b[2m │ \x1b[0m", " ".repeat(20));
    let table = format!(
        "\x1b[1mName\x1b[0m{gap}{bar}\x1b[1mSize\x1b[0m\n\x1b[2m{}─┼─{}\x1b[0m\n\x1b[36ma|b\x1b[0m{gap} {bar}\x1b[1m90\x1b[0m cm\n\nend\n",
        "─".repeat(24),
        "─".repeat(24)
    );
    assert_eq!(shown(ANSWER), [SHOWN, &rule, &table].concat());
}

/// Without the colours, for what comes in pieces has more of them.
fn seen(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

#[test]
fn wherever_an_answer_is_cut_the_same_is_seen() {
    let whole = seen(&shown(ANSWER));
    let cuts: Vec<_> = ANSWER.char_indices().map(|(at, _)| at).collect();
    for &cut in &cuts {
        let halves = as_it_comes(&[&ANSWER[..cut], &ANSWER[cut..]]).concat();
        assert_eq!(seen(&halves), whole, "cut behind {:?}", &ANSWER[..cut]);
    }
    let letters: Vec<_> = ANSWER.split_inclusive(|_| true).collect();
    assert_eq!(seen(&as_it_comes(&letters).concat()), whole);
}

#[test]
fn words_are_shown_before_their_line_ends() {
    assert_eq!(as_it_comes(&["and", " so", " on"]), ["and", " so", " on", ""]);
    assert_eq!(as_it_comes(&["a **b", "old** c", " d"]), ["a ", "\x1b[1mbold\x1b[0m c", " d", ""]);
    assert_eq!(as_it_comes(&["snake", "_case and", "_x_"]), ["snake", "_case and", "", "_x_"]);
    assert_eq!(as_it_comes(&["2 * 3", " = 6 ", "* 1"]), ["2 * 3", " = 6 ", "* 1", ""]);
    assert_eq!(
        as_it_comes(&["#", "# T", "itle", "\n"]),
        ["", "\x1b[1mT\x1b[0m", "\x1b[1mitle\x1b[0m", "\n", ""]
    );
    assert_eq!(
        as_it_comes(&["```\nx", "y\n``", "`\n", "z"]),
        ["\x1b[2m```\x1b[0m\n\x1b[2mx\x1b[0m", "\x1b[2my\x1b[0m\n", "\x1b[2m```\x1b[0m\n", "z", ""]
    );
}

#[test]
fn what_is_no_markdown_stays_as_it_is() {
    for text in [
        "a * b * c",
        "5*3",
        "#tag",
        "1.5 and 2",
        "- ",
        "*",
        "a_b_c",
        "[0] is",
        "x[1](",
        "<b>&nope;",
        "**open",
        "`open",
        "| is",
        "--",
        "12345678901. x",
        "a\tb",
        "~5 min",
        "\\u{1b}[31m",
    ] {
        assert_eq!(seen(&shown(text)), text.trim_start_matches("| "));
    }
    assert_eq!(shown("\\*a\\*"), "*a*");
}

#[test]
fn no_entity_becomes_what_a_terminal_obeys() {
    assert_eq!(shown("a&#27;[31m&#x9b;b&#x202e;&#10;c &amp; d"), "a\\u{1b}[31m\\u{9b}b\\u{202e} c & d");
    assert_eq!(shown("[a](<x&#27;y>)"), "a\x1b[2m (x\\u{1b}y)\x1b[0m");
}

#[test]
fn links_say_where_they_lead_once() {
    assert_eq!(shown("<https://a.example> x"), "https://a.example x");
    assert_eq!(shown("![a bird](b.png)"), "a bird\x1b[2m (b.png)\x1b[0m");
    assert_eq!(shown("[**b**](u \"t i\")!"), "\x1b[1mb\x1b[0m\x1b[2m (u)\x1b[0m!");
}

#[test]
fn code_ends_with_its_own_fence_and_with_the_answer() {
    let code = "  ````md\n  ```\n  **x**\n  ````\n**y**\n";
    assert_eq!(
        shown(code),
        "\x1b[2m  ````md\x1b[0m\n\x1b[2m  ```\x1b[0m\n\x1b[2m  **x**\x1b[0m\n\x1b[2m  ````\x1b[0m\n\x1b[1my\x1b[0m\n"
    );
    let mut markdown = Markdown::default();
    assert_eq!(markdown.push("```\n**x") + &markdown.end(), "\x1b[2m```\x1b[0m\n\x1b[2m**x\x1b[0m");
    assert_eq!(markdown.push("**x** "), "\x1b[1mx\x1b[0m ");
}

#[test]
fn a_line_without_an_end_is_not_held_for_ever() {
    let mut markdown = Markdown::default();
    let long = format!("**{}", "x".repeat(HELD));
    assert_eq!(markdown.push(&long), long);
    assert_eq!(Markdown::default().push(&"|".repeat(HELD + 1)).len(), HELD + 1);
}
