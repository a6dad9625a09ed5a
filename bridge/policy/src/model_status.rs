//! The sentence that a person reads while a model's answer has not begun.
//!
//! Owns these sentences. Must never tell a pause that nobody notices.

use harbor_ipc_proto::client::ChatEvent;

/// A shorter pause is not told, in milliseconds.
const NOTICED_MS: u64 = 1000;

/// Why the answer has not begun, if `event` says so.
#[must_use]
pub fn told(event: &ChatEvent) -> Option<String> {
    match (&*event.r#type, event.retry_after_ms) {
        ("loading", _) => Some("the provider loads the model, which may take minutes".into()),
        ("waiting", Some(pause)) if pause >= NOTICED_MS => {
            Some(format!("the provider does not answer now; it is asked again in {} s", pause.div_ceil(1000)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(pause: u64) -> Option<String> {
        told(&ChatEvent { retry_after_ms: Some(pause), ..ChatEvent::of_type("waiting") })
    }

    #[test]
    fn a_pause_is_told_in_whole_seconds_and_a_short_one_not_at_all() {
        assert_eq!(waiting(999), None);
        let told = waiting(1_001).expect("it is told");
        assert!(told.ends_with("asked again in 2 s"), "{told}");
    }
}
