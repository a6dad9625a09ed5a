//! The sentence about a refusal, which stands beside the result of a call or a start.
//!
//! Owns the sentence, for the code that has the refusal from the list, here or over the wire.

/// A refusal in the form for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told<'a> {
    /// The path, or the subject in words.
    pub what: &'a str,
    /// The option of `harbor sandbox` that allows it.
    pub allow: Option<&'a str>,
    /// The sentence to mind then.
    pub mind: Option<&'a str>,
    /// The reason why nothing allows it.
    pub never: Option<&'a str>,
}

impl Told<'_> {
    /// The sentence. None if no option helps and no reason is known.
    #[must_use]
    pub fn sentence(&self, server: &str) -> Option<String> {
        let Self { what, mind, .. } = self;
        let mind = mind.map(|mind| format!(" ({mind})")).unwrap_or_default();
        match (self.allow, self.never) {
            (Some(allow), _) => Some(format!(
                "its sandbox refused {what}; this allows it{mind}: harbor sandbox {server} {allow}"
            )),
            (None, Some(never)) => Some(format!("its sandbox refused {what}: {never}")),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_with_what_allows_it_or_why_nothing_does() {
        let none = Told { what: "/x", allow: None, mind: None, never: None };
        assert_eq!(none.sentence("s"), None);
        let allowed = Told { allow: Some("--read /x"), ..none };
        let told = "its sandbox refused /x; this allows it: harbor sandbox s --read /x";
        assert_eq!(allowed.sentence("s").unwrap(), told);
        let minded = Told { mind: Some("it is run"), ..allowed }.sentence("s").unwrap();
        assert_eq!(minded, told.replace("allows it:", "allows it (it is run):"));
        assert_eq!(
            Told { never: Some("never"), ..none }.sentence("s").unwrap(),
            "its sandbox refused /x: never"
        );
    }
}
