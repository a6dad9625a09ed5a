//! Output without end: as much as the pipes take, until nobody reads them. Must never keep an answer waiting for
//! longer than the client lets a full pipe stand.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use harbor_tests::faults::FLOOD;

use crate::server::Server;
use crate::startup::LIFETIME;

/// Messages that are right, and lines that are none.
const STDOUT: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"flood\"}}\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"nobody's\",\"progress\":1}}\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\",\"params\":{}}\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"file:///flood\"}}\n\
    this is no message, it is just more\n{\"half\":\n\n";

/// Begins to write messages and garbage.
pub fn begin_on_stdout(server: &Arc<Server>) {
    let server = Arc::clone(server);
    let piece = STDOUT.repeat(20);
    begin(move || server.out.flood(piece.as_bytes()));
}

/// Begins to write lines to stderr.
pub fn begin_on_stderr() {
    let piece = format!("{FLOOD}\n").repeat(80);
    begin(move || std::io::stderr().write_all(piece.as_bytes()).is_ok());
}

/// Begins to write a line to stdout, and goes on with it.
pub fn begin_line() {
    let piece = [b'x'; 1 << 16];
    begin(move || std::io::stdout().write_all(&piece).and_then(|()| std::io::stdout().flush()).is_ok());
}

fn begin(write: impl Fn() -> bool + Send + 'static) {
    let begun = Instant::now();
    thread::spawn(move || while begun.elapsed() < LIFETIME && write() {});
}
