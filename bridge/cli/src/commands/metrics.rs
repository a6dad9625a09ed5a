//! metrics: the numbers, as a monitoring system reads them.
//!
//! Owns nothing of the text: it is the bridge's.

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::GetMetrics;
use serde_json::json;

use crate::client::{Client, QUICK};
use crate::screen::Screen;

pub fn show(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let text = client.ask(&GetMetrics {}, QUICK)?.into_value().text;
    match screen.json {
        true => screen.json(&json!({"metrics": text}).to_string())?,
        false => screen.text(&text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;

    #[test]
    fn the_text_is_printed_as_it_is_or_as_json() {
        let answer = r##"{"type":"get_metrics_result","request_id":"1","text":"harbor_up 1\n# EOF\n"}"##;
        assert_eq!(command(false, &[answer], show).printed, "harbor_up 1\n# EOF\n");
        let json = "{\"metrics\":\"harbor_up 1\\n# EOF\\n\"}\n";
        assert_eq!(command(true, &[answer], show).printed, json);
    }
}
