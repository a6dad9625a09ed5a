//! What a small call costs through programs that do a similar job, as a Markdown table.
//!
//! Must not measure or judge, as `report`.

use crate::peers::{Entry, Figures};
use crate::report_fronts::{micros, ratio};
use crate::request::Workload;
use crate::setup::IN_FLIGHT;
use crate::stats::{least, median, most};
use crate::table::{Page, line, row};

/// Places of the setups that the others are measured against.
const DIRECT: usize = 0;
const FLOOR: usize = 1;

/// The longest reason that is shown, in characters.
const REASON: usize = 160;

/// One row for each of them, with figures or with why there are none.
pub fn peers(out: &mut Page, all: &[Entry]) {
    let title = Workload::Small.title();
    line(out, &format!("### {title} through programs that do a similar job\n"));
    line(
        out,
        "p50 in µs, one call at a time: the best and the median of the repetitions; the median of the ratios",
    );
    line(
        out,
        &format!(
            "within each repetition; calls per second with {IN_FLIGHT} in flight, the best. In MiB: the PSS of all"
        ),
    );
    line(
        out,
        "processes between driver and server, as far as this user may see it. All speak HTTP but direct, floor and",
    );
    line(out, "fastmcp, which have pipes; mcp-hub is called by a way of its own.\n");
    let head = ["setup", "version", "p50, best", "p50, median", "× direct", "× floor", "calls/s", "memory"];
    row(out, &head);
    row(out, &["---", "---", "---:", "---:", "---:", "---:", "---:", "---:"]);
    let against = (times(all, DIRECT), times(all, FLOOR));
    for entry in all {
        let cells = match &entry.found {
            Ok(figures) => of_figures(figures, against),
            Err(reason) => vec![one_line(reason)],
        };
        row(out, &[vec![entry.name.clone(), entry.version.clone()], cells].concat());
    }
    line(out, "");
}

fn times(all: &[Entry], place: usize) -> &[f64] {
    all.get(place).and_then(|entry| entry.found.as_ref().ok()).map_or(&[], |figures| &figures.times)
}

fn of_figures(figures: &Figures, (direct, floor): (&[f64], &[f64])) -> Vec<String> {
    let all = || figures.times.iter().copied();
    vec![
        micros(least(all())),
        micros(median(all())),
        format!("{:.2}", ratio(&figures.times, direct)),
        format!("{:.2}", ratio(&figures.times, floor)),
        format!("{:.0}", most(figures.rates.iter().copied())),
        format!("{:.1}", figures.pss as f64 / 1024.0),
    ]
}

/// Fit for a cell: nothing in it ends a line or a cell.
fn one_line(reason: &str) -> String {
    let mut text = reason.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "/");
    if let Some((end, _)) = text.char_indices().nth(REASON) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, found: Result<Figures, String>) -> Entry {
        Entry { name: name.to_owned(), version: "1".to_owned(), found }
    }

    fn figures(time: f64) -> Result<Figures, String> {
        Ok(Figures { times: vec![time, 2.0 * time], rates: vec![7.0, 9.0], pss: 1536 })
    }

    #[test]
    fn one_that_fails_is_a_row_that_says_why() {
        let all = [
            entry("direct", figures(10.0)),
            entry("floor", figures(20.0)),
            entry("good", figures(50.0)),
            entry("bad", Err("a | b\nc".to_owned())),
        ];
        let mut page = Page::default();
        peers(&mut page, &all);
        let text = page.take();
        assert!(text.contains("| good | 1 | 50.0 | 100.0 | 5.00 | 2.50 | 9 | 1.5 |"), "{text}");
        assert!(text.contains("| bad | 1 | a / b c |"), "{text}");
        assert_eq!(one_line(&"é".repeat(500)).chars().count(), REASON + 1);
    }
}
