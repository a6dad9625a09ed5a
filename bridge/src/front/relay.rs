//! The native host of a browser: copies bytes between the browser's pipes and the bridge.
//!
//! ```text
//!  browser ─stdin─► pump ─► socket ─► bridge
//!  browser ◄─stdout─ pump ◄─ socket ◄─ bridge
//! ```
//!
//! Owns the browser's arguments, the check of extensions, and the order in which the two directions end. Must never look
//! into a frame, or print anything but frames on stdout. It is one process per port and keeps nothing: the bridge would
//! have to learn it again.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use harbor_child::capacity::{TO_CLIENT, widen};
use harbor_child::socket::BlockingReader;
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::frame::put_frame;
use serde_json::Value;

use harbor_client_configs::extensions::{is_harbor, is_id};
use harbor_home::Paths;
use harbor_home::dial::{self, DIAL_LIMIT, Role};

/// The buffer of one direction, in bytes.
const PUMP: usize = 64 * 1024;

/// How long the bridge may still send after the browser is gone. Browsers kill their host after 2 s.
const LAST_WORDS: Duration = Duration::from_millis(1000);

/// The longest list of browsers with a native host, in bytes.
const MAX_INSTALLED: u64 = 1024 * 1024;

/// The end of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Stdin ended: the port was closed.
    BrowserClosed,
    /// Stdout takes no more: the browser is gone.
    BrowserDeaf,
    /// The bridge closed the socket; everything that it sent has been passed on.
    BridgeClosed,
    /// The socket takes no more.
    BridgeDeaf,
}

/// The id of the extension for which a browser started us, from our arguments without the program's name. Chromium gives
/// `chrome-extension://ID/`, Firefox the manifest's path and the id. `None` if no browser started us.
#[must_use]
pub fn extension_id(args: &[OsString]) -> Option<String> {
    let text = |at: usize| args.get(at).and_then(|arg| arg.to_str());
    let id = match text(0).and_then(|origin| origin.strip_prefix("chrome-extension://")) {
        Some(rest) => rest.trim_end_matches('/'),
        None if Path::new(args.first()?).is_absolute() => text(1)?,
        None => return None,
    };
    is_id(id).then(|| id.to_owned())
}

/// True if the native host was installed for this extension: Harbor's own, or one named to `harbor host install`.
fn is_registered(paths: &Paths, extension_id: &str) -> bool {
    if is_harbor(extension_id) {
        return true;
    }
    let mut text = String::new();
    let opened = File::open(paths.native_hosts());
    let _ = opened.and_then(|file| file.take(MAX_INSTALLED).read_to_string(&mut text));
    // A list that cannot be read names nobody.
    let installed: Value = serde_json::from_str(&text).unwrap_or_default();
    let manifests = installed["manifests"].as_array().into_iter().flatten();
    let mut ids = manifests.filter_map(|manifest| manifest["extension_ids"].as_array()).flatten();
    ids.any(|id| id == extension_id)
}

/// Serves one port of a browser until it closes. Returns the process's exit code. The browser sees any end of
/// this process as the end of the port.
#[must_use]
pub fn run(paths: &Paths, args: &[OsString]) -> u8 {
    let (Ok(stdin), Ok(mut stdout)) = (unbuffered(io::stdin()), unbuffered(io::stdout())) else { return 1 };
    let Some(extension_id) = extension_id(args) else {
        let message = "the arguments do not name a browser extension; browsers start this program themselves";
        return say_failure(&mut stdout, Code::InvalidParams, message);
    };
    if !is_registered(paths, &extension_id) {
        let message = format!(
            "Harbor is not installed for the extension {extension_id}; allow it: `harbor host install --extension-id {extension_id}`"
        );
        return say_failure(&mut stdout, Code::PermissionDenied, &message);
    }
    widen(&stdout, TO_CLIENT);
    match dial::connect(paths, &Role::Relay { extension_id }, DIAL_LIMIT) {
        Ok(bridge) => match relay(bridge, stdin, stdout, LAST_WORDS) {
            Ok(End::BrowserClosed | End::BrowserDeaf) => 0,
            Ok(End::BridgeClosed | End::BridgeDeaf) | Err(_) => 1,
        },
        Err(error) => say_failure(&mut stdout, error.code(), &error.to_string()),
    }
}

/// A stream without its own buffer. The standard streams have buffers, and stdout waits for line ends: frames must not.
fn unbuffered(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

fn say_failure(stdout: &mut impl Write, code: Code, message: &str) -> u8 {
    let mut frame = Vec::new();
    put_frame(&mut frame, |out| Envelope::nobody().put_error(out, &ErrorBody::new(code, message)));
    // If the browser does not read it, nothing is left to do: the end of the process says the same.
    let _ = stdout.write_all(&frame);
    1
}

/// Copies until one direction ends. If the other direction may still carry something, it gets `last_words` to
/// finish. Its thread may stay blocked in a read until the process ends.
fn relay(
    bridge: UnixStream,
    browser_in: impl Read + Send + 'static,
    browser_out: impl Write + Send + 'static,
    last_words: Duration,
) -> io::Result<End> {
    let (tell, ended) = mpsc::channel();
    let (from_bridge, to_bridge) = (BlockingReader(bridge.try_clone()?), bridge.try_clone()?);
    spawn_pump((from_bridge, End::BridgeClosed), (browser_out, End::BrowserDeaf), tell.clone())?;
    spawn_pump((browser_in, End::BrowserClosed), (to_bridge, End::BridgeDeaf), tell)?;
    let first = ended.recv().unwrap_or(End::BridgeClosed);
    if first == End::BrowserClosed {
        // Half closed: the bridge sees the end, and its last frames still arrive.
        let _ = bridge.shutdown(Shutdown::Write);
    }
    if matches!(first, End::BrowserClosed | End::BridgeDeaf) {
        let _ = ended.recv_timeout(last_words);
    }
    Ok(first)
}

/// Starts a pump. Each side comes with the meaning of its end.
fn spawn_pump(
    (from, closed): (impl Read + Send + 'static, End),
    (to, deaf): (impl Write + Send + 'static, End),
    tell: Sender<End>,
) -> io::Result<()> {
    let run = move || {
        let end = if pump(from, to) { closed } else { deaf };
        // The receiver is gone only when the process is about to be.
        let _ = tell.send(end);
    };
    thread::Builder::new().spawn(run).map(drop)
}

/// Copies until `from` ends (true) or `to` takes no more (false).
fn pump(mut from: impl Read, mut to: impl Write) -> bool {
    let mut buffer = vec![0; PUMP];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return true,
            Ok(n) if to.write_all(&buffer[..n]).is_err() => return false,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_ipc_proto::frame::HEADER;

    const SOON: Duration = Duration::from_secs(10);

    fn args(args: &[&str]) -> Vec<OsString> {
        args.iter().map(OsString::from).collect()
    }

    /// A relay in a thread of its own, with the far ends of its streams: bridge, stdin, stdout.
    struct Rig {
        bridge: UnixStream,
        stdin: UnixStream,
        stdout: UnixStream,
        relay: thread::JoinHandle<io::Result<End>>,
    }

    fn start() -> Rig {
        let pair = || UnixStream::pair().unwrap();
        let ((bridge, b), (stdin, i), (stdout, o)) = (pair(), pair(), pair());
        stdout.set_read_timeout(Some(SOON)).unwrap();
        bridge.set_read_timeout(Some(SOON)).unwrap();
        Rig { bridge, stdin, stdout, relay: thread::spawn(move || relay(b, i, o, SOON)) }
    }

    fn read(mut from: &UnixStream, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn browsers_name_the_extension_in_their_own_ways() {
        let chromium = "chrome-extension://abcdefghijklmnopabcdefghijklmnop/";
        assert_eq!(extension_id(&args(&[chromium])).unwrap(), "abcdefghijklmnopabcdefghijklmnop");
        assert_eq!(extension_id(&args(&[chromium, "--parent-window=0"])).unwrap().len(), 32);
        let firefox =
            args(&["/home/alice/.mozilla/native-messaging-hosts/harbor.json", "harbor@example.org"]);
        assert_eq!(extension_id(&firefox).unwrap(), "harbor@example.org");
        for bad in [
            &[][..],
            &["serve"],
            &["serve", "harbor@example.org"],
            &["/a/harbor.json"],
            &["/a/harbor.json", ""],
            &["chrome-extension://"],
            &["chrome-extension://a/b/"],
            &["/a/harbor.json", "a b"],
        ] {
            assert_eq!(extension_id(&args(bad)), None, "{bad:?}");
        }
    }

    #[test]
    fn extensions_that_nobody_has_installed_are_nobody() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::at(home.path());
        assert!(is_registered(&paths, "harbor@harbor") && !is_registered(&paths, "me@example.org"));
        std::fs::create_dir(home.path().join("native-host")).unwrap();
        let put = |text: &str| std::fs::write(paths.native_hosts(), text).unwrap();
        put(r#"{"manifests":[{"extension_ids":[]},{"extension_ids":["me@example.org"]}]}"#);
        assert!(is_registered(&paths, "me@example.org") && !is_registered(&paths, "you@example.org"));
        put("{");
        assert!(is_registered(&paths, "harbor@harbor") && !is_registered(&paths, "me@example.org"));
    }

    #[test]
    fn bytes_go_both_ways_unchanged() {
        let rig = start();
        let up: Vec<u8> = (0..300_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let down: Vec<u8> = up.iter().rev().copied().collect();
        thread::scope(|scope| {
            scope.spawn(|| (&rig.stdin).write_all(&up).unwrap());
            scope.spawn(|| (&rig.bridge).write_all(&down).unwrap());
            let heard = scope.spawn(|| read(&rig.bridge, up.len()));
            assert_eq!(read(&rig.stdout, down.len()), down);
            assert_eq!(heard.join().unwrap(), up);
        });
    }

    #[test]
    fn when_the_browser_closes_the_bridge_hears_it_and_has_the_last_word() {
        let mut rig = start();
        drop(rig.stdin);
        assert_eq!(rig.bridge.read_to_end(&mut Vec::new()).unwrap(), 0);
        rig.bridge.write_all(b"bye").unwrap();
        drop(rig.bridge);
        assert_eq!(rig.relay.join().unwrap().unwrap(), End::BrowserClosed);
        assert_eq!(read(&rig.stdout, 3), b"bye");
    }

    #[test]
    fn a_silent_bridge_does_not_keep_a_relay_whose_browser_closed() {
        let pair = || UnixStream::pair().unwrap();
        let ((_bridge, b), (stdin, i), (_stdout, o)) = (pair(), pair(), pair());
        drop(stdin);
        assert_eq!(relay(b, i, o, Duration::from_millis(1)).unwrap(), End::BrowserClosed);
    }

    #[test]
    fn when_the_bridge_goes_the_relay_goes_at_once() {
        let mut rig = start();
        rig.bridge.write_all(b"bye").unwrap();
        drop(rig.bridge);
        assert_eq!(rig.relay.join().unwrap().unwrap(), End::BridgeClosed);
        assert_eq!(read(&rig.stdout, 3), b"bye");
    }

    #[test]
    fn a_deaf_browser_ends_the_relay() {
        let mut rig = start();
        drop(rig.stdout);
        rig.bridge.write_all(b"hello?").unwrap();
        assert_eq!(rig.relay.join().unwrap().unwrap(), End::BrowserDeaf);
    }

    #[test]
    fn a_failure_is_one_error_frame() {
        let mut out = Vec::new();
        assert_eq!(say_failure(&mut out, Code::VersionMismatch, "too old"), 1);
        let text = std::str::from_utf8(&out[HEADER..]).unwrap();
        assert_eq!(
            text,
            r#"{"type":"error","request_id":"","error":{"code":"version_mismatch","message":"too old"}}"#
        );
        assert_eq!(out[..HEADER], u32::try_from(text.len()).unwrap().to_le_bytes());
    }
}
