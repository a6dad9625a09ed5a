//! Words of Markdown in a line: emphasis, code, links.
//!
//! A parser of CommonMark reads them (pulldown-cmark), a fragment at a time. What stands before a fragment is told to it by a
//! guard: a character of the same kind, which is taken off again. Owns the styles. Must never show what a terminal obeys: also
//! an entity can become that.

use harbor_client::terminal::disarm;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// A style of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub code: bool,
}

impl Style {
    /// As a terminal shows what it gets.
    pub const PLAIN: Self = Self { bold: false, dim: false, italic: false, code: false };
}

/// A text that a terminal shows in this style.
pub fn paint(text: &str, style: Style) -> String {
    // An entity can be a control character, or end the line.
    let text = disarm(text).replace('\n', " ");
    let codes = [(style.bold, "1"), (style.dim, "2"), (style.italic, "3"), (style.code, "36")];
    let codes: Vec<_> = codes.iter().filter(|(is, _)| *is).map(|(_, code)| *code).collect();
    match text.is_empty() || codes.is_empty() {
        true => text,
        false => format!("\x1b[{}m{text}\x1b[0m", codes.join(";")),
    }
}

/// A fragment of a line, in a style. `before`: the character before it in the line.
pub fn styled(fragment: &str, before: Option<char>, style: Style) -> String {
    runs(fragment, before).into_iter().map(|run| paint(&run.text, run.over(style))).collect()
}

/// The places that a cell takes when it is shown.
pub fn places(cell: &str) -> usize {
    runs(cell, None).iter().map(|run| disarm(&run.text).chars().count()).sum()
}

/// Where a fragment can be cut: what stands before is shown as it would be if more came.
pub fn safe_end(fragment: &str, before: Option<char>) -> usize {
    let space = fragment.rfind(char::is_whitespace);
    let behind = space.and_then(|at| fragment[at..].chars().next().map(|c| at + c.len_utf8()));
    let done = behind.filter(|&end| !is_open(&fragment[..end], before)).unwrap_or(0);
    let rest = &fragment[done..];
    done + rest.find(|c| "*_`[]!<&\\".contains(c)).unwrap_or(rest.len())
}

/// A text of one style.
struct Run {
    text: String,
    style: Style,
    /// True if the text is what was written, and no code or address.
    is_written: bool,
}

impl Run {
    /// Its style within another one.
    fn over(&self, base: Style) -> Style {
        let Style { bold, dim, italic, code } = self.style;
        Style {
            bold: bold || base.bold,
            dim: dim || base.dim,
            italic: italic || base.italic,
            code: code || base.code,
        }
    }
}

/// The runs of a fragment; spaces at its ends are runs of their own.
fn runs(fragment: &str, before: Option<char>) -> Vec<Run> {
    let words = fragment.trim();
    let lead = fragment.len() - fragment.trim_start().len();
    if words.is_empty() {
        return vec![written(fragment)];
    }
    let guard = match before.filter(|_| lead == 0) {
        Some(c) if c.is_alphanumeric() => "a",
        Some(c) if !c.is_whitespace() => ".",
        _ => ". ",
    };
    let text = [guard, words].concat();
    let mut found = vec![written(&fragment[..lead])];
    let mut reader = Reader { guard: Some(guard), ..Reader::default() };
    Parser::new(&text).for_each(|event| reader.read(event));
    found.append(&mut reader.runs);
    found.push(written(&fragment[lead + words.len()..]));
    found
}

fn written(text: &str) -> Run {
    Run { text: text.to_owned(), style: Style::PLAIN, is_written: true }
}

/// Makes runs of a parser's events.
#[derive(Default)]
struct Reader {
    runs: Vec<Run>,
    guard: Option<&'static str>,
    bold: u32,
    italic: u32,
    /// The addresses of the links and images that are open, each with the place where its text begins.
    open: Vec<(String, usize)>,
}

impl Reader {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Strong) => self.bold += 1,
            Event::End(TagEnd::Strong) => self.bold = self.bold.saturating_sub(1),
            Event::Start(Tag::Emphasis) => self.italic += 1,
            Event::End(TagEnd::Emphasis) => self.italic = self.italic.saturating_sub(1),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                self.open.push((dest_url.into_string(), self.runs.len()));
                self.runs.push(Run { text: String::new(), style: self.style(), is_written: true });
            }
            Event::End(TagEnd::Link | TagEnd::Image) => self.end_link(),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.put(&code, true),
            Event::InlineHtml(html) | Event::Html(html) => self.text(&html),
            Event::SoftBreak | Event::HardBreak => self.put(" ", false),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let guard = self.guard.take().unwrap_or_default();
        self.put(text.strip_prefix(guard).unwrap_or(text), false);
    }

    fn put(&mut self, text: &str, code: bool) {
        let style = Style { code, ..self.style() };
        match self.runs.last_mut() {
            Some(last) if last.style == style && last.is_written && !code => last.text.push_str(text),
            _ => self.runs.push(Run { text: text.to_owned(), style, is_written: !code }),
        }
    }

    fn style(&self) -> Style {
        Style { bold: self.bold > 0, italic: self.italic > 0, ..Style::PLAIN }
    }

    /// Shows where a link leads, unless its text says that already.
    fn end_link(&mut self) {
        let Some((url, begin)) = self.open.pop() else { return };
        let text: String = self.runs.iter().skip(begin).map(|run| run.text.as_str()).collect();
        let says_it = text == url || url.strip_prefix("mailto:") == Some(&text);
        if !says_it {
            let end = if text.is_empty() { url } else { format!(" ({url})") };
            self.runs.push(Run { text: end, style: Style { dim: true, ..Style::PLAIN }, is_written: false });
        }
    }
}

/// True if a mark in this fragment, which ends with a space, may still get its other half.
fn is_open(fragment: &str, before: Option<char>) -> bool {
    let runs = runs(fragment, before);
    // Whatever is no text is as a letter.
    let text: String = runs.iter().map(|run| if run.is_written { run.text.as_str() } else { "x" }).collect();
    let all: Vec<char> = before.into_iter().chain(text.chars()).collect();
    let kind =
        |at: Option<usize>, is: fn(char) -> bool| at.and_then(|at| all.get(at)).is_some_and(|&c| is(c));
    all.iter().enumerate().skip(before.iter().len()).any(|(at, c)| {
        let around = |is| kind(at.checked_sub(1), is) && kind(Some(at + 1), is);
        match c {
            '`' => true,
            '*' => !around(char::is_whitespace),
            '_' => !around(char::is_alphanumeric),
            '[' => may_be_link(&all[at..]),
            _ => false,
        }
    })
}

/// True if a link may become of this bracket.
fn may_be_link(text: &[char]) -> bool {
    match text.iter().position(|&c| c == ']') {
        Some(end) => text.get(end + 1) == Some(&'(') && !text[end..].contains(&')'),
        None => true,
    }
}
