//! Texts with what stands in their placeholders, and whose place that is.

use proptest::prelude::*;

use super::*;

fn value(words: &[&str], of_person: bool) -> Value {
    Value { words: words.iter().map(ToString::to_string).collect(), of_person }
}

/// An argument of others with `{p}` of the person and `{a}` of its author.
fn argument(text: &str, p: &[&str], a: &str) -> Result<Vec<String>, Unfilled> {
    let values = BTreeMap::from([("p", value(p, true)), ("a", value(&[a], false))]);
    group(&[text.to_owned()], &values, true, &mut Budget::default())
}

#[test]
fn a_place_is_the_persons_alone() {
    for (text, p, a) in [
        ("{p}", "/home/alice", ""),
        ("--dir={p}", "/home/alice", ""),
        ("{p}/notes", "/home/alice", ""),
        ("{a}{p}", "../x", ""),
        ("{p}", "file:///home/alice", ""),
        ("{a}/{p}", "x/y", "mode"),
        ("{p}{p}", "a", ""),
    ] {
        assert!(argument(text, &[p], a).is_ok(), "{text} {p} {a}");
    }
    for (text, p, a) in [
        ("{a}/home/alice/private", "", ""),
        ("{p}/home/alice/private", "", ""),
        ("{p}home/alice", "/", ""),
        ("file{p}///home/alice", ":", ""),
        ("{p}///home/alice", "file:", ""),
        ("--dir={a}/home/alice", "", ""),
        ("--dir{p}/home/alice", "=", ""),
        ("{p}{p}/{p}{p}/x", ".", ""),
        ("{p}/{a}/x", "/home/alice", ".."),
        ("{p}ice/private", "/srv/al", ""),
        ("{p}/home", "..", ""),
        ("{a}/home/{p}", "me", ""),
        ("{a}{p}", "lice/private", "/srv/a"),
        ("--x=/srv/a=b", "", ""),
        ("/home/alice/a=b", "", ""),
    ] {
        assert_eq!(argument(text, &[p], a), Err(Unfilled::Place(text.into())), "{text} {p} {a}");
    }
    let each = argument("{p}/{p}", &["a", ".."], "");
    assert_eq!(each, Err(Unfilled::Place("{p}/{p}".into())), "every combination is looked at");
}

#[test]
fn what_would_be_too_much_is_refused() {
    let long = "x".repeat(4000);
    assert_eq!(argument(&"{p}".repeat(1300), &[&long], ""), Err(Unfilled::TooLong));
    assert_eq!(argument(&"{p}".repeat(1300), &["a", "b"], ""), Err(Unfilled::TooLong));
    assert_eq!(argument("{p}{a}", &[&long], &long), Err(Unfilled::TooLong));
    assert_eq!(argument("{p}", &["y".repeat(MAX_WORD).as_str()], "").map(|words| words.len()), Ok(1));
    let values = BTreeMap::from([("p", value(&["x"; 100], true))]);
    let budget = &mut Budget::default();
    let flag = format!("--{}", "f".repeat(1000));
    let said = group(&[flag, "{p}".into()], &values, true, budget);
    assert_eq!(said, Err(Unfilled::TooLong), "a flag is repeated, too");
    let budget = &mut Budget::default();
    let nothing = BTreeMap::from([("p", value(&[&long], true))]);
    assert!((0..16).all(|_| filled("{p}", &nothing, budget).is_ok()));
    assert_eq!(filled("{p}", &nothing, budget), Err(Unfilled::TooLong), "of all together");
}

proptest! {
    /// Values are put in, and never read for placeholders themselves.
    #[test]
    fn values_stay_as_they_are(before in "[a-z{}]{0,6}", word in "\\PC{0,12}", behind in "[a-z{}]{0,6}") {
        let values = BTreeMap::from([("in", value(&[&word], true))]);
        let text = format!("{before}{{in}}{behind}");
        prop_assume!(placeholder(&text, &values).is_some_and(|(first, ..)| first == before));
        prop_assume!(placeholder(&behind, &values).is_none());
        let made = filled(&text, &values, &mut Budget::default());
        prop_assert_eq!(made, Ok(vec![format!("{before}{word}{behind}")]));
    }
}
