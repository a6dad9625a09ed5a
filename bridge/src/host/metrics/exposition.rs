//! The text that monitoring systems read: OpenMetrics 1.0.0, and its predecessor, Prometheus' text 0.0.4.
//!
//! ```text
//!  # HELP harbor_x_seconds What it is.          a family: its lines stand together
//!  # TYPE harbor_x_seconds histogram
//!  # UNIT harbor_x_seconds seconds              OpenMetrics only
//!  harbor_x_seconds_bucket{server="a",le="0.001024"} 3
//!  # EOF                                        OpenMetrics only
//! ```
//!
//! Owns the grammar. Must never let a value end its line or its label: labels and errors come from outside.

use std::fmt::Write as _;

use harbor_policy::stats::Histogram;

/// A value is cut after this many characters; ids and origins are shorter.
const MAX_VALUE: usize = 512;

/// The bounds of histograms, as powers of two of microseconds (0.5 ms to 537 s). Only at these powers are the counts
/// exact.
const BOUNDS: &[u32] = &[9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 25, 27, 29];

/// A grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// Prometheus' text format 0.0.4.
    Prometheus,
}

/// The kind of a family's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows; a restart begins it anew.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A distribution of times.
    Histogram,
    /// Always 1: the labels hold the information.
    Info,
}

/// Numbers that mean the same, with different labels.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The name, with its unit, without the suffix of its kind.
    pub name: &'static str,
    /// The kind of its numbers.
    pub kind: MetricKind,
    /// The base unit at the end of the name. Empty if there is none.
    pub unit: &'static str,
    /// A sentence, without quotes, backslashes and line ends.
    pub help: &'static str,
}

/// A family of this kind.
pub const fn family(kind: MetricKind, name: &'static str, unit: &'static str, help: &'static str) -> Family {
    Family { name, kind, unit, help }
}

/// Names and values of labels.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// The text so far. A family must be complete before the next one begins.
#[derive(Debug)]
pub struct Exposition {
    dialect: Dialect,
    text: String,
    /// The family whose lines are being written.
    open: &'static str,
}

impl Exposition {
    /// Without lines.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::new(), open: "" }
    }

    /// Adds a number.
    pub fn add(&mut self, family: &Family, labels: Labels<'_>, value: f64) {
        self.begin(family);
        self.line(family, suffix(family.kind), labels, None, value);
    }

    /// Adds a distribution.
    pub fn add_times(&mut self, family: &Family, labels: Labels<'_>, times: &Histogram) {
        self.begin(family);
        for power in BOUNDS {
            let bound = ((1u64 << power) as f64 / 1e6).to_string();
            self.line(family, "_bucket", labels, Some(&bound), times.below(*power) as f64);
        }
        let count = times.count() as f64;
        self.line(family, "_bucket", labels, Some("+Inf"), count);
        self.line(family, "_sum", labels, None, times.sum() as f64 / 1e6);
        self.line(family, "_count", labels, None, count);
    }

    /// The whole text.
    pub fn end(mut self) -> String {
        if self.dialect == Dialect::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }

    fn begin(&mut self, family: &Family) {
        if self.open == family.name {
            return;
        }
        self.open = family.name;
        let (word, name) = self.named(family);
        let _ = writeln!(self.text, "# HELP {name} {}\n# TYPE {name} {word}", family.help);
        if self.dialect == Dialect::OpenMetrics && !family.unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT {name} {}", family.unit);
        }
    }

    /// The word for the family's kind, and its name. The older grammar has no info, and uses the name of its
    /// lines.
    fn named(&self, family: &Family) -> (&'static str, String) {
        let word = match family.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
            MetricKind::Info if self.dialect == Dialect::OpenMetrics => "info",
            MetricKind::Info => "gauge",
        };
        match self.dialect {
            Dialect::OpenMetrics => (word, family.name.to_owned()),
            Dialect::Prometheus => (word, format!("{}{}", family.name, suffix(family.kind))),
        }
    }

    fn line(&mut self, family: &Family, suffix: &str, labels: Labels<'_>, le: Option<&str>, value: f64) {
        self.text.push_str(family.name);
        self.text.push_str(suffix);
        let mut before = '{';
        for (name, value) in labels.iter().copied().chain(le.map(|le| ("le", le))) {
            let _ = write!(self.text, "{before}{name}=\"");
            put_value(&mut self.text, value);
            self.text.push('"');
            before = ',';
        }
        if before == ',' {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
}

/// The suffix of a name in a line.
fn suffix(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "_total",
        MetricKind::Info => "_info",
        MetricKind::Gauge | MetricKind::Histogram => "",
    }
}

/// Writes a value between its quotes. The only control character that can be written is the end of a line,
/// since readers stop at others. No query can contain a replacement character.
fn put_value(text: &mut String, value: &str) {
    for char in value.chars().take(MAX_VALUE) {
        match char {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            char if char.is_control() => text.push('?'),
            char => text.push(char),
        }
    }
}

#[cfg(test)]
mod tests {
    use harbor_policy::stats::{FinishedCall, Stats};
    use proptest::prelude::*;

    use super::*;

    const CALLS: Family = family(MetricKind::Counter, "h_calls", "", "Calls.");
    const ABOUT: Family = family(MetricKind::Info, "h_build", "", "What it is.");
    const SIZE: Family = family(MetricKind::Gauge, "h_size_bytes", "bytes", "How large.");
    const TIME: Family = family(MetricKind::Histogram, "h_time_seconds", "seconds", "How long.");

    fn text(dialect: Dialect) -> String {
        let mut out = Exposition::new(dialect);
        out.add(&CALLS, &[("server", "a"), ("code", "ok")], 3.0);
        out.add(&CALLS, &[("server", "b"), ("code", "ok")], 4.0);
        out.add(&ABOUT, &[("version", "1")], 1.0);
        out.add(&SIZE, &[], 0.5);
        out.end()
    }

    #[test]
    fn families_are_told_once_in_either_grammar() {
        assert_eq!(
            text(Dialect::OpenMetrics),
            "# HELP h_calls Calls.\n# TYPE h_calls counter\n\
             h_calls_total{server=\"a\",code=\"ok\"} 3\nh_calls_total{server=\"b\",code=\"ok\"} 4\n\
             # HELP h_build What it is.\n# TYPE h_build info\nh_build_info{version=\"1\"} 1\n\
             # HELP h_size_bytes How large.\n# TYPE h_size_bytes gauge\n# UNIT h_size_bytes bytes\nh_size_bytes 0.5\n\
             # EOF\n"
        );
        assert_eq!(
            text(Dialect::Prometheus),
            "# HELP h_calls_total Calls.\n# TYPE h_calls_total counter\n\
             h_calls_total{server=\"a\",code=\"ok\"} 3\nh_calls_total{server=\"b\",code=\"ok\"} 4\n\
             # HELP h_build_info What it is.\n# TYPE h_build_info gauge\nh_build_info{version=\"1\"} 1\n\
             # HELP h_size_bytes How large.\n# TYPE h_size_bytes gauge\nh_size_bytes 0.5\n"
        );
    }

    #[test]
    fn a_histogram_has_cumulative_buckets_in_seconds() {
        let mut stats = Stats::default();
        for duration_us in [511, 512, 1023, 600_000_000] {
            stats.note(&FinishedCall {
                origin: "owner",
                server: "s",
                tool: "t",
                code: None,
                tool_error: false,
                duration_us,
                queued_us: 0,
                bytes_in: 0,
                bytes_out: 0,
            });
        }
        let mut out = Exposition::new(Dialect::OpenMetrics);
        out.add_times(&TIME, &[("server", "s")], &stats.total().duration);
        let text = out.end();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[3], "h_time_seconds_bucket{server=\"s\",le=\"0.000512\"} 1");
        assert_eq!(lines[4], "h_time_seconds_bucket{server=\"s\",le=\"0.001024\"} 3");
        assert_eq!(lines[3 + BOUNDS.len() - 1], "h_time_seconds_bucket{server=\"s\",le=\"536.870912\"} 3");
        assert_eq!(
            lines[3 + BOUNDS.len()..],
            [
                "h_time_seconds_bucket{server=\"s\",le=\"+Inf\"} 4",
                "h_time_seconds_sum{server=\"s\"} 600.002046",
                "h_time_seconds_count{server=\"s\"} 4",
                "# EOF"
            ]
        );
    }

    #[test]
    fn a_value_is_escaped_and_bounded() {
        let mut text = String::new();
        put_value(&mut text, "a\"b\\c\nd\re\0f é\u{85}");
        assert_eq!(text, "a\\\"b\\\\c\\nd?e?f é?");
        text.clear();
        put_value(&mut text, &"é".repeat(1000));
        assert_eq!(text.chars().count(), MAX_VALUE);
    }

    proptest! {
        #[test]
        fn no_value_leaves_its_quotes_or_its_line(value in "\\PC*|[\"\\\\\n\r\0a]{0,40}") {
            let mut out = Exposition::new(Dialect::OpenMetrics);
            out.add(&CALLS, &[("v", &value)], 1.0);
            let text = out.end();
            let line = text.lines().nth(2).unwrap();
            prop_assert_eq!(text.lines().count(), 4);
            let quoted = line.strip_prefix("h_calls_total{v=\"").unwrap().strip_suffix("\"} 1").unwrap();
            let mut chars = quoted.chars();
            let mut read = String::new();
            while let Some(char) = chars.next() {
                read.push(match char {
                    '\\' => match chars.next().unwrap() {
                        'n' => '\n',
                        char => char,
                    },
                    '"' => panic!("a quote that is not escaped: {line}"),
                    char => char,
                });
            }
            let wanted: String = value.chars().take(MAX_VALUE).map(
                |char| if char.is_control() && char != '\n' { '?' } else { char }).collect();
            prop_assert_eq!(read, wanted);
        }
    }
}
