//! NAME: an MCP server that Harbor runs itself (https://modelcontextprotocol.io). Rust's standard library is all that it needs.
//! After a change:
//!
//!   BUILD
//!   harbor add NAME --wasm NAME.wasm

const SERVER: (&str, &str) = ("NAME", "0.1.0");

const TOOLS: &[Tool] = &[Tool {
    name: "greet",
    description: "Greet someone by name",
    input: r#"{"type":"object","properties":{"name":{"type":"string","description":"Whom to greet"}},"required":["name"]}"#,
    run: greet,
}];

fn greet(arguments: &Json) -> Result<String, String> {
    let name = arguments.get("name").and_then(Json::text).ok_or("name is missing")?;
    Ok(format!("Hello, {name}!"))
}
