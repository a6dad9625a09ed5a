//! How a conversation begins, in both generations, and the faults of beginnings.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use harbor_tests::faults::{EXIT_AFTER_CONTACT, Fault, OLD_VERSION, REFUSAL};

use crate::floods;
use crate::server::{Request, Server};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// The legacy handshake: nothing, `initialize` was answered, `notifications/initialized` came.
const INITIALIZED: u8 = 1;
const READY: u8 = 2;

/// [`Fault::HangsOnProbe`] was asked something else before.
const HUNG: u8 = 3;

const CAPABILITIES: &str = "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true,\"listChanged\":true},\
     \"prompts\":{\"listChanged\":true},\"completions\":{},\"logging\":{},\
     \"experimental\":{\"zebra\":{\"b\":1,\"a\":12345678901234567890}}}";

const INFO: &str = "{\"name\":\"double\",\"version\":\"1.2.3\"}";
const INSTRUCTIONS: &str = "\"Call echo.\"";

/// Whether the request may be answered as usual; if not, everything that is to be said has been said.
pub fn admit(server: &Arc<Server>, request: &Request) -> bool {
    if server.settings.modern { admit_modern(server, request) } else { admit_legacy(server, request) }
}

/// `notifications/initialized` came.
pub fn on_initialized(server: &Arc<Server>) {
    ready(server);
    if server.settings.fault == Fault::RestlessLists {
        for list in ["tools", "tools", "resources"] {
            server.out.notify(&format!("notifications/{list}/list_changed"), "{}");
        }
    }
}

/// Contact is made. That happens once, however often a modern client asks who this is.
fn ready(server: &Arc<Server>) {
    if server.handshake.swap(READY, Ordering::Relaxed) == READY {
        return;
    }
    match server.settings.fault {
        Fault::ExitsAfterContact => exit(EXIT_AFTER_CONTACT),
        Fault::FloodsStdout => floods::begin_on_stdout(server),
        _ => {}
    }
}

fn admit_legacy(server: &Server, request: &Request) -> bool {
    let state = server.handshake.load(Ordering::Relaxed);
    if state == HUNG {
        exit(1);
    }
    if request.method == "initialize" {
        initialize(server, request);
        return false;
    }
    if state >= INITIALIZED || request.method == "ping" {
        if state == INITIALIZED && request.method != "ping" {
            server.journal.write(&format!("early {}", request.method));
        }
        return true;
    }
    match server.settings.fault {
        Fault::ExitsOnProbe => {
            eprintln!("expected initialize, got {}", request.method);
            exit(1);
        }
        Fault::SilentOnProbe => {}
        Fault::HangsOnProbe => server.advance_handshake(HUNG),
        _ => server.out.error(&request.id, -32601, "Method not found", None),
    }
    false
}

fn initialize(server: &Server, request: &Request) {
    let version = match server.settings.fault {
        Fault::NeverAnswersInitialize => return,
        Fault::RefusesInitialize => {
            server.out.error(&request.id, -32603, REFUSAL, None);
            return;
        }
        Fault::MalformedInitialize => {
            server.out.result(&request.id, "{\"protocolVersion\":7,\"capabilities\":\"all\"}");
            return;
        }
        Fault::UnknownVersion => OLD_VERSION,
        Fault::ModernInitialize => MODERN,
        _ => LEGACY,
    };
    server.advance_handshake(INITIALIZED);
    let members = format!(
        "\"protocolVersion\":\"{version}\",\"capabilities\":{CAPABILITIES},\"serverInfo\":{INFO},\
         \"instructions\":{INSTRUCTIONS}"
    );
    server.complete(&request.id, &members);
}

fn admit_modern(server: &Arc<Server>, request: &Request) -> bool {
    let id = &request.id;
    let opening = matches!(request.method.as_str(), "initialize" | "server/discover");
    if opening && server.settings.fault == Fault::NeverAnswersInitialize {
        return false;
    }
    let supported = if server.settings.fault == Fault::UnknownVersion { OLD_VERSION } else { MODERN };
    if request.method == "initialize" {
        let data = format!("{{\"supported\":[\"{supported}\"]}}");
        server.out.error(id, -32601, "this server speaks only modern revisions", Some(&data));
        return false;
    }
    let meta = request.params.object("_meta");
    let version = meta.text("io.modelcontextprotocol/protocolVersion");
    let capabilities = meta.value("io.modelcontextprotocol/clientCapabilities");
    if version.is_empty() || !capabilities.is_object() {
        server.journal.write(&format!("bad-meta {}", request.method));
        server.out.error(id, -32602, "the request lacks its metadata", None);
        return false;
    }
    if version != supported {
        let data = format!("{{\"supported\":[\"{supported}\"],\"requested\":\"{version}\"}}");
        server.out.error(id, -32022, "Unsupported protocol version", Some(&data));
        return false;
    }
    if request.method == "server/discover" {
        discover(server, request);
        return false;
    }
    true
}

fn discover(server: &Arc<Server>, request: &Request) {
    match server.settings.fault {
        Fault::RefusesInitialize => server.out.error(&request.id, -32603, REFUSAL, None),
        Fault::MalformedInitialize => server.complete(&request.id, "\"supportedVersions\":7"),
        _ => {
            let capabilities =
                CAPABILITIES.replacen('{', "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}},", 1);
            let members = format!(
                "\"supportedVersions\":[\"{MODERN}\"],\"capabilities\":{capabilities},\"instructions\":{INSTRUCTIONS},\
                 \"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{INFO}}}"
            );
            server.complete(&request.id, &members);
            ready(server);
        }
    }
}
