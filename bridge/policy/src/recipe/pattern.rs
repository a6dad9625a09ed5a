//! Patterns for secrets: regular expressions that an author wrote, so other people's text.
//!
//! Owns the bound on their cost, whatever they say: matching never goes back to try again, and its size is bounded. Must never
//! repeat a value.

use regex::RegexBuilder;

/// The most bytes of a pattern.
const MAX: usize = 512;
/// The most memory that a compiled pattern may take, in bytes.
const MAX_SIZE: usize = 1 << 20;
/// The deepest nesting of a pattern.
const MAX_NEST: u32 = 32;

/// True if the pattern can be used. A pattern that looks ahead or back, or that becomes too large, cannot.
#[must_use]
pub fn is_usable(pattern: &str) -> bool {
    compiled(pattern).is_some()
}

/// The description of an expected value. None if this value is right, or the pattern cannot tell.
#[must_use]
pub fn expected(pattern: &str, placeholder: Option<&str>, value: &str) -> Option<String> {
    let is_right = compiled(pattern).is_none_or(|pattern| pattern.is_match(value));
    let such_as = placeholder.map(|example| format!(", such as {example}")).unwrap_or_default();
    (!is_right).then(|| format!("something that matches {pattern}{such_as}"))
}

fn compiled(pattern: &str) -> Option<regex::Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(MAX_SIZE).dfa_size_limit(MAX_SIZE).nest_limit(MAX_NEST);
    (pattern.len() <= MAX).then(|| builder.build().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_compared_and_not_repeated() {
        assert_eq!(expected("^sk-[a-z0-9]{4,}$", None, "sk-ab12"), None);
        let said = expected("^sk-[a-z0-9]{4,}$", Some("sk-…"), "hidden").unwrap();
        assert_eq!(said, "something that matches ^sk-[a-z0-9]{4,}$, such as sk-…");
    }

    #[test]
    fn what_would_cost_is_cheap_or_not_used() {
        let value = "a".repeat(60_000) + "!";
        assert!(expected("^(a+)+$", None, &value).is_some());
        for pattern in
            ["(?=x)y", r"(a)\1", "((((a{99}){99}){99}){99}){99}", &"(".repeat(40), &"a".repeat(600), "["]
        {
            assert!(!is_usable(pattern), "{pattern}");
            assert_eq!(expected(pattern, None, "x"), None);
        }
    }

    proptest! {
        #[test]
        fn no_pattern_panics_or_repeats_the_value(pattern in "\\PC{0,60}|[()a*+?{}0-9,\\[\\]|^$\\\\]{0,60}", value in "[A-Z]{30}") {
            let said = expected(&pattern, None, &value).unwrap_or_default();
            prop_assert!(!said.contains(&value) || pattern.contains(&value));
        }
    }
}
