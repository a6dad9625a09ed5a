//! How a program that runs models is started: which of its options Harbor uses.
//!
//! ```text
//!  the first bytes of a file ─► ModelForm
//!  its own `--help` ─► EngineHelp ─┐
//!  what is wanted ─────────────────┴─► arguments ─► EngineCommand: the command line, and the options that it lacks
//! ```
//!
//! Owns the options. Must never put a key into an argument, nor use an option that the program does not name itself: another
//! version would end, or take it for something else.

use std::collections::BTreeSet;

/// A page on this machine that nobody serves: the one origin that an engine answers to.
const NO_ORIGIN: &str = "http://harbor.invalid";

/// How long an engine keeps a model in memory that nobody asks, in seconds.
const SLEEP: &str = "300";

/// The form of a model's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelForm {
    /// A model alone: an engine has to run it.
    Gguf,
    /// A model together with its engine: a program of its own.
    Llamafile,
}

impl ModelForm {
    /// The form of a file of this name that begins so.
    ///
    /// # Errors
    /// Says what is wrong with it, as the end of the sentence "FILE …".
    pub fn of(name: &str, head: &[u8]) -> Result<Self, &'static str> {
        let is_program = ["MZ", "#!", "\x7fELF"].iter().any(|magic| head.starts_with(magic.as_bytes()));
        match head.starts_with(b"GGUF") {
            true => Ok(Self::Gguf),
            false if is_program => Ok(Self::Llamafile),
            false if name.ends_with(".gguf") => Err("is damaged: it does not begin as a GGUF file does"),
            false if name.ends_with(".llamafile") => Err("is damaged: it does not begin as a program does"),
            false => Err("is neither a GGUF file nor a llamafile"),
        }
    }
}

/// The options of an engine, by its own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineHelp {
    options: BTreeSet<String>,
    /// True if it says that it listens at Unix sockets.
    takes_socket: bool,
}

impl EngineHelp {
    /// Reads what a program printed when it was asked for `--help`.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let options = lines.flat_map(names).map(str::to_owned).collect();
        Self { options, takes_socket: text.contains(".sock") }
    }

    fn has(&self, option: &str) -> bool {
        self.options.contains(option)
    }
}

/// The names of an option in a line that begins with one. Two spaces stand before what is said of it, or before its next name.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("  ").map(str::trim).filter(|part| !part.is_empty());
    let words = parts.take_while(|part| part.starts_with('-')).flat_map(|part| part.split([' ', ',', '=']));
    words.filter(|word| word.starts_with('-') && !word.trim_start_matches('-').is_empty())
}

/// Where an engine is to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineAddress {
    /// At a Unix socket, by its path.
    Socket(String),
    /// At a port of 127.0.0.1.
    Port(u16),
}

/// A wish for an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineWish<'a> {
    /// The model's file, for an engine; none for a llamafile, which is one.
    pub model: Option<&'a str>,
    /// The model's name in requests.
    pub name: &'a str,
    /// The path of its socket.
    pub socket: &'a str,
    /// The port where it listens if it cannot listen at a socket.
    pub port: u16,
    /// The path of the file that holds its key.
    pub key_file: &'a str,
    /// The most tokens of a conversation; the engine's own choice where absent.
    pub context: Option<u32>,
}

/// How an engine is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineCommand {
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it answers then.
    pub address: EngineAddress,
    /// The options that it lacks.
    pub left_out: Vec<&'static str>,
}

/// The command line for what is wanted.
///
/// # Errors
/// The option without which Harbor does not start it, as the end of the sentence "this engine …".
pub fn arguments(help: &EngineHelp, wish: &EngineWish<'_>) -> Result<EngineCommand, &'static str> {
    if help.options.is_empty() {
        return Err("names no options when it is asked for --help");
    }
    if !help.has("--host") || !help.takes_socket && !help.has("--port") {
        return Err("does not say how it is given an address (--host, --port)");
    }
    if wish.model.is_some() && !help.has("--model") && !help.has("-m") {
        return Err("does not say how it is given a model (--model)");
    }
    if !help.has("--api-key-file") {
        return Err(
            "takes no key from a file (--api-key-file), so every program and web page of this machine could use it",
        );
    }
    let mut chosen = ChosenOptions { help, args: Vec::new(), left_out: Vec::new() };
    // Only older ones ask for it: others are servers.
    if help.has("--server") {
        chosen.add("--server", None);
    }
    if let Some(model) = wish.model {
        chosen.add(if help.has("--model") { "--model" } else { "-m" }, Some(model));
    }
    let address = match help.takes_socket {
        true => {
            chosen.add("--host", Some(wish.socket));
            EngineAddress::Socket(wish.socket.to_owned())
        }
        false => {
            chosen.left_out.push("a Unix socket");
            chosen.add("--host", Some("127.0.0.1"));
            chosen.add("--port", Some(&wish.port.to_string()));
            EngineAddress::Port(wish.port)
        }
    };
    chosen.add("--api-key-file", Some(wish.key_file));
    chosen.add("--alias", Some(wish.name));
    chosen.add("--cors-origins", Some(NO_ORIGIN));
    chosen.add("--no-cors-credentials", None);
    chosen.one_of(&["--no-ui", "--no-webui", "--nobrowser"]);
    chosen.add("--no-slots", None);
    chosen.add("--offline", None);
    chosen.add("--jinja", None);
    chosen.add("--parallel", Some("1"));
    chosen.add("--sleep-idle-seconds", Some(SLEEP));
    if let Some(context) = wish.context {
        chosen.add("--ctx-size", Some(&context.to_string()));
    }
    Ok(EngineCommand { args: chosen.args, address, left_out: chosen.left_out })
}

/// A command line that grows.
struct ChosenOptions<'a> {
    help: &'a EngineHelp,
    args: Vec<String>,
    left_out: Vec<&'static str>,
}

impl ChosenOptions<'_> {
    fn add(&mut self, option: &'static str, value: Option<&str>) {
        match self.help.has(option) {
            true => self.args.extend([Some(option), value].into_iter().flatten().map(str::to_owned)),
            false => self.left_out.push(option),
        }
    }

    /// Adds the first of several names of one option that it has.
    fn one_of(&mut self, names: &[&'static str]) {
        let known = names.iter().find(|name| self.help.has(name)).or(names.first()).copied();
        if let Some(name) = known {
            self.add(name, None);
        }
    }
}

/// The memory for a model of this size on the disk and a conversation of so many tokens, in bytes. An estimate that is rather
/// too high: how much a token takes depends on how a model is built.
#[must_use]
pub fn memory_for(file_bytes: u64, context: u32) -> u64 {
    const BASE: u64 = 256 << 20;
    // 48 KiB for the smallest models, 176 KiB where the file has 4 GiB, half a megabyte from 14 GiB on.
    let of_a_token = (48 << 10) + (file_bytes >> 15);
    let conversation = of_a_token.min(512 << 10) * u64::from(context);
    file_bytes.saturating_add(file_bytes / 16).saturating_add(BASE + conversation)
}

/// The largest file, in bytes, that this memory takes with a conversation of so many tokens.
#[must_use]
pub fn largest_for(memory: u64, context: u32) -> u64 {
    let (mut fits, mut too_large) = (0, memory);
    while fits + 1 < too_large {
        let middle = fits + (too_large - fits) / 2;
        *(if memory_for(middle, context) <= memory { &mut fits } else { &mut too_large }) = middle;
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "usage: llama-server\n\
        ----- common params -----\n\
        -m,    --model FNAME                    model path to load\n\
        \x20                                       (env: LLAMA_ARG_MODEL)\n\
        -c,    --ctx-size N                     size of the prompt context\n\
        -np,   --parallel N                     number of server slots\n\
        -a,    --alias STRING                   set model name aliases\n\
        --host HOST                             ip address to listen, or bind to an UNIX socket if the address ends\n\
        \x20                                       with .sock (default: 127.0.0.1)\n\
        --port PORT                             port to listen (default: 8080)\n\
        --cors-origins ORIGINS                  note: --not-an-option is no option\n\
        --cors-credentials, --no-cors-credentials\n\
        --ui,  --webui, --no-ui, --no-webui     whether to enable the Web UI\n\
        --api-key-file FNAME                    path to file containing API keys\n\
        --slots, --no-slots                     expose slots\n\
        --jinja, --no-jinja                     whether to use jinja\n\
        --offline                               Offline mode\n\
        --sleep-idle-seconds SECONDS            number of seconds\n";

    const OLD: &str = "options:\n  --server  --host HOST\n  -m FNAME, --model FNAME\n  --port PORT\n  --host HOST\n\
        \x20 --api-key-file FNAME\n  --nobrowser\n";

    fn wish() -> EngineWish<'static> {
        EngineWish {
            model: Some("/m/a.gguf"),
            name: "a",
            socket: "/e/a/tmp/engine.sock",
            port: 4711,
            key_file: "/e/a/data/key",
            context: Some(2048),
        }
    }

    #[test]
    fn an_engine_gets_what_it_says_that_it_knows() {
        let chosen = arguments(&EngineHelp::read(NEW), &wish()).unwrap();
        let line = "--model /m/a.gguf --host /e/a/tmp/engine.sock --api-key-file /e/a/data/key --alias a --cors-origins \
            http://harbor.invalid --no-cors-credentials --no-ui --no-slots --offline --jinja --parallel 1 \
            --sleep-idle-seconds 300 --ctx-size 2048";
        assert_eq!(chosen.args.join(" "), line);
        assert_eq!(chosen.address, EngineAddress::Socket("/e/a/tmp/engine.sock".into()));
        assert!(chosen.left_out.is_empty());
        assert!(!EngineHelp::read(NEW).has("--not-an-option"));
    }

    #[test]
    fn an_option_that_it_lacks_is_left_out_and_said() {
        let chosen = arguments(&EngineHelp::read(OLD), &EngineWish { context: None, ..wish() }).unwrap();
        let line = "--server --model /m/a.gguf --host 127.0.0.1 --port 4711 --api-key-file /e/a/data/key --nobrowser";
        assert_eq!((chosen.args.join(" "), chosen.address), (line.into(), EngineAddress::Port(4711)));
        let lacking = [
            "a Unix socket",
            "--alias",
            "--cors-origins",
            "--no-cors-credentials",
            "--no-slots",
            "--offline",
            "--jinja",
            "--parallel",
            "--sleep-idle-seconds",
        ];
        assert_eq!(chosen.left_out, lacking);
    }

    #[test]
    fn without_an_address_or_a_key_none_is_started() {
        let refused = |help: &str| arguments(&EngineHelp::read(help), &wish()).unwrap_err();
        assert!(refused("").contains("no options"));
        assert!(refused("--model X\n--port N\n").contains("address"));
        assert!(refused("--host H\n--port N\n").contains("--model"));
        assert!(refused("--host H\n--port N\n-m F\n").contains("--api-key-file"));
    }

    #[test]
    fn a_file_is_known_by_how_it_begins() {
        assert_eq!(ModelForm::of("a.gguf", b"GGUF\x03\0\0\0"), Ok(ModelForm::Gguf));
        assert_eq!(ModelForm::of("odd", b"GGUF"), Ok(ModelForm::Gguf));
        for head in [b"MZqFpD='".as_slice(), b"#!/bin/sh", b"\x7fELF\x02"] {
            assert_eq!(ModelForm::of("a.llamafile", head), Ok(ModelForm::Llamafile));
        }
        for (name, wrong) in [("a.gguf", "GGUF"), ("a.llamafile", "program"), ("a.txt", "neither")] {
            assert!(ModelForm::of(name, b"hello").unwrap_err().contains(wrong), "{name}");
            assert!(ModelForm::of(name, b"").is_err());
        }
    }

    #[test]
    fn memory_grows_with_the_file_and_the_conversation() {
        let gib = 1u64 << 30;
        assert!(memory_for(gib, 4096) > gib && memory_for(gib, 4096) < 2 * gib);
        assert!(memory_for(4 * gib, 32_768) > memory_for(4 * gib, 4096));
        assert!(memory_for(u64::MAX >> 8, u32::MAX) > 0);
        let most = largest_for(8 * gib, 8192);
        assert!(memory_for(most, 8192) <= 8 * gib && memory_for(most + 1, 8192) > 8 * gib);
        assert_eq!(largest_for(0, 8192), 0);
    }
}
