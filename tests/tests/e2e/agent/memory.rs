//! What results leave in the bridge's memory.

use serde_json::json;

use super::provider::Say;
use super::scene::Scene;

/// Answers each call with 50 MB, in the result and nowhere else.
const BIG: &str = r#"
import json, sys
text = "x" * 50_000_000
tool = {"name": "big", "description": "Answers.", "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "openWorldHint": False}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "b", "version": "1"}},
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": text}]},
    }.get(asked["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

/// As many at once as a model likes.
const CALLS: usize = 4;

#[test]
fn results_of_fifty_megabytes_do_not_stay_in_the_bridge() {
    let scene = Scene::new(|round| match round.results.len() {
        0 => {
            let ids = ["0", "1", "2", "3"];
            Say::Calls(ids[..CALLS].iter().map(|id| (*id, round.tool("big"), "{}".to_owned())).collect())
        }
        _ => Say::Text("done".into()),
    });
    let server =
        json!({"server_id": "b", "command": "python3", "args": ["-c", BIG], "sandbox": {"network": "none"}});
    scene.bridge.call("add_server", &server).unwrap();
    scene.bridge.connect("b");
    scene.say("go").unwrap();
    let read = scene.provider.rounds().pop().unwrap().results;
    assert!(read.len() == CALLS && read[0].contains("50000"), "{read:?}");
    let peak = scene.bridge.process().status("VmHWM");
    let kib: u64 = peak.trim_end_matches(" kB").parse().unwrap();
    assert!(kib <= 100 * 1024, "{peak}");
}
