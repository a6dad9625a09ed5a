//! A server whose tools are what tests need: troubles, and what a module reaches. What speaks MCP is put behind it:
//! `mcp.rs.txt` of `harbor new server`.

const SERVER: (&str, &str) = ("tools", "1.0.0");

const ANY: &str = r#"{"type":"object"}"#;

const TOOLS: &[Tool] = &[
    Tool { name: "say", description: "Says VERSION", input: ANY, run: |_| Ok("VERSION".to_owned()) },
    Tool { name: "loop", description: "Never ends", input: ANY, run: forever },
    Tool { name: "bomb", description: "Takes all memory", input: ANY, run: bomb },
    Tool { name: "deep", description: "Calls itself", input: ANY, run: |_| Ok(deep(1).to_string()) },
    Tool { name: "exit", description: "Ends the program", input: ANY, run: |_| std::process::exit(42) },
    Tool { name: "long", description: "Says more than a line may have", input: ANY, run: long },
    Tool { name: "env", description: "Its variables", input: ANY, run: env },
    Tool { name: "args", description: "Its arguments", input: ANY, run: args },
    Tool { name: "read", description: "Reads a file", input: ANY, run: read },
    Tool { name: "write", description: "Writes a file", input: ANY, run: write },
    Tool { name: "connect", description: "Connects", input: ANY, run: connect },
];

fn forever(_: &Json) -> Result<String, String> {
    loop {}
}

fn bomb(_: &Json) -> Result<String, String> {
    let mut all = Vec::new();
    while all.len() < 1 << 20 {
        all.push(vec![all.len() as u8; 1 << 20]);
    }
    Ok(all[7][7].to_string())
}

fn deep(at: u64) -> u64 {
    if at == u64::MAX {
        return 0;
    }
    // Held until the call below has returned, so that no compiler makes a loop of this.
    let held = vec![at; 8];
    let below = deep(at + 1);
    held[(below % 8) as usize].wrapping_mul(31).wrapping_add(below)
}

/// Written in parts: it would not fit into the memory that a module has. The answer itself ends the line.
fn long(_: &Json) -> Result<String, String> {
    let part = [b'x'; 64_000];
    io::stdout().write_all(br#"{"jsonrpc":"2.0","result":""#).map_err(|error| error.to_string())?;
    for _ in 0..1_100 {
        io::stdout().write_all(&part).map_err(|error| error.to_string())?;
    }
    Ok("said".to_owned())
}

fn env(_: &Json) -> Result<String, String> {
    Ok(std::env::vars().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n"))
}

fn args(_: &Json) -> Result<String, String> {
    Ok(std::env::args().skip(1).collect::<Vec<_>>().join(" "))
}

fn path<'a>(arguments: &'a Json) -> Result<&'a str, String> {
    arguments.get("path").and_then(Json::text).ok_or_else(|| "path is missing".to_owned())
}

fn read(arguments: &Json) -> Result<String, String> {
    std::fs::read_to_string(path(arguments)?).map_err(|error| error.to_string())
}

fn write(arguments: &Json) -> Result<String, String> {
    std::fs::write(path(arguments)?, "written").map(|()| "written".to_owned()).map_err(|error| error.to_string())
}

fn connect(_: &Json) -> Result<String, String> {
    std::net::TcpStream::connect("127.0.0.1:80").map(|_| "connected".to_owned()).map_err(|error| error.to_string())
}
