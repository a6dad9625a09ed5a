//! The manual page of the whole command line, `harbor.1`, by clap_mangen.
//!
//! Owns what stands in it besides the commands.

use std::io;

use clap::Command;
use clap_mangen::Man;

use crate::args;
use harbor_client::errors::Exit;

pub fn page() -> io::Result<String> {
    let mut command = args::command();
    command.build();
    let man = Man::new(command.clone())
        .title("HARBOR")
        .source(concat!("Harbor ", env!("CARGO_PKG_VERSION")))
        .manual("Harbor");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut page = text(page)?;
    for command in command.get_subcommands() {
        page.push_str(&section(command)?);
    }
    page.push_str(".SH \"EXIT STATUS\"\n");
    Exit::ALL.iter().for_each(|(exit, meaning)| page.push_str(&entry(&(*exit as u8).to_string(), meaning)));
    page.push_str(".SH ENVIRONMENT\n");
    page.push_str(&entry("HARBOR_HOME", "where Harbor keeps everything; \\(ti/.harbor if it is not set"));
    page.push_str(&entry("NO_COLOR", "no colours, even on a terminal, if it is set to any value"));
    page.push_str(".SH FILES\n");
    page.push_str(&entry("\\(ti/.harbor/config.toml", "limits and defaults; optional"));
    page.push_str(".SH \"SEE ALSO\"\nhttps://modelcontextprotocol.io\n");
    Ok(page.chars().map(typed).collect())
}

/// A character as every roff reads it.
fn typed(c: char) -> String {
    if c.is_ascii() { c.to_string() } else { format!("\\[u{:04X}]", u32::from(c)) }
}

fn text(page: Vec<u8>) -> io::Result<String> {
    String::from_utf8(page).map_err(io::Error::other)
}

/// A command and those below it; what is a section of clap_mangen's is a part of it.
fn section(command: &Command) -> io::Result<String> {
    if command.is_hide_set() {
        return Ok(String::new());
    }
    let man = Man::new(command.clone());
    let mut parts = Vec::new();
    man.render_description_section(&mut parts)?;
    man.render_synopsis_section(&mut parts)?;
    man.render_options_section(&mut parts)?;
    if command.get_after_help().is_some() {
        man.render_extra_section(&mut parts)?;
    }
    let parts = text(parts)?.replace("\n.SH ", "\n.SS ");
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_uppercase();
    let below = command.get_subcommands().map(section).collect::<io::Result<String>>()?;
    Ok(format!(".SH \"{name}\"\n{parts}{below}"))
}

fn entry(name: &str, meaning: &str) -> String {
    format!(".TP\n.B {name}\n{meaning}\n")
}
