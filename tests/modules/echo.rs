//! The server of the tool `echo`, for what a module costs. What speaks MCP is put behind it: `mcp.rs.txt` of
//! `harbor new server`.

const SERVER: (&str, &str) = ("echo", "1.0.0");

const TOOLS: &[Tool] = &[Tool {
    name: "echo",
    description: "Says it again",
    input: r#"{"type":"object","properties":{"text":{"type":"string"}}}"#,
    run: |arguments| Ok(arguments.get("text").and_then(Json::text).unwrap_or_default().to_owned()),
}];
