//! A list of models that may come in pages.
//!
//! ```text
//!  first page ─► models, and where the next one is ─► … ─► no next one, nothing new, or enough
//! ```
//!
//! Owns the end of that: no provider has pages without end. A model that stands in the list twice is listed once.

use std::collections::HashSet;

use harbor_ipc_proto::link::model::{Failure, Model};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use crate::failure::no_such_thing;

/// Models of one list.
pub const MAX_MODELS: usize = 4096;

/// Pages of one list.
const MAX_PAGES: usize = 32;

/// All models of the list at `path`. `fetch` fetches a page, `read` reads it, none if it is no list.
///
/// # Errors
/// When a page does not come, or is no list.
pub async fn all(
    fetch: impl AsyncFn(&str) -> Result<Value, Failure>,
    path: &str,
    read: impl Fn(&Value) -> Option<Vec<Model>>,
) -> Result<Vec<Model>, Failure> {
    let (mut models, mut seen) = (Vec::new(), HashSet::new());
    let mut next = path.to_owned();
    for _ in 0..MAX_PAGES {
        let page = fetch(&next).await?;
        let before = models.len();
        let read = read(&page).ok_or_else(no_such_thing)?;
        models.extend(read.into_iter().filter(|model| seen.insert(model.id.clone())));
        if models.len() == before || models.len() >= MAX_MODELS {
            break;
        }
        let Some((name, value)) = following(&page, &models) else { break };
        let value: String = byte_serialize(value.as_bytes()).collect();
        let sign = if path.contains('?') { '&' } else { '?' };
        next = format!("{path}{sign}{name}={value}");
    }
    Ok(models)
}

/// The field of the request for the next page, if there is one: Google's, Anthropic's, or that of OpenAI's other lists.
fn following<'v>(page: &'v Value, models: &'v [Model]) -> Option<(&'static str, &'v str)> {
    let text = |name: &str| page.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(token) = text("nextPageToken") {
        return Some(("pageToken", token));
    }
    if page.get("has_more").and_then(Value::as_bool) != Some(true) {
        return None;
    }
    match text("last_id") {
        Some(last) => Some(("after_id", last)),
        None => Some(("after", models.last()?.id.as_str())),
    }
}
