//! metrics: the numbers, as a monitoring system reads them.
//!
//! Owns nothing of the text: it is the bridge's.

use serde_json::json;

use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::screen::Screen;

pub fn show(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let text = client.request(&Ask::new("get_metrics"), QUICK)?.text("text");
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
