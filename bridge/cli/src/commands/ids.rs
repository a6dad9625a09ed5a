//! Ids as people type them: cut short.
//!
//! Owns how short an id is shown, and which id was meant. Must never take one for another that begins alike.

use harbor_client::errors::Failure;

/// The number of characters that usually tell an id from others.
const SHORT: usize = 8;

/// An id in the short form that is shown and may be typed.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// The id that equals the typed text, or begins like it. None if there is none. If there are several, says
/// what they are, and which command lists them.
pub fn meant(
    ids: impl IntoIterator<Item = String>,
    typed: &str,
    (what, listed): (&str, &str),
) -> Result<Option<String>, Failure> {
    let mut meant: Vec<_> = ids.into_iter().filter(|id| id.starts_with(typed)).collect();
    if let Some(exact) = meant.iter().position(|id| id == typed) {
        return Ok(Some(meant.swap_remove(exact)));
    }
    match meant.as_slice() {
        [one, other, ..] => Err(Failure::Usage(format!(
            "several {what} begin with {typed}, such as {one} and {other}\n{listed} lists them"
        ))),
        _ => Ok(meant.pop()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clear_is_meant() {
        let meant = |typed: &str| {
            let ids = ["abc1", "abd2", "abd"].map(str::to_owned);
            meant(ids, typed, ("sessions", "`harbor sessions`")).map_err(|failure| failure.message())
        };
        assert_eq!(meant("abc"), Ok(Some("abc1".into())));
        assert_eq!(meant("abd"), Ok(Some("abd".into())), "it is one, although another one begins like it");
        assert_eq!(meant("x"), Ok(None));
        let said = meant("ab").unwrap_err().unwrap_or_default();
        assert!(said.starts_with("several sessions begin with ab, such as abc1 and abd2"), "{said}");
    }

    #[test]
    fn an_id_is_cut_only_where_it_is_long() {
        assert_eq!((short("0123456789"), short("012"), short("时间时间")), ("01234567", "012", "时间时间"));
    }
}
