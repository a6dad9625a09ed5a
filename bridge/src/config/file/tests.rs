//! What a file configures, how far each number goes, and what is said about a file that is wrong.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use harbor_home::CONFIG_FILE;
use harbor_policy::tabs::uploads::UploadDirectories;
use harbor_policy::tabs::urls::Sites;
use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> HostConfig {
    parse(text).unwrap()
}

fn complaint(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

const EVERYTHING: &str = r#"
[grants]
onceSeconds = 60

[limits]
maxCallsPerRun = 6
maxConcurrentPerOrigin = 3
defaultTimeoutMs = 20_000
queueLength = 7
queueWaitMs = 500
callsPerMinutePerOrigin = 30
callsPerMinutePerServer = 90
runStaleSeconds = 61

[limits.origin."https://Example.com"]
maxConcurrentPerOrigin = 4
callsPerMinutePerOrigin = 0

[limits.origin.owner]
callsPerMinutePerOrigin = 100

[limits.server.time]
callsPerMinutePerServer = 10

[limits.server.slow]
defaultTimeoutMs = 3600000

[host]
auditRequired = true
checkOutput = true
changedTools = "warn"

[mcp]
firstUse = "ask"

[pages]
textGeneration = true
toolAccess = true
toolCalling = true
agentRuns = false
browserInteraction = true
screenshots = true
browserControl = false

[metrics]
origins = true
listen = "[::1]:9464"

[traces]
endpoint = "http://[::1]:4318"
sample = 10
origins = true

[oauth]
clientMetadataUrl = "https://example.com/harbor.json"

[catalog]
enabled = false
intervalMinutes = 10080
registryUrl = "https://registry.example/base"
awesomeUrl = ""
githubApiUrl = "http://localhost:1"
npmDownloadsUrl = "https://npm.example/{name}"
pypiDownloadsUrl = "https://pypi.example/{name}/recent"

[browser]
blocked = ["bank.example", "*.Shop.example."]
askFirst = ["127.1"]
uploads = ["/home/me/Documents/", "/srv/up"]
groups = ["testing"]

[secrets]
store = "keyring"
passphraseFile = "/run/secrets/harbor"
"#;

const DEFAULT_LIMITS: OriginLimits = OriginLimits {
    max_calls_per_run: Some(5),
    concurrent: 2,
    queue: 16,
    queue_wait_ms: 10_000,
    per_minute: Some(600),
    default_timeout: Some(Duration::from_secs(30)),
};

const OWNER_LIMITS: OriginLimits = OriginLimits {
    max_calls_per_run: None,
    concurrent: 0,
    queue: 16,
    queue_wait_ms: 10_000,
    per_minute: None,
    default_timeout: None,
};

#[test]
fn an_empty_file_means_the_defaults() {
    let defaults = HostConfig {
        once: Duration::from_secs(600),
        run_stale: Duration::from_secs(600),
        audit_required: false,
        check_output: false,
        changed_tools: ChangedTools::Block,
        first_use: FirstUse::All,
        metrics_of_origins: false,
        metrics_listen: None,
        traces_endpoint: None,
        traces_sample: 100,
        traces_of_origins: false,
        client_document: None,
        catalog: CatalogConfig::default(),
        sites: Sites::default(),
        browser_groups: BTreeSet::new(),
        secrets: SecretsConfig { store: Choice::File, passphrase_file: None },
        pages: PagesConfig::default(),
        every_origin: DEFAULT_LIMITS,
        every_server: ServerLimits::default(),
        origins: BTreeMap::new(),
        servers: BTreeMap::new(),
    };
    for text in ["", "# nothing\r\n", "[grants]\n[limits]\n[limits.origin]\n[limits.server]\n[host]\n"] {
        assert_eq!(parsed(text), defaults, "{text}");
    }
    assert_eq!(HostConfig::default(), defaults);
    assert_eq!((defaults.limits_of("https://x"), defaults.limits_of(OWNER)), (DEFAULT_LIMITS, OWNER_LIMITS));
    assert_eq!(defaults.server_limits("time"), ServerLimits::default());
}

/// What docs/configuration.md shows as the defaults is what they are; its second example is read too.
#[test]
fn the_document_tells_the_truth() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md")).unwrap();
    let mut examples = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    assert_eq!(parsed(examples.next().unwrap()), HostConfig::default());
    let own = parsed(examples.next().unwrap());
    assert_eq!(own.limits_of(OWNER), OriginLimits { per_minute: Some(100), ..OWNER_LIMITS });
    assert_eq!(own.limits_of("https://example.com"), OriginLimits { concurrent: 4, ..DEFAULT_LIMITS });
    assert_eq!(own.server_limits("time").per_minute, Some(30));
    assert_eq!(examples.next(), None);
}

#[test]
fn every_key_is_read() {
    let every_origin = OriginLimits {
        max_calls_per_run: Some(6),
        concurrent: 3,
        queue: 7,
        queue_wait_ms: 500,
        per_minute: Some(30),
        default_timeout: Some(Duration::from_secs(20)),
    };
    let example = OriginLimits { concurrent: 4, per_minute: None, ..every_origin };
    let owner = OriginLimits { per_minute: Some(100), ..OWNER_LIMITS };
    let time = ServerLimits { per_minute: Some(10), ..ServerLimits::default() };
    let slow = ServerLimits {
        per_minute: Some(90),
        default_timeout: Some(Duration::from_secs(3600)),
        ..ServerLimits::default()
    };
    let pages = parsed(EVERYTHING).pages;
    assert_eq!(Feature::ALL.map(|one| pages.has(one)), [true, true, true, false, true, true, false]);
    assert_eq!(
        parsed(EVERYTHING),
        HostConfig {
            pages,
            once: Duration::from_secs(60),
            run_stale: Duration::from_secs(61),
            audit_required: true,
            check_output: true,
            changed_tools: ChangedTools::Warn,
            first_use: FirstUse::Ask,
            metrics_of_origins: true,
            metrics_listen: "[::1]:9464".parse().ok(),
            traces_endpoint: Endpoint::of_collector("http://[::1]:4318"),
            traces_sample: 10,
            traces_of_origins: true,
            client_document: Some("https://example.com/harbor.json".into()),
            sites: Sites {
                blocked: Hosts::parse(["bank.example", "*.shop.example"]).unwrap(),
                ask_first: Hosts::parse(["127.0.0.1"]).unwrap(),
                uploads: UploadDirectories::parse(["/home/me/Documents", "/srv/up"]).unwrap(),
            },
            browser_groups: BTreeSet::from(["testing".into()]),
            secrets: SecretsConfig {
                store: Choice::Keyring,
                passphrase_file: Some("/run/secrets/harbor".into()),
            },
            catalog: CatalogConfig {
                enabled: false,
                interval: Duration::from_secs(604_800),
                registry: Some("https://registry.example/base".into()),
                awesome: None,
                github_api: Some("http://localhost:1".into()),
                npm_downloads: Some("https://npm.example/{name}".into()),
                pypi_downloads: Some("https://pypi.example/{name}/recent".into()),
            },
            every_origin,
            every_server: ServerLimits { per_minute: Some(90), ..ServerLimits::default() },
            origins: [("https://example.com".to_owned(), example), (OWNER.to_owned(), owner)].into(),
            servers: [("time".to_owned(), time), ("slow".to_owned(), slow)].into(),
        }
    );
}

#[test]
fn what_an_origin_or_server_does_not_say_is_inherited_but_the_owner_inherits_nothing() {
    let config = parsed(EVERYTHING);
    let example = config.limits_of("https://example.com");
    assert_eq!((example.concurrent, example.queue, example.per_minute), (4, 7, None));
    assert_eq!(config.limits_of("https://other.example"), config.every_origin);
    assert_eq!(config.limits_of(OWNER), OriginLimits { per_minute: Some(100), ..OWNER_LIMITS });
    assert_eq!(
        config.server_limits("slow"),
        ServerLimits {
            per_minute: Some(90),
            default_timeout: Some(Duration::from_secs(3600)),
            ..ServerLimits::default()
        }
    );
    assert_eq!(config.server_limits("other"), config.every_server);
    // The order of tables means nothing in TOML.
    let reversed = parsed("limits.origin.\"https://x\".queueLength = 1\nlimits.queueWaitMs = 2\n");
    assert_eq!(
        reversed.limits_of("https://x"),
        OriginLimits { queue: 1, queue_wait_ms: 2, ..DEFAULT_LIMITS }
    );
}

/// The edges of every number, wherever it may stand.
#[test]
fn ranges_are_exact() {
    let of_origins = ["limits", "limits.origin.owner", "limits.origin.\"https://x\""];
    let of_servers = ["limits", "limits.server.x"];
    let timeouts = ["limits", "limits.origin.owner", "limits.origin.\"https://x\"", "limits.server.x"];
    let cases: &[(&[&str], &str, i64, i64)] = &[
        (&["grants"], "onceSeconds", 1, 86_400),
        (&["traces"], "sample", 1, 100),
        (&["limits"], "runStaleSeconds", 1, 86_400),
        (&of_origins, "maxCallsPerRun", 1, 1000),
        (&of_origins, "maxConcurrentPerOrigin", 1, 1000),
        (&timeouts, "defaultTimeoutMs", 1, 3_600_000),
        (&of_origins, "queueLength", 0, 1024),
        (&of_origins, "queueWaitMs", 0, 600_000),
        (&of_origins, "callsPerMinutePerOrigin", 0, 1_000_000),
        (&of_servers, "callsPerMinutePerServer", 0, 1_000_000),
    ];
    for (table, (key, least, most)) in cases
        .iter()
        .flat_map(|(tables, key, least, most)| tables.iter().map(move |t| (t, (key, least, most))))
    {
        for value in [*least, *most] {
            let text = format!("[{table}]\n{key} = {value}\n");
            assert!(parse(&text).is_ok(), "{text}");
        }
        for value in [least - 1, most + 1, i64::MIN, i64::MAX, i64::from(u32::MAX) + 2] {
            assert_eq!(
                complaint(&format!("[{table}]\n{key} = {value}\n")),
                format!("config.toml:2: {table}.{key}: expected a whole number from {least} to {most}")
            );
        }
    }
}

#[test]
fn numbers_may_be_written_as_toml_allows() {
    assert_eq!(parsed("[limits]\nqueueLength = +1_0\n").every_origin.queue, 10);
    assert_eq!(parsed("[limits]\nqueueLength = 0x10\n").every_origin.queue, 16);
    assert_eq!(parsed("\u{feff}limits = { queueLength = 3 }").every_origin.queue, 3);
}

#[test]
fn a_value_of_another_kind_is_told_by_line_and_key() {
    for (text, wanted) in [
        (
            "\n\n[limits]\n# four\n\nmaxCallsPerRun = 1\nqueueLength = 1025\n",
            "config.toml:7: limits.queueLength: expected a whole number from 0 to 1024",
        ),
        (
            "[grants]\nonceSeconds = 10.0\n",
            "config.toml:2: grants.onceSeconds: expected a whole number from 1 to 86400",
        ),
        (
            "[grants]\nonceSeconds = \"10\"\n",
            "config.toml:2: grants.onceSeconds: expected a whole number from 1 to 86400",
        ),
        ("[host]\r\nauditRequired = 1\r\n", "config.toml:2: host.auditRequired: expected true or false"),
        ("[host]\n\n[host.checkOutput]\n", "config.toml:3: host.checkOutput: expected true or false"),
        (
            "[host]\nchangedTools = \"Warn\"\n",
            "config.toml:2: host.changedTools: expected \"block\" or \"warn\"",
        ),
        (
            "[mcp]\nfirstUse = \"some\"\n",
            "config.toml:2: mcp.firstUse: expected \"all\" or \"ask\" or \"none\"",
        ),
        (
            "[metrics]\nlisten = \"0.0.0.0:9464\"\n",
            "config.toml:2: metrics.listen: expected an address of this machine's loopback and a port, such as \
             \"127.0.0.1:9464\" or \"[::1]:9464\"",
        ),
        (
            "[traces]\nendpoint = \"https://user:secret@collector.example\"\n",
            "config.toml:2: traces.endpoint: expected the address of a collector that accepts OTLP over plain HTTP, \
             such as \"http://127.0.0.1:4318\"; for https, let a collector on this machine pass the traces on",
        ),
        (
            "[secrets]\nstore = \"keychain\"\n",
            "config.toml:2: secrets.store: expected \"file\" or \"keyring\"",
        ),
        (
            "[secrets]\npassphraseFile = \"~/p\"\n",
            "config.toml:2: secrets.passphraseFile: expected the absolute path of a file with the passphrase",
        ),
        ("[host]\nchangedTools = true\n", "config.toml:2: host.changedTools: expected \"block\" or \"warn\""),
        ("\nlimits = 5\n", "config.toml:2: limits: expected a table"),
        ("[[limits]]\n", "config.toml:1: limits: expected a table"),
        ("[limits]\norigin = []\n", "config.toml:2: limits.origin: expected a table"),
        ("[limits.server]\n\ntime = 10\n", "config.toml:3: limits.server.time: expected a table"),
        (
            "[limits.origin.owner]\nqueueLength = -1\n",
            "config.toml:2: limits.origin.owner.queueLength: expected a whole number from 0 to 1024",
        ),
        (
            "[limits.origin.\"https://x\"]\nqueueLength = 7\nqueueWaitMs = [\n1]\n",
            "config.toml:3: limits.origin.\"https://x\".queueWaitMs: expected a whole number from 0 to 600000",
        ),
    ] {
        assert_eq!(complaint(text), wanted, "{text}");
    }
}

#[test]
fn an_unknown_key_is_told_with_what_was_meant() {
    for (text, wanted) in [
        (
            "[limits]\nqueueLength = 1\nqueuelenght = 2\n",
            "config.toml:3: limits.queuelenght: unknown key; the keys of this table are maxCallsPerRun, \
             maxConcurrentPerOrigin, defaultTimeoutMs, queueLength, queueWaitMs, callsPerMinutePerOrigin, \
             callsPerMinutePerServer, runStaleSeconds, origin, server",
        ),
        (
            "[limits]\nqueuelength = 1\n",
            "config.toml:2: limits.queuelength: unknown key; did you mean queueLength?",
        ),
        ("\n[limit]\n", "config.toml:2: limit: unknown key; did you mean limits?"),
        (
            "onceSeconds = 1\n",
            "config.toml:1: onceSeconds: unknown key; the keys of this table are grants, limits, host, mcp, pages, \
             metrics, traces, catalog, oauth, secrets, browser",
        ),
        (
            "[grants]\nonce = 1\n",
            "config.toml:2: grants.once: unknown key; the keys of this table are onceSeconds",
        ),
        (
            "[host]\n\"audit required\" = true\n",
            "config.toml:2: host.\"audit required\": unknown key; did you mean auditRequired?",
        ),
        (
            "[limits.server.time]\nqueueLength = 1\n",
            "config.toml:2: limits.server.time.queueLength: unknown key; the keys of this table are maxCallsPerRun, \
             maxConcurrentPerOrigin, defaultTimeoutMs, \
             callsPerMinutePerServer",
        ),
        (
            "[limits.origin.owner]\nrunStaleSeconds = 1\n",
            "config.toml:2: limits.origin.owner.runStaleSeconds: unknown key; the keys of this table are maxCallsPerRun, \
             maxConcurrentPerOrigin, defaultTimeoutMs, queueLength, queueWaitMs, callsPerMinutePerOrigin",
        ),
        // The first one in the file, whatever the alphabet says.
        (
            "z = 1\na = 2\n",
            "config.toml:1: z: unknown key; the keys of this table are grants, limits, host, mcp, pages, metrics, \
             traces, catalog, oauth, secrets, browser",
        ),
    ] {
        assert_eq!(complaint(text), wanted, "{text}");
    }
    let long = complaint(&format!("\"{}\" = 1\n", "\u{1}é".repeat(1000)));
    assert!(long.len() < 400 && !long.contains('\u{1}'), "{long}");
}

#[test]
fn names_of_origins_and_servers_are_checked() {
    for (text, wanted) in [
        (
            "[limits.origin.\"https://x/y\"]\n",
            "config.toml:1: limits.origin.\"https://x/y\": expected an origin or owner: an origin ends after the host \
             and the port: leave out path, query and fragment",
        ),
        (
            "[limits.origin.Owner]\n",
            "config.toml:1: limits.origin.Owner: expected an origin or owner: an origin begins with its scheme and \
             '://', as in https://example.org",
        ),
        (
            "[limits.origin.\"https://x\"]\n\n[limits.origin.\"HTTPS://X\"]\nqueueLength = 1\n",
            "config.toml:3: limits.origin.\"HTTPS://X\": the same origin as in line 1",
        ),
        (
            "limits.server.\"a/b\" = {}\n",
            "config.toml:1: limits.server.\"a/b\": expected a server's name: 1 to 64 letters, digits, '.', '_' or \
             '-', starting with a letter or digit, without '..' or '__'",
        ),
    ] {
        assert_eq!(complaint(text), wanted, "{text}");
    }
}

#[test]
fn what_is_no_toml_is_told_in_one_line() {
    for (text, wanted) in [
        ("[limits\n", "config.toml:1: unclosed table, expected `]`"),
        ("\n\nqueueLength\n", "config.toml:3: key with no value, expected `=`"),
        (
            "[host]\nauditRequired = yes\n",
            "config.toml:2: string values must be quoted, expected literal string",
        ),
        ("[host]\ncheckOutput = true\ncheckOutput = true\n", "config.toml:3: duplicate key"),
        ("[host]\n[host]\n", "config.toml:2: duplicate key"),
    ] {
        assert_eq!(complaint(text), wanted, "{text}");
    }
}

#[test]
fn a_file_that_is_not_there_means_the_defaults() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(read(&home.path().join(CONFIG_FILE)), Ok(HostConfig::default()));
    assert_eq!(read(&home.path().join("no/home").join(CONFIG_FILE)), Ok(HostConfig::default()));
}

#[test]
fn a_file_of_ones_own_is_read_also_behind_a_link() {
    let home = tempfile::tempdir().unwrap();
    let (path, link) = (home.path().join("kept.toml"), home.path().join(CONFIG_FILE));
    fs::write(&path, EVERYTHING).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    symlink(&path, &link).unwrap();
    assert_eq!(read(&link), Ok(parsed(EVERYTHING)));
    fs::write(&path, "[host]\nauditRequired = maybe\n").unwrap();
    assert!(read(&link).unwrap_err().to_string().starts_with("config.toml:2: "));
}

#[test]
fn what_is_no_file_of_ones_own_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(CONFIG_FILE);
    let refused = |why: &str| {
        let wanted = format!("cannot use {}: {why}", path.display());
        assert_eq!(read(&path).unwrap_err().to_string(), wanted);
    };
    fs::create_dir(&path).unwrap();
    refused("it is not a regular file");
    fs::remove_dir(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused("it is not a regular file");
    fs::remove_file(&path).unwrap();
    symlink(&path, &path).unwrap();
    refused("Too many levels of symbolic links (os error 40)");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        refused("other users can write to it; run `chmod go-w` on it");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(read(&path), Ok(HostConfig::default()));
    // Only root may give a file away.
    if geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        refused("it belongs to another user; replace it with your own copy");
    }
}

#[test]
fn a_file_is_small_and_text() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(CONFIG_FILE);
    let write = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        read(&path).map_err(|error| error.to_string())
    };
    let mut whole = vec![b'#'; 1024 * 1024];
    assert_eq!(write(&whole), Ok(HostConfig::default()));
    whole.push(b'#');
    assert_eq!(write(&whole), Err(format!("cannot use {}: it is larger than 1 MiB", path.display())));
    assert_eq!(
        write(b"[host]\n# \xc3\xa9\n# \xe9\n"),
        Err("config.toml:3: expected text in UTF-8".to_owned())
    );
}

proptest! {
    #[test]
    fn an_origin_has_its_own_value_or_everyones(every in 0u32..=1024, own in proptest::option::of(0u32..=1024)) {
        let own_table = own.map(|n| format!("[limits.origin.\"https://x\"]\nqueueLength = {n}\n"));
        let text = format!("{}[limits]\nqueueLength = {every}\n", own_table.unwrap_or_default());
        prop_assert_eq!(parsed(&text).limits_of("https://x").queue, own.unwrap_or(every));
        prop_assert_eq!(parsed(&text).limits_of("https://y").queue, every);
        prop_assert_eq!(parsed(&text).limits_of(OWNER).queue, 16);
    }
}
