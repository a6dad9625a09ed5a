//! Sums of money in words.
//!
//! Must never round a cost to nothing.

/// Millionths of a dollar in a cent, and in the smallest sum that is written out.
const CENT: u64 = 10_000;
const LEAST: u64 = 100;

/// `free`, `under $0.0001`, `$0.0042` or `$1.05`, of millionths of a dollar.
pub fn dollars(microdollars: u64) -> String {
    match microdollars {
        0 => "free".into(),
        1..LEAST => "under $0.0001".into(),
        LEAST..CENT => format!("$0.{:04}", microdollars / LEAST),
        _ => {
            let cents = microdollars.saturating_add(CENT / 2) / CENT;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sums_are_not_nothing() {
        let all = [
            (0, "free"),
            (99, "under $0.0001"),
            (100, "$0.0001"),
            (4_299, "$0.0042"),
            (10_000, "$0.01"),
            (1_049_999, "$1.05"),
            (123_456_789, "$123.46"),
        ];
        for (microdollars, words) in all {
            assert_eq!(dollars(microdollars), words);
        }
    }
}
