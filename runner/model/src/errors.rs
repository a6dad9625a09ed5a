//! Finds out what a provider's error means, whichever shape it has. Pure.
//!
//! ```text
//!  {error:{message,type,code,param}}  {type:error,error:{…}}  {error:"text"}  {code,message,type}  text ─► ProviderError ─► Cause
//!  {error:{code,status,message,details:[RetryInfo, QuotaFailure]}}, also in a list
//! ```

use harbor_ipc_proto::link::model::Cause;
use serde_json::Value;

use crate::retry;

/// The parts of a provider's error, each as far as the provider says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderError {
    /// Its words.
    pub message: String,
    /// Its names for the kind of error: `type` and `code`.
    pub kind: String,
    /// The field of the request.
    pub about: String,
    /// A number in the body, which stands for a status of HTTP in a stream that began with 200.
    pub status: Option<u16>,
    /// When to try again, in milliseconds from now.
    pub retry_after_ms: Option<u64>,
    /// For a quota: true if it is one that soon begins anew, false if it is that of a day or none at all.
    pub is_short_quota: Option<bool>,
}

/// Reads the body of an error; none where it says nothing.
pub fn read(body: &[u8]) -> Option<ProviderError> {
    match serde_json::from_slice(body) {
        Ok(value) => said(&value),
        Err(_) => {
            let text = str::from_utf8(body).ok()?.trim();
            // A page is no sentence.
            let is_plain = !text.is_empty() && !text.starts_with('<');
            is_plain.then(|| ProviderError { message: text.to_owned(), ..ProviderError::default() })
        }
    }
}

/// Reads an error from JSON that is parsed already.
pub fn said(value: &Value) -> Option<ProviderError> {
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    if let Some(text) = error.as_str() {
        return Some(ProviderError { message: text.to_owned(), ..ProviderError::default() });
    }
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = ["message", "detail", "error_description"].iter().map(|name| text(name));
    let message = message.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let number = |name: &str| error.get(name).and_then(Value::as_u64);
    let status = number("code").or(number("status")).and_then(|code| u16::try_from(code).ok());
    let kinds = ["type", "code", "status"].map(text);
    let kind = kinds.into_iter().filter(|kind| !kind.is_empty()).collect::<Vec<_>>().join(" ");
    if message.is_empty() && kind.is_empty() && status.is_none() {
        return None;
    }
    let message = match number("n_ctx") {
        // llama-server has the window beside its words.
        Some(window) if !message.contains(&window.to_string()) => format!("{message} (n_ctx: {window})"),
        _ => message.to_owned(),
    };
    let said =
        ProviderError { message, kind, about: text("param").to_owned(), status, ..ProviderError::default() };
    let details = error.get("details").and_then(Value::as_array);
    Some(details.into_iter().flatten().fold(said, with_detail))
}

/// Adds what a detail of Google's says: when to try again, why a key is refused, and which quota is spent.
fn with_detail(mut said: ProviderError, detail: &Value) -> ProviderError {
    let text = |name: &str| detail.get(name).and_then(Value::as_str);
    said.retry_after_ms = text("retryDelay").and_then(retry::written).or(said.retry_after_ms);
    if let Some(reason) = text("reason") {
        said.kind = format!("{} {reason:.100}", said.kind);
    }
    for violation in detail.get("violations").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| violation.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_short = !text("quotaId").contains("PerDay") && text("quotaValue") != "0";
        said.is_short_quota = Some(is_short && said.is_short_quota != Some(false));
    }
    said
}

const QUOTA: [&str; 6] = [
    "insufficient_quota",
    "enforced_spend_limit_reached",
    "exceeded your current quota",
    "credit balance",
    "billing_error",
    "spend limit",
];
const CONTEXT: [&str; 14] = [
    "context_length_exceeded",
    "exceed_context_size",
    "prompt is too long",
    "maximum context length",
    "exceeds the context window",
    "exceed the context window",
    "exceeds the available context size",
    "input length exceeds",
    "exceeds context window",
    "exceeds the context length",
    "exceed context limit",
    "maximum number of tokens allowed",
    "too large for model with",
    "exceeds the maximum number of tokens",
];
const NO_MODEL: [&str; 5] =
    ["model_not_found", "not a valid model", "unknown model", "no such model", "invalid_model"];
const UNAUTHORIZED: [&str; 5] =
    ["authentication_error", "invalid_api_key", "permission_error", "api_key_invalid", "api key not valid"];
const OVERLOADED: [&str; 3] = ["overloaded", "loading model", "server_error"];

/// Words with which a server tells by the status 500 that it does not do this, or cannot read it.
const UNDONE: [&str; 6] =
    ["not supported", "unsupported", "does not support", "not implemented", "parse", "invalid"];

/// The cause of an error. If `status` is no error, the number in the body stands for it.
pub fn cause(status: Option<u16>, said: &ProviderError) -> Cause {
    let status = status.filter(|status| *status >= 400).or(said.status).unwrap_or_default();
    let text = format!("{} {}", said.kind, said.message).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let names_model =
        text.contains("model") && (text.contains("not found") || text.contains("does not exist"));
    match status {
        429 if said.is_short_quota == Some(true) => Cause::RateLimited,
        429 if said.is_short_quota == Some(false) => Cause::Quota,
        401 => Cause::Unauthorized,
        402 => Cause::Quota,
        403 if !has(&QUOTA) => Cause::Unauthorized,
        429 if !has(&QUOTA) => Cause::RateLimited,
        408 | 504 => Cause::Timeout,
        _ if has(&QUOTA) => Cause::Quota,
        _ if has(&CONTEXT) => Cause::ContextFull,
        _ if has(&NO_MODEL) || names_model => Cause::NoModel,
        404 | 405 => Cause::NotFound,
        409 | 502 | 503 | 529 => Cause::Overloaded,
        _ if has(&UNAUTHORIZED) => Cause::Unauthorized,
        _ if text.contains("rate_limit") => Cause::RateLimited,
        _ if has(&OVERLOADED) => Cause::Overloaded,
        // llama-server says so to what it does not do, too: its words are shown.
        500 if !has(&UNDONE) => Cause::Overloaded,
        _ => Cause::Refused,
    }
}

/// Which of `tools` (the names on the wire) a provider refuses, if that is what it says: `tools[3].…`, `tools.3.…`, a name.
pub fn refused_tool(about: &str, message: &str, tools: &[&str]) -> Option<usize> {
    let numbered = [about, message].into_iter().find_map(|text| {
        let (_, behind) = text.split_once("tools[").or_else(|| text.split_once("tools."))?;
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        behind[..end].parse().ok()
    });
    let quoted = |name: &&str| ["'", "\"", "`"].iter().any(|q| message.contains(&format!("{q}{name}{q}")));
    let named = || {
        let is_about_one =
            message.contains("schema") || message.contains("function") || message.contains("tool");
        tools.iter().position(quoted).filter(|_| is_about_one)
    };
    numbered.or_else(named).filter(|at| *at < tools.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, body: &str) -> Cause {
        cause(Some(status), &read(body.as_bytes()).unwrap_or_default())
    }

    #[test]
    fn errors_mean_what_their_providers_mean() {
        let rows = [
            (
                401,
                r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#,
                Cause::Unauthorized,
            ),
            (
                403,
                r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#,
                Cause::Unauthorized,
            ),
            (402, r#"{"error":{"message":"Insufficient credits","code":402}}"#, Cause::Quota),
            (429, r#"{"error":{"message":"slow down","code":"rate_limit_exceeded"}}"#, Cause::RateLimited),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#,
                Cause::Quota,
            ),
            (
                429,
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"enforced_spend_limit_reached"}}"#,
                Cause::Quota,
            ),
            (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, Cause::ContextFull),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
                Cause::ContextFull,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_ctx":9}}"#,
                Cause::ContextFull,
            ),
            (400, r#"{"error":"message exceeds context window (5000 > 4096)"}"#, Cause::ContextFull),
            (404, r#"{"error":"model 'x' not found"}"#, Cause::NoModel),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                Cause::NoModel,
            ),
            (404, "404 page not found", Cause::NotFound),
            (400, r#"{"error":"x does not support tools"}"#, Cause::Refused),
            (
                503,
                r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
                Cause::Overloaded,
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Cause::Overloaded,
            ),
            (
                500,
                r#"{"type":"error","error":{"type":"api_error","message":"overloaded"}}"#,
                Cause::Overloaded,
            ),
            (500, r#"{"error":{"code":500,"message":"image input is not supported"}}"#, Cause::Refused),
            (500, r#"{"error":{"message":"The server had an error"}}"#, Cause::Overloaded),
            (500, "<html>", Cause::Overloaded),
            (504, "<html>", Cause::Timeout),
            (413, r#"{"type":"error","error":{"type":"request_too_large","message":"m"}}"#, Cause::Refused),
        ];
        for (status, body, wanted) in rows {
            assert_eq!(of(status, body), wanted, "{status} {body}");
        }
        // In a stream that began with 200.
        let said = read(br#"{"code":400,"message":"m","type":"exceed_context_size_error"}"#).unwrap();
        assert_eq!(cause(None, &said), Cause::ContextFull);
        assert_eq!(said.message, "m");
        let beside = read(br#"{"error":{"message":"too long","n_ctx":4096}}"#).unwrap();
        assert_eq!(beside.message, "too long (n_ctx: 4096)");
        assert_eq!(read(b"<html>no</html>"), None);
        assert_eq!(read(b"[]"), None);
    }

    #[test]
    fn google_says_things_in_its_own_words() {
        let key = r#"{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}"#;
        assert_eq!(of(400, key), Cause::Unauthorized);
        let long = r#"[{"error":{"code":400,"status":"INVALID_ARGUMENT",
            "message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}]"#;
        assert_eq!(of(400, long), Cause::ContextFull);
    }

    #[test]
    fn google_tells_which_quota_is_spent_and_when_it_begins_anew() {
        let said = |id: &str, value: &str| {
            let violation = format!(r#"{{"quotaId":"{id}","quotaValue":"{value}"}}"#);
            let body = format!(
                r#"{{"error":{{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[
                    {{"violations":[{violation}]}},{{"retryDelay":"34.4s"}}]}}}}"#
            );
            let said = read(body.as_bytes()).unwrap();
            (cause(Some(429), &said), said.retry_after_ms)
        };
        let wait = Some(34_400);
        assert_eq!(said("GenerateRequestsPerMinutePerProject", "15"), (Cause::RateLimited, wait));
        assert_eq!(said("GenerateRequestsPerDayPerProject", "200"), (Cause::Quota, wait));
        assert_eq!(said("GenerateRequestsPerMinutePerProject", "0"), (Cause::Quota, wait));
    }

    #[test]
    fn the_refused_tool_is_found() {
        let tools = ["get_weather", "send"];
        assert_eq!(refused_tool("tools[1].function.parameters", "Invalid schema", &tools), Some(1));
        assert_eq!(refused_tool("", "tools.0.custom.input_schema: no", &tools), Some(0));
        assert_eq!(refused_tool("", "Invalid schema for function 'send': no", &tools), Some(1));
        assert_eq!(refused_tool("", "tools.7.custom: no", &tools), None);
        assert_eq!(refused_tool("", "this model does not support tools", &tools), None);
    }
}
