//! Plots as SVG: bars from left to right, and lines, each with axes, ticks and labels; light or dark as the reader has it.
//!
//! Pure. Must know nothing about what is plotted, and fetch nothing: each plot is one file that stands alone.

use std::fmt::Write;

/// One bar.
pub struct Bar {
    /// What stands left of it.
    pub label: String,
    /// Its length.
    pub value: f64,
    /// Whether it is one of those that the plot is about; the others are there to compare.
    pub is_own: bool,
}

/// One line, with axes of its own.
pub struct Curve {
    /// What its values are, with their unit.
    pub title: String,
    /// What it is plotted over.
    pub over: &'static str,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

const STYLE: &str = "<style>text{font:12px system-ui,sans-serif;fill:#52514e}.head{font-weight:600;fill:#0b0b0b}\
    .end{text-anchor:end}.mid{text-anchor:middle}.paper{fill:#fcfcfb}.grid{stroke:#e1e0d9}.other{fill:#8f8d85}\
    .own{fill:#2a78d6}.line{fill:none;stroke:#2a78d6;stroke-width:2}\
    @media(prefers-color-scheme:dark){text{fill:#c3c2b7}.head{fill:#fff}.paper{fill:#1a1a19}.grid{stroke:#3a3a37}\
    .own{fill:#3987e5}.line{stroke:#3987e5}}</style>";

/// Of a whole plot, and of one panel of it with a line.
const WIDTH: f64 = 760.0;
const PANEL: (f64, f64) = (380.0, 210.0);

/// Bars below each other, from zero on; `title` says what they are, with the unit.
pub fn bars(title: &str, bars: &[Bar]) -> String {
    let (left, right, top, step) = (190.0, WIDTH - 60.0, 40.0, 26.0);
    let bottom = top + step * bars.len() as f64;
    let ticks = ticks(bars.iter().map(|bar| bar.value));
    let x = |value: f64| left + (right - left) * value / ticks[ticks.len() - 1];
    let mut out = String::new();
    text(&mut out, 16.0, 22.0, "head", title);
    for tick in &ticks {
        path(&mut out, "grid", &[(x(*tick), top), (x(*tick), bottom)]);
        text(&mut out, x(*tick), bottom + 18.0, "mid", &number(*tick));
    }
    for (place, Bar { label, value, is_own }) in bars.iter().enumerate() {
        let (y, class) = (top + step * place as f64, if *is_own { "own" } else { "other" });
        let width = x(*value) - left;
        let _ = write!(
            out,
            r#"<rect class="{class}" x="{left}" y="{:.1}" width="{width:.1}" height="18" rx="2"/>"#,
            y + 4.0
        );
        text(&mut out, left - 8.0, y + 17.0, "end", label);
        text(&mut out, x(*value) + 6.0, y + 17.0, "head", &number(*value));
    }
    document(title, &out, bottom + 32.0)
}

/// Lines in panels, two beside each other; both axes begin at zero, so that what is in proportion looks so.
pub fn curves(title: &str, curves: &[Curve]) -> String {
    let mut out = String::new();
    text(&mut out, 16.0, 22.0, "head", title);
    for (place, curve) in curves.iter().enumerate() {
        // There are a handful.
        let (column, line) = ((place % 2) as f64, (place / 2) as f64);
        panel(&mut out, curve, (column * PANEL.0, 36.0 + line * PANEL.1));
    }
    document(title, &out, 44.0 + PANEL.1 * curves.len().div_ceil(2) as f64)
}

fn panel(out: &mut String, curve: &Curve, (at_x, at_y): (f64, f64)) {
    let (left, right) = (at_x + 64.0, at_x + PANEL.0 - 40.0);
    let (top, bottom) = (at_y + 28.0, at_y + PANEL.1 - 44.0);
    let over = ticks(curve.points.iter().map(|point| point.0));
    let values = ticks(curve.points.iter().map(|point| point.1));
    let x = |value: f64| left + (right - left) * value / over[over.len() - 1];
    let y = |value: f64| bottom - (bottom - top) * value / values[values.len() - 1];
    text(out, at_x + 16.0, at_y + 14.0, "head", &curve.title);
    for tick in &values {
        path(out, "grid", &[(left, y(*tick)), (right, y(*tick))]);
        text(out, left - 8.0, y(*tick) + 4.0, "end", &number(*tick));
    }
    over.iter().for_each(|tick| text(out, x(*tick), bottom + 18.0, "mid", &number(*tick)));
    text(out, f64::midpoint(left, right), bottom + 34.0, "mid", curve.over);
    let points: Vec<_> = curve.points.iter().map(|point| (x(point.0), y(point.1))).collect();
    path(out, "line", &points);
    for (x, y) in points {
        let _ = write!(out, r#"<circle class="own" cx="{x:.1}" cy="{y:.1}" r="4"/>"#);
    }
}

fn document(title: &str, content: &str, height: f64) -> String {
    let title = escaped(title);
    let open = r#"<svg xmlns="http://www.w3.org/2000/svg" role="img""#;
    let paper = r#"<rect class="paper" width="100%" height="100%"/>"#;
    format!(
        "{open} viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\"><title>{title}</title>{STYLE}{paper}{content}</svg>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn text(out: &mut String, x: f64, y: f64, class: &str, content: &str) {
    let content = escaped(content);
    // Writing to a string does not fail, here and below.
    let _ = write!(out, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{content}</text>"#);
}

fn path(out: &mut String, class: &str, points: &[(f64, f64)]) {
    let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = write!(out, r#"<polyline class="{class}" points="{}"/>"#, points.join(" "));
}

/// From zero to the largest value or beyond it, in at most five steps of 1, 2 or 5 times a power of ten.
fn ticks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let most = values.fold(0.0, f64::max);
    let least_step = if most > 0.0 { most / 5.0 } else { 0.2 };
    let power = 10_f64.powf(least_step.log10().floor());
    let step = [1.0, 2.0, 5.0].map(|times| times * power).into_iter().find(|step| *step >= least_step);
    let step = step.unwrap_or(10.0 * power);
    // At most five.
    (0..=(most / step).ceil().max(1.0) as u32).map(|count| f64::from(count) * step).collect()
}

/// Whole from ten on, with a comma between thousands.
fn number(value: f64) -> String {
    if value < 10.0 && value.fract() != 0.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let parts: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few_and_numbers_can_be_read() {
        assert_eq!(ticks([3.0, 97.0].into_iter()), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!((ticks([200.0].into_iter()).len(), ticks([].into_iter()).len()), (5, 2));
        assert_eq!([2.66, 0.0, 10.4, 1_234_567.0].map(number), ["2.7", "0", "10", "1,234,567"]);
    }

    #[test]
    fn a_bar_is_as_long_as_its_value_and_its_label_is_text() {
        let bar = |label: &str, value| Bar { label: label.into(), value, is_own: value > 60.0 };
        let svg = bars("p50", &[bar("a<b", 50.0), bar("c", 100.0)]);
        assert!(svg.contains(r#"class="other" x="190" y="44.0" width="255.0""#), "{svg}");
        assert!(
            svg.contains(r#"class="own" x="190" y="70.0" width="510.0""#) && svg.contains("a&lt;b"),
            "{svg}"
        );
    }

    #[test]
    fn a_line_goes_from_corner_to_corner_of_its_panel() {
        let points = vec![(0.0, 0.0), (5.0, 100.0)];
        let svg = curves("all", &[Curve { title: "one".into(), over: "x", points }]);
        assert!(svg.contains(r#"class="line" points="64.0,202.0 340.0,64.0""#), "{svg}");
    }
}
