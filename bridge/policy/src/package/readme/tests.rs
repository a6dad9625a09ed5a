//! READMEs of the shapes that well-known servers have.

use proptest::prelude::*;

use super::super::recognise;
use super::*;

const FIGMA: &str = r#"
Some text with a `"mcpServers"` in it.

```json
{
  "mcpServers": {
    "Figma": {
      "command": "npx",
      "args": ["-y", "figma-like", "--figma-api-key=YOUR-KEY", "--stdio"]
    }
  }
}
```

### Windows

```json
{ "mcpServers": { "Figma": { "command": "cmd", "args": ["/c", "npx", "-y", "figma-like", "--other"] } } }
```

Or you can set `FIGMA_API_KEY` and `PORT` in the `env` field.
"#;

const BRAVE: &str = r#"
{ "mcpServers": { "s": { "command": "docker", "args": ["run", "-i", "-e", "BRAVE_API_KEY", "mcp/search"],
  "env": { "BRAVE_API_KEY": "YOUR_API_KEY_HERE" } } } }
{ "mcpServers": { "s": { "command": "npx", "args": ["-y", "@brave/search", "--transport", "http"],
  "env": { "BRAVE_API_KEY": "YOUR_API_KEY_HERE" } } } }
~~~jsonc
{
  // VS Code asks for it.
  "inputs": [{ "password": true, "id": "key" }],
  "servers": {
    "s": {
      "command": "npx.cmd", /* or bunx */
      "args": ["--package=@brave/search@latest", "search", "--transport", "stdio",],
      "env": { "BRAVE_API_KEY": "${input:key}", "NODE_OPTIONS": "--require=x", "LIMIT": "7", },
    },
  },
}
~~~
"#;

const STRIPE: &str =
    r#"{"mcpServers":{"s":{"command":"npx","args":["-y","@pay/mcp","--api-key=PAY_SECRET_KEY"]}}}"#;

const OBSIDIAN: &str = r#"
  {
    "mcpServers": {
      "notes": { "command": "uv", "args": ["--directory", "<dir_to>/mcp-notes", "run", "mcp-notes"],
        "env": { "NOTES_API_KEY": "<your_api_key_here>", "NOTES_HOST": "<your_host>", "NOTES_MODE": "fast" } }
    }
  }
"#;

fn start(readme: &str, source: &str, said: &str) -> Option<ReadmeStart> {
    start_in(readme, &recognise(source, &[]).unwrap(), said)
}

fn with(args: &[&str], variables: &[(&str, Option<&str>)]) -> Option<ReadmeStart> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
    Some(ReadmeStart { args: args.iter().map(ToString::to_string).collect(), variables: variables.collect() })
}

#[test]
fn the_first_start_at_standard_input_is_read_and_its_keys_become_variables() {
    assert_eq!(start(FIGMA, "npm:figma-like", ""), with(&["--stdio"], &[("FIGMA_API_KEY", None)]));
    let brave = with(&["--transport", "stdio"], &[("BRAVE_API_KEY", None), ("LIMIT", Some("7"))]);
    assert_eq!(start(BRAVE, "npm:@brave/search@2", ""), brave);
    assert_eq!(start(STRIPE, "npm:@pay/mcp", ""), with(&["--api-key=PAY_SECRET_KEY"], &[]));
    let said = "pass it as --api-key=$KEY or set the PAY_SECRET_KEY environment variable";
    assert_eq!(start(STRIPE, "npm:@pay/mcp", said), with(&[], &[("PAY_SECRET_KEY", None)]));
    let notes = [("NOTES_API_KEY", None), ("NOTES_HOST", None), ("NOTES_MODE", Some("fast"))];
    assert_eq!(start(OBSIDIAN, "pypi:mcp-notes", ""), with(&[], &notes));
}

#[test]
fn what_is_of_another_package_or_shape_is_none() {
    let of = |command: &str, args: &str| {
        let readme =
            format!(r#""mcpServers": {{"s": {{"command": "{command}", "args": {args}}}}} and so on"#);
        start(&readme, "pypi:a-b", "").map(|start| start.args.join(" "))
    };
    let some = |args: &str| Some(args.to_owned());
    assert_eq!(of("uvx", r#"["--from", "A_b[x]==2", "b-cli", "serve"]"#), some("serve"));
    assert_eq!(of("pipx", r#"["run", "a-b", "x"]"#), some("x"));
    assert_eq!(of("uvx", r#"["--prerelease=allow", "a-b==2", "mcp"]"#), some("mcp"));
    assert_eq!(of("uvx", r#"["--python", "3.12", "a-b", "mcp"]"#), some("mcp"));
    assert_eq!(of("a-b", r#"["x", "<your-token>"]"#), some("x <your-token>"));
    for (command, args) in [
        ("uvx", r#"["a-c", "x"]"#),
        ("npx", r#"["-y", "a-b"]"#),
        ("uvx", r#"["--from", "git+https://example.org/a-b", "a-b"]"#),
        ("docker", r#"["run", "a-b", "x"]"#),
        ("uvx", r#"["a-b", "a`b"]"#),
        ("uvx", r#"["a-b", "\u001b[2J"]"#),
        ("uvx", r#"["a-b", "\\"]"#),
        ("uvx", r#"["a-b", "--transport=sse"]"#),
        ("uvx", r#"["a-b", 7]"#),
        ("uvx", r#"["a-b", "x"#),
        ("", "[]"),
    ] {
        assert_eq!(of(command, args), None, "{command} {args}");
    }
    let long = vec!["\"x\""; MAX_ARGS + 1].join(",");
    assert_eq!(of("uvx", &format!("[\"a-b\",{long}]")), None);
    assert_eq!(of("uvx", &format!("[\"a-b\",\"{}\"]", "x".repeat(MAX_WORD + 1))), None);
    let late = format!("{}{STRIPE}", " ".repeat(MAX_README));
    assert_eq!(start(&late, "npm:@pay/mcp", ""), None);
}

#[test]
fn a_key_whose_variable_is_not_known_for_sure_stays_an_argument() {
    let readme =
        r#"{"servers":{"s":{"command":"npx","args":["k","--token","YOUR_TOKEN","-v"],"env":{"A":"b"}}}}"#;
    let as_it_is = with(&["--token", "YOUR_TOKEN", "-v"], &[("A", Some("b"))]);
    assert_eq!(start(readme, "npm:k", "A_TOKEN or B_TOKEN is needed"), as_it_is);
    assert_eq!(start(readme, "npm:k", ""), as_it_is);
    let known = with(&["-v"], &[("A", Some("b")), ("K_TOKEN", None)]);
    assert_eq!(start(readme, "npm:k", "K_TOKEN is needed"), known);
}

proptest! {
    #[test]
    fn whatever_a_readme_says_what_is_shown_is_bounded_and_plain(
        words in proptest::collection::vec(
            prop_oneof![
                Just("\"mcpServers\""), Just("\"servers\""), Just(":"), Just("{"), Just("}"), Just("["), Just("]"), Just(","),
                Just("\"s\""), Just("\"command\":"), Just("\"npx\""), Just("\"args\":["), Just("\"k\""), Just("\"env\":{"),
                Just("\"KEY\":\"\""), Just("//"), Just("\n"), Just("/*"), Just("*/"), Just("\"\\u001b`\""), Just("\"--api-key=X\""),
                Just("\\"), Just("\"é\u{202e}\""), Just("\""), Just("API_KEY"),
            ],
            0..48,
        ),
    ) {
        if let Some(start) = start(&words.concat(), "npm:k", "API_KEY") {
            prop_assert!(start.args.iter().all(|arg| is_shown(arg)) && start.args.len() <= MAX_ARGS);
            prop_assert!(start.variables.iter().all(|(name, _)| wrong_of_others(name).is_none()));
        }
    }
}
