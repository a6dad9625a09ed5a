//! Writes the lines that go to the AI client.
//!
//! Owns their shape. JSON that others wrote is put in as it is, except that raw line ends in it (only possible between
//! tokens) become spaces: a line is a message.

use std::borrow::Cow;

use harbor_ipc_proto::json::{Fields, with_member, without_member};
use harbor_ipc_proto::root_schema::Root;
use harbor_ipc_proto::strings::{put_str, text_of};
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::offering::Offering;

/// The revisions with `initialize`, newest first.
pub const LEGACY: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision without.
pub const MODERN: &str = "2026-07-28";

const SERVER_INFO: &str =
    concat!("{\"name\":\"harbor\",\"title\":\"Harbor\",\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}");

/// The capabilities that both generations are offered.
const OFFERS: &str = "\"tools\":{\"listChanged\":true},\"resources\":{\"listChanged\":true,\"subscribe\":true},\
                      \"prompts\":{\"listChanged\":true},\"completions\":{}";

const INSTRUCTIONS: &str = "The tools, prompts and resources of several MCP servers that run on this machine; tools and \
                            prompts are named server__tool. Which of them there are changes as servers come and go, and \
                            as the person allows more or less.";

const LAZY: &str =
    " To find a tool, use search_tools; describe_tool gives its parameters, and call_tool calls it.";

const CODE: &str =
    " To use tools, search for them with search_tools, and write a script that calls them for run_script.";

/// The member in which a modern result names its kind.
const RESULT_TYPE: &str = "resultType";

/// The parts of a tool's result, and of a tool.
const CONTENT: &str = "content";
const STRUCTURED: &str = "structuredContent";
const OUTPUT_SCHEMA: &str = "outputSchema";

/// Cache fields of a result: clients must not keep it.
const CACHE: [(&str, &str); 2] = [("ttlMs", "0"), ("cacheScope", "\"private\"")];

/// The answer to `id`: a result, as JSON text.
pub fn result(id: &str, result: &str) -> Vec<u8> {
    let mut out = head(id);
    out.extend_from_slice(b",\"result\":");
    put_raw(&mut out, result);
    out.extend_from_slice(b"}\n");
    out
}

/// An error as the answer to `id`, or without an id, with data as JSON text.
pub fn error(id: Option<&str>, code: i64, message: &str, data: Option<&str>) -> Vec<u8> {
    let mut out = head(id.unwrap_or("null"));
    out.extend_from_slice(format!(",\"error\":{{\"code\":{code},\"message\":").as_bytes());
    put_str(&mut out, message);
    if let Some(data) = data {
        out.extend_from_slice(b",\"data\":");
        put_raw(&mut out, data);
    }
    out.extend_from_slice(b"}}\n");
    out
}

/// A notification; `params` is JSON text.
pub fn notification(method: &str, params: Option<&str>) -> Vec<u8> {
    let mut out = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"").into_bytes();
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        put_raw(&mut out, params);
    }
    out.extend_from_slice(b"}\n");
    out
}

fn instructions(offering: Offering) -> &'static str {
    match offering {
        Offering::All => "",
        Offering::Lazy => LAZY,
        Offering::Code => CODE,
    }
}

/// The result of `initialize`, for a client that asked for this revision.
pub fn initialized(asked: Option<&str>, offering: Offering) -> String {
    let version = LEGACY.iter().find(|known| asked == Some(**known)).unwrap_or(&LEGACY[0]);
    format!(
        "{{\"protocolVersion\":\"{version}\",\"capabilities\":{{{OFFERS},\"logging\":{{}}}},\
         \"serverInfo\":{SERVER_INFO},\"instructions\":\"{INSTRUCTIONS}{}\"}}",
        instructions(offering)
    )
}

/// The result of `server/discover`.
pub fn discovered(offering: Offering) -> String {
    format!(
        "{{\"resultType\":\"complete\",\"supportedVersions\":[\"{MODERN}\"],\"capabilities\":{{{OFFERS}}},\
         \"instructions\":\"{INSTRUCTIONS}{}\",\"ttlMs\":0,\"cacheScope\":\"private\",\
         \"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{SERVER_INFO}}}}}",
        instructions(offering)
    )
}

/// The error's data for a client of the modern generation that asks for another revision.
pub fn supported(asked: &str) -> String {
    let mut out = format!("{{\"supported\":[\"{MODERN}\"],\"requested\":").into_bytes();
    put_str(&mut out, asked);
    out.push(b'}');
    String::from_utf8(out).unwrap_or_default()
}

/// The result of a call that came to nothing, for the model and the person to read.
pub fn failed(text: &str) -> String {
    let mut out = b"{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":".to_vec();
    put_str(&mut out, text);
    out.extend_from_slice(b"}],\"isError\":true}");
    String::from_utf8(out).unwrap_or_default()
}

/// A server's result for a client of the modern generation, with members that it demands and older servers
/// leave out. Everything else stays unchanged. `cacheable` is true if the result may be kept.
pub fn complete(result: &str, cacheable: bool) -> Cow<'_, str> {
    let Ok(fields) = Fields::parse(result.as_bytes()) else { return result.into() };
    let demanded =
        [(RESULT_TYPE, "\"complete\"")].into_iter().chain(cacheable.then_some(CACHE).into_iter().flatten());
    let missing = demanded.filter(|(name, _)| fields.get(name).is_none());
    let added: Vec<_> = missing.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    match result.trim_start().strip_prefix('{') {
        Some(members) if !added.is_empty() => {
            let comma = if members.trim_start().starts_with('}') { "" } else { "," };
            format!("{{{}{comma}{members}", added.join(",")).into()
        }
        _ => result.into(),
    }
}

/// A result for a client of the modern generation that asks for answers first: each by its name, JSON text.
pub fn input_required(requests: impl Iterator<Item = (String, String, String)>, state: &str) -> String {
    let mut out = format!("{{\"{RESULT_TYPE}\":\"input_required\",\"inputRequests\":{{").into_bytes();
    for (at, (name, method, params)) in requests.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(
            format!("\"{name}\":{{\"method\":\"{method}\",\"params\":{params}}}").as_bytes(),
        );
    }
    out.extend_from_slice(format!("}},\"requestState\":\"{state}\"}}").as_bytes());
    String::from_utf8(out).unwrap_or_default()
}

/// A tool's result for clients that read only `content`, such as those of 2024-11-05. If that is empty, it
/// gets the structured part as text. Everything else stays unchanged.
pub fn with_text(result: &str) -> Cow<'_, str> {
    let Ok(fields) = Fields::parse(result.as_bytes()) else { return result.into() };
    let content = fields.get(CONTENT).unwrap_or("[]");
    let is_empty = serde_json::from_str::<Option<Vec<IgnoredAny>>>(content)
        .is_ok_and(|content| content.is_none_or(|content| content.is_empty()));
    match fields.get(STRUCTURED).filter(|structured| is_empty && *structured != "null") {
        Some(structured) => {
            let content = format!("[{}]", text_block(structured));
            with_member(result, CONTENT, &content).map_or(result.into(), Cow::Owned)
        }
        None => result.into(),
    }
}

/// A tool's result with what Harbor says beside it, as texts behind its own: clients show those to their models.
pub fn with_said<'a>(result: &'a str, said: &[String]) -> Cow<'a, str> {
    let whole = with_text(result);
    let fields = Fields::parse(whole.as_bytes()).ok();
    let content =
        fields.as_ref().and_then(|fields| serde_json::from_str::<Vec<&RawValue>>(fields.get(CONTENT)?).ok());
    let Some(content) = content else { return result.into() };
    let own = content.iter().map(|block| block.get().to_owned());
    let said = said.iter().map(|text| text_block(&format!("Harbor: {text}")));
    let blocks: Vec<_> = own.chain(said).collect();
    with_member(&whole, CONTENT, &format!("[{}]", blocks.join(","))).map_or(result.into(), Cow::Owned)
}

/// A tool's result for clients of the older generation, which accept only an object as structured content.
/// Anything else is moved into `content` as text. It is not wrapped into an object, since its schema with all
/// references would have to be rewritten. A `null` adds no text, since it only means that there is nothing.
pub fn for_older(result: &str) -> Cow<'_, str> {
    let Ok(fields) = Fields::parse(result.as_bytes()) else { return result.into() };
    let other = fields.get(STRUCTURED).filter(|structured| !structured.starts_with('{'));
    let Some(structured) = other else { return result.into() };
    let content = serde_json::from_str::<Vec<&RawValue>>(fields.get(CONTENT).unwrap_or("[]"));
    let left = without_member(result, STRUCTURED);
    let (Ok(mut content), Some(left)) = (content, left) else { return result.into() };
    let is_said = match structured {
        "null" => !content.is_empty(),
        _ => content.iter().any(|block| says(block.get(), structured)),
    };
    let Ok(block) = RawValue::from_string(text_block(structured)) else { return left.into() };
    if !is_said {
        content.push(&block);
    }
    let content: Vec<_> = content.iter().map(|block| block.get()).collect();
    with_member(&left, CONTENT, &format!("[{}]", content.join(","))).unwrap_or(left).into()
}

/// True if a block of content is the text of this JSON, however it is spaced.
fn says(block: &str, json: &str) -> bool {
    let Ok(fields) = Fields::parse(block.as_bytes()) else { return false };
    let Some(text) = fields.get("text").and_then(text_of) else { return false };
    let value = |json: &str| serde_json::from_str::<Value>(json).ok();
    text_of(json).is_some_and(|json| json == text)
        || value(&text).is_some_and(|text| Some(text) == value(json))
}

/// A tool for clients of the older generation. They drop the whole list for an `outputSchema` of anything but
/// objects. So they get no such schema, and no such content. None if the tool stays unchanged.
pub fn tool_for_older(tool: &str) -> Option<String> {
    let fields = Fields::parse(tool.as_bytes()).ok()?;
    let schema = fields.get(OUTPUT_SCHEMA)?;
    if Root::of(schema) == Root::Object { None } else { without_member(tool, OUTPUT_SCHEMA) }
}

fn text_block(text: &str) -> String {
    let mut block = b"{\"type\":\"text\",\"text\":".to_vec();
    put_str(&mut block, text);
    block.push(b'}');
    String::from_utf8(block).unwrap_or_default()
}

/// A request to the client; `params` is JSON text.
pub fn request(id: &str, method: &str, params: &str) -> Vec<u8> {
    let mut out = head(id);
    out.extend_from_slice(format!(",\"method\":\"{method}\",\"params\":").as_bytes());
    put_raw(&mut out, params);
    out.extend_from_slice(b"}\n");
    out
}

/// The `_meta` of a subscription's notifications.
pub fn of_subscription(id: &str) -> String {
    format!("\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}")
}

fn head(id: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}").into_bytes()
}

fn put_raw(out: &mut Vec<u8>, json: &str) {
    out.extend(json.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_one_line_of_json() {
        for (line, golden) in [
            (
                result("\"a\"", "{\n\"x\":1e2}"),
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{ \"x\":1e2}}\n",
            ),
            (
                error(None, -32700, "no \"JSON\"", None),
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"no \\\"JSON\\\"\"}}\n",
            ),
            (
                error(Some("7"), -32022, "no", Some(&supported("1\"2"))),
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32022,\"message\":\"no\",\
                 \"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"1\\\"2\"}}}\n",
            ),
            (notification("notifications/x", None), "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n"),
            (
                request("\"q\"", "elicitation/create", "{\n}"),
                "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{ }}\n",
            ),
        ] {
            assert_eq!(String::from_utf8(line).unwrap(), golden);
        }
    }

    #[test]
    fn a_result_of_an_older_server_is_completed_for_a_modern_client() {
        for (written, completed) in [
            ("{}", r#"{"resultType":"complete"}"#),
            (" { }", r#"{"resultType":"complete" }"#),
            (r#"{"a":1e2,"a":2}"#, r#"{"resultType":"complete","a":1e2,"a":2}"#),
            (r#"{"a":{},"resultType":"task"}"#, r#"{"a":{},"resultType":"task"}"#),
        ] {
            assert_eq!(complete(written, false), completed, "{written}");
        }
        let kept = r#"{"resultType":"complete","ttlMs":0,"cacheScope":"public"}"#;
        assert_eq!(complete(r#"{"cacheScope":"public"}"#, true), kept);
    }

    #[test]
    fn a_structured_result_has_its_text_where_it_has_no_content() {
        let text = r#"[{"type":"text","text":"{\"a\":1e2}"}]"#;
        for (written, shown) in [
            (
                r#"{"structuredContent":{"a":1e2}}"#,
                format!(r#"{{"structuredContent":{{"a":1e2}},"content":{text}}}"#),
            ),
            (
                r#"{"content":[ ],"structuredContent":{"a":1e2},"isError":true}"#,
                format!(r#"{{"content":{text},"structuredContent":{{"a":1e2}},"isError":true}}"#),
            ),
        ] {
            assert_eq!(with_text(written), shown, "{written}");
        }
        let image =
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"AA=="}],"structuredContent":{}}"#;
        for as_it_is in [image, r#"{"content":[]}"#, "{}", r#"{"content":[],"structuredContent":null}"#, "7"]
        {
            assert_eq!(with_text(as_it_is), as_it_is);
        }
    }

    #[test]
    fn what_harbor_says_stands_behind_the_texts_of_the_tool() {
        let said = ["a \"b\"".to_owned()];
        let harbor = r#"{"type":"text","text":"Harbor: a \"b\""}"#;
        for (result, before) in [
            (r#"{"content":[{"type":"text","text":"x"}],"isError":true}"#, r#"{"type":"text","text":"x"},"#),
            (r#"{"content":[ ],"isError":true}"#, ""),
            (r#"{"content":[],"structuredContent":{"a":1}}"#, r#"{"type":"text","text":"{\"a\":1}"},"#),
        ] {
            let shown = with_said(result, &said);
            assert!(shown.contains(&format!("[{before}{harbor}]")), "{shown}");
        }
        assert_eq!(with_said(r#"{"content":7}"#, &said), r#"{"content":7}"#);
    }

    #[test]
    fn structured_content_that_is_no_object_is_text_for_older_clients() {
        let text = |text: &str| format!(r#"{{"type":"text","text":{text}}}"#);
        for (written, shown) in [
            (
                r#"{"a":1e2,"structuredContent":[1, 2]}"#,
                format!(r#"{{"a":1e2,"content":[{}]}}"#, text("\"[1, 2]\"")),
            ),
            (
                r#"{"content":[{"type":"text","text":"two"}],"structuredContent":[1,2],"isError":true}"#,
                format!(r#"{{"content":[{},{}],"isError":true}}"#, text("\"two\""), text("\"[1,2]\"")),
            ),
            (
                r#"{"structuredContent":[1,2],"content":[{"type":"text","text":"[1, 2]"}]}"#,
                format!(r#"{{"content":[{}]}}"#, text("\"[1, 2]\"")),
            ),
            (
                r#"{"content":[{"type":"text","text":"x"}],"structuredContent":"x"}"#,
                format!(r#"{{"content":[{}]}}"#, text("\"x\"")),
            ),
            (
                r#"{"content":[],"structuredContent":null}"#,
                format!(r#"{{"content":[{}]}}"#, text("\"null\"")),
            ),
            (
                r#"{"content":[{"type":"text","text":"done"}],"structuredContent":null}"#,
                format!(r#"{{"content":[{}]}}"#, text("\"done\"")),
            ),
        ] {
            assert_eq!(for_older(written), shown, "{written}");
        }
        for as_it_is in
            [r#"{"content":[],"structuredContent":{"a":1}}"#, r#"{"content":[],"isError":true}"#, "7"]
        {
            assert_eq!(for_older(as_it_is), as_it_is);
        }
    }

    #[test]
    fn an_output_schema_of_no_objects_is_left_out_for_older_clients() {
        let tool =
            |schema: &str| format!(r#"{{"name":"t","inputSchema":{{}},"outputSchema":{schema},"x":1e2}}"#);
        for other in [r#"{"type":"array"}"#, r#"{"type":["object","null"]}"#, "{}", "true", "null"] {
            let shown = r#"{"name":"t","inputSchema":{},"x":1e2}"#;
            assert_eq!(tool_for_older(&tool(other)).as_deref(), Some(shown), "{other}");
        }
        assert_eq!(tool_for_older(&tool(r#"{"type":"object","a":[]}"#)), None);
        assert_eq!(tool_for_older(r#"{"name":"t"}"#), None);
    }

    #[test]
    fn an_unknown_revision_is_answered_by_the_newest_of_the_older_generation() {
        for (asked, answered) in [
            (Some("2025-06-18"), "2025-06-18"),
            (Some("2030-01-01"), LEGACY[0]),
            (Some(MODERN), LEGACY[0]),
            (None, LEGACY[0]),
        ] {
            let result: Value = serde_json::from_str(&initialized(asked, Offering::Lazy)).unwrap();
            assert_eq!(result["protocolVersion"], answered, "{asked:?}");
        }
        let discovered: Value = serde_json::from_str(&discovered(Offering::All)).unwrap();
        assert_eq!(discovered["supportedVersions"], serde_json::json!([MODERN]));
    }
}
