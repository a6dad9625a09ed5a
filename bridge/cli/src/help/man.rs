//! The manual page of the whole command line, in roff, made from the table of the commands.
//!
//! Owns its layout. Must never hand a text to roff that it would take for a request of its own.

use harbor_client::errors::Exit;

use super::{EVERYWHERE, Opt, TOPICS, Topic, is_typed, usages};

/// `harbor.1`.
pub fn page() -> String {
    let mut page = format!(
        ".TH HARBOR 1 \"\" \"Harbor {}\" \"Harbor\"\n\
         .SH NAME\nharbor \\- use MCP servers, each in a process of its own\n\
         .SH SYNOPSIS\n.B harbor\n.I COMMAND\n\\[u2026]\n\
         .SH COMMANDS\n",
        roff(env!("CARGO_PKG_VERSION"))
    );
    TOPICS.iter().for_each(|topic| page.push_str(&section(topic)));
    page.push_str(".SH OPTIONS OF ALL COMMANDS\n");
    page.push_str(&options(EVERYWHERE));
    page.push_str(".SH EXIT STATUS\n");
    for (exit, meaning) in Exit::ALL {
        page.push_str(&entry(&(exit as u8).to_string(), meaning));
    }
    page.push_str(".SH ENVIRONMENT\n");
    page.push_str(&entry("HARBOR_HOME", "where Harbor keeps everything, ~/.harbor if it is not set"));
    page.push_str(&entry("NO_COLOR", "no colours, also on a terminal, if it is set to anything"));
    page.push_str(".SH FILES\n");
    page.push_str(&entry("~/.harbor/config.toml", "limits and defaults; optional"));
    page.push_str(".SH SEE ALSO\nhttps://modelcontextprotocol.io\n");
    page
}

fn section(topic: &Topic) -> String {
    let mut text = String::new();
    for (at, form) in usages(topic).enumerate() {
        // A heading is one line; other forms stand below it.
        text.push_str(&format!("{}{}\n", if at == 0 { ".SS " } else { ".B " }, roff(&form)));
    }
    if !topic.forms.is_empty() {
        text.push_str(".PP\n");
    }
    text.push_str(&format!("{}\n", line(&format!("{}.", sentence(topic.summary)))));
    text.push_str(&options(topic.options));
    for (title, group) in topic.groups {
        text.push_str(&format!(".PP\n{}:\n", line(&sentence(title))));
        text.push_str(&options(group));
    }
    text.push_str(&notes(topic.notes));
    text
}

fn options(options: &[Opt]) -> String {
    options.iter().map(|option| entry(&option.shown(), option.meaning)).collect()
}

fn entry(name: &str, meaning: &str) -> String {
    format!(".TP\n.B {}\n{}\n", roff(name), line(meaning))
}

/// Paragraphs; what is a command or is indented keeps its lines.
fn notes(notes: &str) -> String {
    let mut text = String::new();
    for paragraph in notes.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let (begin, end) = if is_typed(paragraph) { (".nf\n", ".fi\n") } else { ("", "") };
        let lines: String = paragraph.lines().map(|one| format!("{}\n", line(one))).collect();
        text.push_str(&format!(".PP\n{begin}{lines}{end}"));
    }
    text
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A line of text: one that begins with `.` or `'` would be a request.
fn line(text: &str) -> String {
    let guard = if text.starts_with(['.', '\'']) { "\\&" } else { "" };
    format!("{guard}{}", roff(text))
}

/// Text with nothing special in it; a dash is one that can be typed.
fn roff(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            '"' => out.push_str("\\(dq"),
            c if c.is_ascii() => out.push(c),
            c => out.push_str(&format!("\\[u{:04X}]", u32::from(c))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_request_or_an_escape() {
        assert_eq!(roff("a\\b-`c` ~'\"^…"), "a\\eb\\-\\(gac\\(ga \\(ti\\(aq\\(dq\\(ha\\[u2026]");
        assert_eq!(line(".so /etc/passwd"), "\\&.so /etc/passwd");
        assert_eq!(line("'x"), "\\&\\(aqx");
        assert_eq!(notes("a\n.b\n\nharbor x -y"), ".PP\na\n\\&.b\n.PP\n.nf\nharbor x \\-y\n.fi\n");
    }

    #[test]
    fn it_has_every_command_option_and_exit_code() {
        let page = page();
        assert!(page.starts_with(".TH HARBOR 1 ") && page.is_ascii());
        for topic in TOPICS {
            assert!(page.contains(&format!("\n.SS harbor {}", topic.name)), "{}", topic.name);
            for option in topic.all_options() {
                assert!(page.contains(&format!("\n.B {}\n", roff(&option.shown()))), "{}", option.name);
            }
        }
        assert!(page.contains(".TP\n.B 7\nthe tool failed or reported an error\n"));
        let known = [".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi"];
        for request in page.lines().filter(|line| line.starts_with(['.', '\''])) {
            let name = request.split(' ').next().unwrap();
            assert!(known.contains(&name), "{request}");
        }
    }
}
