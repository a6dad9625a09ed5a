//! A call of a tool as one line.
//!
//! Owns what stands in it and where it is cut. Must never be more than one line, whatever a model or a tool
//! has written.

use harbor_ipc_proto::client::TurnEvent;
use harbor_ipc_proto::json::Json;

use crate::table::{fit, flatten};

/// The length to which arguments and errors are shown, in places.
const SHOWN: usize = 200;

/// `· time/get_current_time {"timezone":"Asia/Tokyo"}`.
pub fn begun(tool: &str, arguments: &Json) -> String {
    format!("· {} {}", fit(&flatten(tool), Some(SHOWN)), fit(&flatten(arguments.as_str()), Some(SHOWN)))
}

/// The line of a call, with its end: ` … ok, 12 ms`.
pub fn ended(result: &TurnEvent, arguments: &Json) -> String {
    let begun = begun(result.tool.as_deref().unwrap_or_default(), arguments);
    let took = result.duration_ms.map(|took| format!(", {}", lasting(took))).unwrap_or_default();
    let why = result.text.as_deref().and_then(|text| text.trim().lines().next()).unwrap_or_default();
    match result.is_error {
        Some(true) if why.is_empty() => format!("{begun} … failed{took}"),
        Some(true) => format!("{begun} … failed{took}: {}", fit(&flatten(why), Some(SHOWN))),
        _ => format!("{begun} … ok{took}"),
    }
}

fn lasting(millis: u64) -> String {
    match millis {
        0..10_000 => format!("{millis} ms"),
        _ => format!("{} s", millis / 1000),
    }
}
