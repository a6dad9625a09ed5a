//! How far a call is, in a line: `convert [########------------] 40%  step 2`.
//!
//! Owns the line. Must never trust a number or a text: they are the server's.

use harbor_ipc_proto::client::Progress;
use harbor_ipc_proto::json::Json;
use serde_json::Value;

use crate::table::{fit, flatten};

/// The places of the bar.
const BAR: usize = 20;

/// The places of a tool's name, and of a count.
const NAME: usize = 24;

/// The line for a `progress` push, for the tool of this name.
pub fn line(tool: &str, progress: &Progress) -> String {
    let number = |json: &Json| serde_json::from_str::<Value>(json.as_str()).ok()?.as_f64();
    let done = number(&progress.progress);
    let total = progress.total.as_ref().and_then(number).filter(|total| *total > 0.0);
    let message = progress.message.as_deref().unwrap_or_default();
    let how_far = match (done, total) {
        (Some(done), Some(total)) => bar(done / total),
        (Some(done), None) => fit(&done.to_string(), Some(NAME)),
        (None, _) => "…".into(),
    };
    let line = format!("{} {how_far}  {}", fit(&flatten(tool), Some(NAME)), flatten(message));
    line.trim_end().to_owned()
}

fn bar(part: f64) -> String {
    let percent = (part.clamp(0.0, 1.0) * 100.0).floor();
    let full = (1..=BAR).filter(|place| *place as f64 * 100.0 <= percent * BAR as f64).count();
    format!("[{}{}] {percent:>3}%", "#".repeat(full), "-".repeat(BAR - full))
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::field::read_object;
    use proptest::prelude::*;

    use super::super::rig::typed;
    use super::*;

    fn told(json: &str) -> String {
        line("convert", &typed(json))
    }

    #[test]
    fn a_bar_when_the_total_is_known_and_else_a_count() {
        assert_eq!(
            told(r#"{"progress":4,"total":10.0,"message":"half\nway"}"#),
            "convert [########------------]  40%  half way"
        );
        assert_eq!(told(r#"{"progress":10,"total":10}"#), "convert [####################] 100%");
        assert_eq!(told(r#"{"progress":0.999,"total":1}"#), "convert [###################-]  99%");
        assert_eq!(told(r#"{"progress":3,"message":"m"}"#), "convert 3  m");
        assert_eq!(told(r#"{"progress":0.5,"total":0}"#), "convert 0.5");
    }

    #[test]
    fn what_a_server_makes_up_is_harmless() {
        assert_eq!(told(r#"{"progress":-3,"total":1}"#), "convert [--------------------]   0%");
        assert_eq!(told(r#"{"progress":9e300,"total":1e-300}"#), "convert [####################] 100%");
        assert_eq!(told(r#"{"progress":1e300}"#), format!("convert 1{}…", "0".repeat(22)));
        assert_eq!(
            told(r#"{"progress":"x","message":"\u001b[2J\u202eevil\r\nline\u200b"}"#),
            "convert …  \\u{1b}[2J\\u{202e}evil  line\\u{200b}"
        );
        let long = line(&"x".repeat(90), &typed("{}"));
        assert_eq!(long, format!("{}… …", "x".repeat(23)));
    }

    proptest! {
        #[test]
        fn any_numbers_are_survived(progress: f64, total: f64) {
            let text = format!(r#"{{"progress":{progress:e},"total":{total:e}}}"#);
            if let Ok(progress) = read_object::<Progress>(&text) {
                line("t", &progress);
            }
        }
    }
}
