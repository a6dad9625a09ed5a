//! What supervision reads from outside: settings, log files, command lines of packages, their package.json and README.

use harbor_bridge::store::packages::bins;
use harbor_bridge::store::server_logs::parse;
use harbor_ipc_proto::client::Supervision;
use harbor_ipc_proto::field::put_object;
use harbor_ipc_proto::hidden::has_hidden;
use harbor_policy::credentials::named_as_missing;
use harbor_policy::environment::wrong_of_others;
use harbor_policy::package::failure::{Unresolved, reason, unresolved};
use harbor_policy::package::readme::start_in;
use harbor_policy::package::usage::{GivenArguments, next_try};
use harbor_policy::package::{Ecosystem, Package, npm_program, recognise, resolve, source};
use harbor_policy::settings::Settings;

use super::Target;

pub(super) const SUPERVISION: Target = Target {
    name: "supervision",
    run: supervision,
    corpus: &[
        br#"{"restart":"always","restart_attempts":"unlimited","restart_delays_ms":[10,20],"auto_start":true}"#,
        br#"{"restart_attempts":3,"restart_jitter_percent":100,"start_timeout_ms":1000,"lazy":null}"#,
        br#"{"queue_wait_ms":0,"hung_grace_ms":100,"eof_grace_ms":0,"term_grace_ms":60000,"idle_stop_ms":1000}"#,
        br#"{"restart":"often"}"#,
        br#"{"lasy":true}"#,
        b"[]",
    ],
};

pub(super) const LOG_RECORD: Target = Target {
    name: "log_record",
    run: log_record,
    corpus: &[
        br#"{"t":1790000000000,"s":"stderr","x":"listening"}"#,
        br#"{"t":1,"s":"mcp","l":"warning","x":"\u0000\ud83d\ude00"}"#,
        br#"{"t":1,"s":"std"#,
        br#"[1,"stderr",null,"x"]"#,
    ],
};

pub(super) const PACKAGE: Target = Target {
    name: "package",
    run: package,
    corpus: &[
        b"npx\0-y\0@modelcontextprotocol/server-filesystem@2026.8.31\0/tmp",
        b"npx\0-y\0-p\0@scope/x\0x-cli\0--flag",
        b"uvx\0--from\0mcp-server-time[extra]==1\0mcp-server-time",
        b"/usr/bin/uvx\0mcp-server-fetch@latest",
        b"uv\0tool\0run\0x>=1,<2",
        b"npx\0--\0../x",
        b"npm:@playwright/mcp@1.2.3\0--headless",
        b"pypi:mcp-server-time[extra]==2026.10.19",
        b"git:https://example.org/a/b.git#v1.2",
        b"git:https:/h/a",
        b"git:ext::sh -c x",
        b"pypi:x\0No matching distribution found for x==9 (from versions: none)",
        b"npm:@a/b\0npm error code E404\nnpm error 404  '@a/b@*' is not in this registry.",
        b"npm:x\0Error: X_API_KEY is required",
    ],
};

pub(super) const PACKAGE_JSON: Target = Target {
    name: "package_json",
    run: package_json,
    corpus: &[
        br#"{"name":"x","bin":"dist/index.js"}"#,
        br#"{"bin":{"server-x":"./a.js","other":"b.js"}}"#,
        br#"{"bin":"../../../etc/passwd"}"#,
        br#"{"bin":{"../x":"/bin/sh"}}"#,
        br#"{"bin":7}"#,
    ],
};

pub(super) const README: Target = Target {
    name: "readme",
    run: readme,
    corpus: &[
        br#"{"mcpServers":{"x":{"command":"npx","args":["-y","x@latest","--x-api-key=YOUR-KEY","--stdio"]}}} or X_API_KEY"#,
        br#""servers": {"x": {"command": "cmd", "args": ["/c", "npx", "x", "--token", "<token>",], /* c */ "env": {"A":"1"},}} // d"#,
        br#"{"mcpServers":{"x":{"command":"bunx","args":["x","a`b","\u001b[2J"]},"y":{"command":"x","args":["it's"]}}}"#,
        b"\"mcpServers\":{\"\\\"",
    ],
};

/// What is read can be written and read again, and is either in its ranges or refused by name.
fn supervision(bytes: &[u8]) {
    let Ok(read) = Supervision::parse(&String::from_utf8_lossy(bytes)) else { return };
    let mut text = Vec::new();
    put_object(&mut text, &read);
    assert_eq!(Supervision::parse(std::str::from_utf8(&text).expect("it is JSON")), Ok(read.clone()));
    if let Ok(settings) = Settings::new(&read, false) {
        assert!(!settings.restart.delays.is_empty());
        assert!((1000..=600_000).contains(&settings.start_timeout.as_millis()));
    }
}

fn log_record(bytes: &[u8]) {
    if let Some(record) = parse(bytes) {
        assert!(record.text.len() <= bytes.len());
    }
}

/// The words are separated by zero bytes. Whatever is recognised, an installer gets no option and no path from it.
fn package(bytes: &[u8]) {
    let words: Vec<String> =
        bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let Some(package) = recognise(&words[0], &words[1..]) else { return };
    let _ = source::default_name(&package);
    installer_words(&package, &words[1..].join("\n"));
    if package.ecosystem == Ecosystem::Git {
        let (address, wanted) = package.address();
        let schemes = ["https://", "ssh://", "file://"];
        assert!(schemes.iter().any(|scheme| address.to_ascii_lowercase().starts_with(scheme)), "{package:?}");
        assert!(!wanted.unwrap_or_default().starts_with('-') && !address.contains(char::is_whitespace));
        return;
    }
    assert!(!package.name.contains("..") && !package.name.starts_with(['/', '-']), "{package:?}");
    assert!(package.name.matches('/').count() <= usize::from(package.name.starts_with('@')), "{package:?}");
    for has_uv in [false, true] {
        let last = resolve(&package, "/d", has_uv, None, has_uv).pop().expect("there is a step");
        let behind = last.iter().skip_while(|word| *word != "--").skip(1);
        assert!(behind.clone().count() == 1, "{last:?}");
        assert!(behind.clone().all(|word| !word.starts_with('-') && !word.contains(char::is_whitespace)));
    }
}

/// Whatever an installer says, what is read out of it are names.
fn installer_words(package: &Package, said: &str) {
    let _ = reason(package, said);
    if let Unresolved::NothingOf { name, .. } = unresolved(said) {
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)), "{name:?}");
    }
    let variable = named_as_missing(said).unwrap_or_default();
    assert!(
        variable.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'),
        "{variable:?}"
    );
}

/// Whatever a package says of its programs, what is looked for is a plain name.
fn package_json(bytes: &[u8]) {
    let Ok(bins) = bins(bytes) else { return };
    for words in [&["@scope/server-x"][..], &["-p", "x", "other"]] {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let package = recognise("npx", &words).expect("these are packages");
        if let Ok(program) = npm_program(&package, &bins) {
            assert!(
                !program.is_empty() && !program.contains('/') && !program.starts_with('.'),
                "{program:?}"
            );
        }
    }
}

/// Whatever a README says, what is shown of it is short and plain, and names no variable that is the person's to set.
fn readme(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let package = recognise("npm:x", &[]).expect("this is one");
    let Some(start) = start_in(&text, &package, "X_TOKEN is required") else { return };
    assert!(start.args.len() <= 24 && start.variables.len() <= 12, "{start:?}");
    assert!(start.variables.iter().all(|(name, _)| wrong_of_others(name).is_none()), "{start:?}");
    let told = next_try(&package, "", None, Some(&text), GivenArguments::default()).unwrap_or_default();
    assert!(told.len() <= 600 && !has_hidden(&told) && !told.contains(['\n', '\r', '\t']), "{told:?}");
    assert!(told.matches('`').count() <= 2, "{told:?}");
}
