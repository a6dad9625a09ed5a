//! Metrics: the text, the listener, and a real Prometheus that scrapes it.

mod http;
mod listening;
mod prometheus;
mod text;

use harbor_tests::Client;
use serde_json::json;

/// The text, as `harbor metrics` prints it.
fn metrics(client: &Client) -> String {
    client.call("get_metrics", &json!({})).unwrap()["text"].as_str().unwrap().to_owned()
}

/// The value of the sample with exactly this name and these labels.
fn value(text: &str, sample: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok())
}
