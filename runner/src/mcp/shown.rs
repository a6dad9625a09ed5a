//! Facts that can be read from a broken line, or from one of its ends.
//!
//! Owns the guess whose call such a line ends. Servers number their own requests from 0 or 1, as Harbor does: a line that
//! asks or tells something must never end a call, whatever its id is.

/// Members at the top level in the beginning of a line; keys with escapes are not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// The number under `id`.
    id: Option<u64>,
    /// True if there is a result or an error.
    answers: bool,
    /// True if the line is no answer: it has a method or the members that belong to one, or it is no object.
    asks: bool,
}

impl Shown {
    /// Reads the first bytes of a line, or all of them. Stops at what does not fit, or once all is known.
    #[must_use]
    pub fn of(line: &[u8]) -> Self {
        let line = line.trim_ascii_start();
        let mut shown = Self { asks: line.first() != Some(&b'{'), ..Self::default() };
        let (mut at, mut depth) = (0usize, 0usize);
        while at < line.len() && !shown.asks && !(shown.answers && shown.id.is_some()) {
            match line[at] {
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => break,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    let Some(length) = closing_quote(&line[at + 1..]) else { break };
                    let end = at + 1 + length;
                    if depth == 1 {
                        shown.note(&line[at + 1..end], &line[end + 1..]);
                    }
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
        shown
    }

    /// Takes a text and what stands behind it: a key, if that is a colon.
    fn note(&mut self, text: &[u8], behind: &[u8]) {
        let Some(value) = behind.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start) else {
            return;
        };
        match text {
            b"id" => self.id = self.id.or_else(|| number(value)),
            b"result" | b"error" => self.answers = true,
            // As good as none.
            b"method" | b"params" => self.asks |= !value.starts_with(b"null"),
            _ => {}
        }
    }

    /// The request that it answers, if it is an answer at all.
    #[must_use]
    pub fn answered(&self) -> Option<u64> {
        self.id.filter(|_| !self.asks)
    }

    /// True if it is an answer.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        self.answers && !self.asks
    }

    /// True if it is certainly no answer.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.asks
    }
}

/// True if this is the beginning of an object whose rest stands on further lines: it is printed for people, or has a raw
/// line end in a text.
#[must_use]
pub fn is_cut_off(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    if line.first() != Some(&b'{') {
        return false;
    }
    let (mut at, mut depth) = (0usize, 0usize);
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => match closing_quote(&line[at + 1..]) {
                Some(length) => at += 1 + length,
                None => return true,
            },
            _ => {}
        }
        at += 1;
    }
    depth > 0
}

fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The id in the last bytes of a line. Some servers end their answers with `…,"id":7}`, and that bracket is the
/// line's last. A quote begins a key only behind a comma or bracket: in `"\"id":7}` it stands within a key.
#[must_use]
pub fn id_in_tail(line: &[u8]) -> Option<u64> {
    let line = line.trim_ascii_end();
    let key = memchr::memmem::rfind(line, b"\"id\"")?;
    line[..key].trim_ascii_end().last().filter(|before| b",{".contains(before))?;
    let behind = line[key + 4..].trim_ascii_start().strip_prefix(b":")?;
    let id = number(behind.trim_ascii_start())?;
    let rest = behind.iter().filter(|b| !b.is_ascii_digit() && !b.is_ascii_whitespace());
    rest.eq(b"}").then_some(id)
}

fn number(text: &[u8]) -> Option<u64> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    // A line may be cut off within the number; only what stands behind it shows that it is whole.
    let ends = text.get(length).is_some_and(|next| b",} \t\r".contains(next));
    ends.then(|| std::str::from_utf8(&text[..length]).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_or_tells_something_ends_no_call() {
        for line in [
            r#"{"id":7,"method":"sampling/createMessage","params":{"#,
            r#"{"method":"notifications/message","params":{"data":"x"#,
            r#"{"params":{"result":1},"id":7"#,
            r#"listening on stdio, "id":7}"#,
            r#"[{"id":7,"result":{}}]"#,
            "",
        ] {
            let shown = Shown::of(line.as_bytes());
            assert!(shown.is_none() && !shown.is_answer() && shown.answered().is_none(), "{line}");
        }
    }

    #[test]
    fn an_object_whose_rest_stands_on_further_lines_is_known() {
        for line in ["{", " {", r#"{"id":7,"result":{"#, r#"{"id":7,"x":"a}"#] {
            assert!(is_cut_off(line.as_bytes()), "{line}");
        }
        for line in ["{debug} it {begins}", "}", "[", "", r#"{"x":"{"}"#, "listening {"] {
            assert!(!is_cut_off(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn an_answer_shows_itself_and_its_id_by_either_end() {
        for (line, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"method":"x","id":9"#, Some(7)),
            (r#" {"x":"result","method":null,"error":{"code":1},"id": 7 }"#, Some(7)),
            (r#"{"result":{"id":9},"x":"method","id":"7"}"#, None),
            (r#"{"result":{"id":9"#, None),
        ] {
            let shown = Shown::of(line.as_bytes());
            assert!(shown.is_answer() && shown.answered() == id, "{line}");
        }
        let neither = Shown::of(br#"{"id":7,"x":{"#);
        assert!(!neither.is_answer() && !neither.is_none() && neither.answered() == Some(7));
        assert_eq!(id_in_tail(br#"x"}],"id": 7} "#), Some(7));
        for tail in [r#","id":7}]}"#, r#","id":7"#, r#""id":7}"#, r#"{"id":7,"\"id":1}"#] {
            assert_eq!(id_in_tail(tail.as_bytes()), None, "{tail}");
        }
    }
}
