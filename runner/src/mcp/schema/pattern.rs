//! The price of a pattern, for each byte of a text.
//!
//! Owns an estimate from the pattern as it is written. The engine writes counted repetitions out. If it then has too many
//! states to keep what it learns of them, it walks all of them for each byte. The estimate may be too high, and must never
//! be far too low. It must never decide whether a text is a pattern.

/// Steps for a byte, whatever the pattern.
const BYTE: usize = 16;

/// States that are walked in one step.
const STATES: usize = 8;

/// The number of states that fit into the memory of one program.
const MAX_STATES: usize = 16 * 1024;

/// Steps for each byte that `pattern` looks at.
pub(super) fn steps(pattern: &str) -> usize {
    BYTE + states(pattern.as_bytes()).min(MAX_STATES) / STATES
}

/// Counts the states of the pattern, repetitions included.
fn states(pattern: &[u8]) -> usize {
    let (mut around, mut sum, mut last) = (Vec::new(), 0_usize, 0_usize);
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'(' if is_verbose(rest) => return MAX_STATES,
            b'(' => around.push(std::mem::take(&mut sum)),
            b')' => {
                last = sum.max(1);
                sum = last.saturating_add(around.pop().unwrap_or(0));
            }
            b'*' | b'+' | b'?' => {}
            b'{' => {
                let (times, after) = repetition(rest);
                let repeated = last.saturating_mul(times);
                sum = sum.saturating_add(repeated - last);
                (last, rest) = (repeated, after);
            }
            _ => {
                (last, sum) = (1, sum.saturating_add(1));
                rest = match first {
                    b'[' => behind_class(rest),
                    b'\\' => behind_escape(rest),
                    _ => rest,
                };
            }
        }
    }
    around.into_iter().fold(sum, usize::saturating_add)
}

/// True if a group, whose bracket is read, has a flag that turns parts of a pattern into comments.
fn is_verbose(rest: &[u8]) -> bool {
    let Some(flags) = rest.strip_prefix(b"?") else { return false };
    flags.iter().take_while(|byte| !matches!(byte, b':' | b')' | b'<')).any(|flag| *flag == b'x')
}

/// The most repetitions that braces allow, of which the first is read, and what stands behind them.
fn repetition(rest: &[u8]) -> (usize, &[u8]) {
    let Some(end) = rest.iter().position(|byte| *byte == b'}') else { return (1, rest) };
    let numbers = rest[..end].split(|byte| *byte == b',');
    let numbers = numbers.filter_map(|number| std::str::from_utf8(number).ok()?.trim().parse().ok());
    (numbers.max().unwrap_or(1).max(1), &rest[end + 1..])
}

/// A class ends at the first bracket that is not escaped.
fn behind_class(mut rest: &[u8]) -> &[u8] {
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b']' => break,
            b'\\' => rest = rest.get(1..).unwrap_or_default(),
            _ => {}
        }
    }
    rest
}

/// An escape is one letter, or has a name in braces.
fn behind_escape(rest: &[u8]) -> &[u8] {
    match rest {
        [b'p' | b'P' | b'u' | b'U' | b'x', b'{', named @ ..] => {
            named.iter().position(|byte| *byte == b'}').map_or(named, |end| &named[end + 1..])
        }
        _ => rest.get(1..).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out() {
        let rows = [
            ("", 0),
            ("abc", 3),
            ("[a-z]{1,63}", 63),
            ("^[a-z]{1,63}\\.[a-z]{2,}$", 1 + 63 + 1 + 2 + 1),
            ("(ab{3}){4}", 16),
            ("((a{0,100}){0,100}){0,100}", 1_000_000),
            ("a{2}{3}", 6),
            ("a{ 5 , 7 }", 7),
            ("a{,9}", 9),
            ("\\p{L}{20}\\x{41}", 21),
            ("[\\]{5}]{6}", 6),
            ("[]a{5}", 6),
            ("\\{5}\\[a{5}", 4 + 5),
            ("a{0}b+", 2),
            ("(?i)a", 2),
            ("(a{5", 2),
            ("(?x)[ab] #[\n{5000}", MAX_STATES),
        ];
        for (pattern, wanted) in rows {
            assert_eq!(states(pattern.as_bytes()), wanted, "{pattern}");
        }
        assert_eq!(steps("((a{0,99999}){0,99999}){0,99999}){0,99999}"), BYTE + MAX_STATES / STATES);
    }
}
