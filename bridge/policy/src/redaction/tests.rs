//! Whatever stands around a secret, nothing of it is left.

use proptest::prelude::*;

use super::*;

const KEY: &str = "sk-live-0123/abc+XYZ==";

fn redactor() -> Redactor {
    Redactor::new([
        ("API_KEY", KEY),
        ("PIN", "12345"),
        ("PEM", "-----BEGIN-----\nMIIabcdef\r\nxyz\n-----END-----\n"),
    ])
}

fn redacted(text: &str) -> String {
    redactor().redact(text).into_owned()
}

#[test]
fn what_is_known_is_replaced_by_its_name() {
    assert_eq!(redacted(&format!("GET {KEY}, {KEY}!")), "GET [API_KEY], [API_KEY]!");
    assert_eq!(
        redacted("nothing here, 12345 and xyz are too short"),
        "nothing here, 12345 and xyz are too short"
    );
    assert!(matches!(Redactor::default().redact(KEY), Cow::Borrowed(_)));
    assert_eq!(redacted("a line: MIIabcdef"), "a line: [PEM]");
    assert_eq!(redacted("-----BEGIN-----\nMIIabcdef\r\nxyz\n-----END-----\n."), "[PEM].");
    assert_eq!(
        redacted(r#"{"pem":"-----BEGIN-----\nMIIabcdef\r\nxyz\n-----END-----\n"}"#),
        r#"{"pem":"[PEM]"}"#
    );
    assert_eq!(format!("{:?}", redactor()), r#"Redactor { names: ["API_KEY", "PIN", "PEM"], .. }"#);
}

#[test]
fn its_encodings_are_known() {
    for encoded in [
        "sk%2Dlive%2D0123%2Fabc%2BXYZ%3D%3D",
        "sk-live-0123%2Fabc%2BXYZ%3D%3D",
        "sk-live-0123/abc%2bXYZ%3d%3d",
    ] {
        assert_eq!(redacted(&format!("?key={encoded}&x")), "?key=[API_KEY]&x", "{encoded}");
    }
    assert!(
        redacted(&format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("u:{KEY}"))))
            .contains("[API_KEY]")
    );
}

#[test]
fn what_was_cut_within_a_secret_is_found_too() {
    assert_eq!(redacted("the key is sk-live-01"), "the key is [API_KEY]");
    assert_eq!(redacted("the key is sk-live-01… (cut)\nmore"), "the key is sk-live-01… (cut)\nmore");
    assert_eq!(redacted("the key is sk-live-01 … (cut)\nmore"), "the key is [API_KEY] … (cut)\nmore");
    assert_eq!(redacted("the key is sk-li"), "the key is sk-li", "five bytes say nothing");
    let wide = Redactor::new([("K", "schlüßel-ö")]);
    assert_eq!(wide.redact("schlü\u{fffd} … (cut)"), "[K]\u{fffd} … (cut)");
}

#[test]
fn what_overlaps_is_hidden_as_a_whole() {
    let redactor = Redactor::new([("A", "abcdef"), ("B", "bcdefghijklmn"), ("C", "klmnopqr")]);
    assert_eq!(redactor.redact("<abcdefghijklmnopqr>"), "<[A]>");
    assert_eq!(redactor.redact("abcdefabcdef"), "[A][A]");
}

#[test]
fn a_secret_that_is_made_of_marks_does_not_come_up_by_them() {
    let redactor = Redactor::new([("A", "[A][A]")]);
    assert_eq!(redactor.redact("[A][A][A]"), "[A]");
    assert_eq!(Redactor::new([("API_KEY", "API_KEY")]).redact("is API_KEY"), HIDDEN);
}

fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{6,40}",
        "[a-c]{6,9}",
        "\\PC{6,12}",
        "([ -~]{0,10}\n){1,4}[ -~]{6,9}",
        "[\\[\\]A-B]{6,8}"
    ]
}

fn around() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,20}", "[a-c\n]{0,20}", "[\\[\\]A-B]{0,8}"]
}

proptest! {
    #[test]
    fn no_text_has_a_secret_any_more(
        secrets in prop::collection::vec(secret(), 1..4),
        pieces in prop::collection::vec((around(), any::<prop::sample::Index>()), 0..6),
        end in around(),
        form in 0..4,
    ) {
        let names = ["A", "B", "C"];
        let redactor = Redactor::new(names.into_iter().zip(secrets.iter().map(String::as_str)));
        let mut text = String::new();
        for (before, index) in &pieces {
            let secret = index.get(&secrets);
            text.push_str(before);
            match form {
                0 => text.push_str(secret),
                1 => text.push_str(&serde_json::to_string(secret).unwrap()),
                2 => text.push_str(&STANDARD_NO_PAD.encode(format!("{before}{secret}"))),
                _ => text.push_str(&percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC).to_string()),
            }
        }
        text.push_str(&end);
        let said = redactor.redact(&text);
        for secret in &secrets {
            prop_assert!(!said.contains(secret.as_str()));
            for line in secret.lines().map(str::trim).filter(|line| line.chars().count() >= SHORTEST) {
                prop_assert!(!said.contains(line));
            }
        }
        prop_assert_eq!(redactor.redact(&said), &*said, "once is enough");
    }

    #[test]
    fn wherever_a_line_is_cut_at_most_five_bytes_of_a_secret_are_left(before in "[ -~]{0,12}", secret in "[a-z0-9]{8,40}", at in 0usize..52) {
        let text = format!("{before}{secret}");
        let cut = &text[..at.min(text.len())];
        for line in [cut.to_owned(), format!("{cut}{CUT}"), format!("first\n{cut}{CUT}\nnext")] {
            let redactor = Redactor::new([("K", secret.as_str())]);
            let said = redactor.redact(&line).into_owned();
            prop_assert!(said == HIDDEN || cut.len() < before.len() + SHORTEST || !said.contains(&secret[..SHORTEST]) || before.contains(&secret[..SHORTEST]));
        }
    }

    #[test]
    fn what_has_no_secret_stays_as_it_is(text in "[0-9\n ]{0,200}") {
        let redactor = Redactor::new([("K", "no-number-at-all")]);
        prop_assert_eq!(redactor.redact(&text), text.as_str());
    }
}

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

#[test]
fn what_browsers_make_of_a_secret_is_found() {
    let redactor = Redactor::new([("K", "a_b*c d<e>&'f\"g!(h)#1")]);
    for form in [
        "?key=a_b*c+d%3Ce%3E%26%27f%22g%21%28h%29%231",
        "?key=a_b*c%20d%3Ce%3E%26'f%22g!(h)%231",
        "?key=a_b*c%20d%3Ce%3E&%27f%22g!(h)%231",
        "#a_b*c%20d%3Ce%3E&'f%22g!(h)#1",
        "<p>a_b*c d&lt;e&gt;&amp;'f\"g!(h)#1</p>",
        "<a title=\"a_b*c d&lt;e&gt;&amp;'f&quot;g!(h)#1\">",
        r#"a\_b\*c d<e>&'f"g!(h)#1"#,
    ] {
        let told = redactor.redact(form);
        assert!(told.contains("[K]") && !told.contains("(h"), "{form}: {told}");
    }
}
