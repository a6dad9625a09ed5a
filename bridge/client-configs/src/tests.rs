//! Editing and reading as clients' files really look, and as they could.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn entry(typed: bool) -> Entry {
    Entry {
        name: "harbor".into(),
        typed,
        command: "/opt/harbor".into(),
        args: vec!["mcp".into(), "--client".into(), "x".into()],
        env: vec![("HARBOR_HOME".into(), "/home/me/.harbor".into())],
        lists: Vec::new(),
    }
}

fn put(text: &str) -> String {
    Format::Json.put(text, "mcpServers", &entry(false)).unwrap()
}

fn take(text: &str) -> String {
    Format::Json.take(text, "mcpServers", "harbor", false).unwrap().unwrap()
}

const CURSOR: &str = r#"{
  "mcpServers": {
    // the clock
    "time": { "command": "uvx", "args": ["mcp-server-time"] } // mine
  }
}
"#;

#[test]
fn an_entry_comes_behind_the_others_and_comments_stay_where_they_are() {
    let after = put(CURSOR);
    assert_eq!(
        after,
        r#"{
  "mcpServers": {
    // the clock
    "time": { "command": "uvx", "args": ["mcp-server-time"] }, // mine
    "harbor": {
      "command": "/opt/harbor",
      "args": ["mcp", "--client", "x"],
      "env": {
        "HARBOR_HOME": "/home/me/.harbor"
      }
    }
  }
}
"#
    );
    assert_eq!(take(&after), CURSOR);
    assert_eq!(put(&after), after, "again changes nothing");
}

#[test]
fn tabs_trailing_commas_line_ends_and_marks_are_kept() {
    let zed = "\u{feff}// Zed\r\n{\r\n\t\"theme\": \"One\", /* dark */\r\n\t\"context_servers\": {\r\n\t\t\"a\": {\"command\": \"b\",},\r\n\t},\r\n}";
    let after = Format::Json.put(zed, "context_servers", &entry(false)).unwrap();
    assert_eq!(
        after,
        "\u{feff}// Zed\r\n{\r\n\t\"theme\": \"One\", /* dark */\r\n\t\"context_servers\": {\r\n\t\t\"a\": {\"command\": \"b\",},\
         \r\n\t\t\"harbor\": {\r\n\t\t\t\"command\": \"/opt/harbor\",\r\n\t\t\t\"args\": [\"mcp\", \"--client\", \"x\"],\
         \r\n\t\t\t\"env\": {\r\n\t\t\t\t\"HARBOR_HOME\": \"/home/me/.harbor\"\r\n\t\t\t}\r\n\t\t},\r\n\t},\r\n}"
    );
    assert_eq!(Format::Json.take(&after, "context_servers", "harbor", false), Ok(Some(zed.into())));
}

#[test]
fn a_file_of_one_line_stays_one() {
    let minified = r#"{"a":1,"mcpServers":{"t":{"command":"x"}}}"#;
    let after = put(minified);
    assert_eq!(
        after,
        r#"{"a":1,"mcpServers":{"t":{"command":"x"},"harbor":{"command":"/opt/harbor","args":["mcp","--client","x"],"env":{"HARBOR_HOME":"/home/me/.harbor"}}}}"#
    );
    assert_eq!(take(&after), minified);
}

#[test]
fn what_is_missing_is_made() {
    let made = "{\n  \"servers\": {\n    \"harbor\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/harbor\",\
                \n      \"args\": [\"mcp\", \"--client\", \"x\"],\n      \"env\": {\n        \"HARBOR_HOME\": \"/home/me/.harbor\"\
                \n      }\n    }\n  }\n}";
    let put = |text: &str| Format::Json.put(text, "servers", &entry(true)).unwrap();
    assert_eq!(put(""), format!("{made}\n"));
    assert_eq!(put("// mine"), format!("// mine\n{made}\n"));
    assert_eq!(put("{}"), made);
    assert_eq!(put("{\"servers\": {\n}}").matches("\"harbor\":").count(), 1);
    let take = |key_too| Format::Json.take(&put("{}"), "servers", "harbor", key_too).unwrap().unwrap();
    assert_eq!((take(true), take(false)), ("{}".into(), "{\n  \"servers\": {}\n}".into()));
}

#[test]
fn an_entry_of_ours_is_renewed_and_keeps_what_others_have_added() {
    let old = "{\n  \"mcpServers\": {\n    \"harbor\": {\n      \"command\": \"/old/harbor\", // moved\n      \"args\": [\"mcp\"],\
               \n      \"alwaysAllow\": [\"x\"],\n      \"env\": {\"HARBOR_HOME\": \"/home/me/.harbor\", \"HARBOR_LOG\": \"debug\"}\n    }\n  }\n}";
    let wanted = old.replace("/old/", "/opt/").replace("[\"mcp\"]", "[\"mcp\", \"--client\", \"x\"]");
    assert_eq!(put(old), wanted);
    assert!(entry(false).fits(&Format::Json.read(&wanted).unwrap()["mcpServers"]["harbor"]));
    let typed = Format::Json.put(&wanted, "mcpServers", &entry(true)).unwrap();
    assert_eq!(typed.replace(",\n      \"type\": \"stdio\"", ""), wanted, "it is added behind the others");
    let theirs = old.replace("\"args\": [\"mcp\"]", "\"url\": 1");
    assert!(!put(&theirs).contains("url"), "another program's goes whole");
}

#[test]
fn lists_of_the_client_go_into_our_entry_and_stay_there() {
    let with = Entry { lists: vec![("excludeTools".into(), vec!["a__b".into()])], ..entry(false) };
    let json = Format::Json.put("{}", "mcpServers", &with).unwrap();
    assert!(json.contains("\"excludeTools\": [\"a__b\"]"), "{json}");
    assert_eq!(put(&json), json, "what is not said stays");
    let more = Entry { lists: vec![("excludeTools".into(), vec!["a__b".into(), "c__d".into()])], ..with };
    assert!(Format::Json.put(&json, "mcpServers", &more).unwrap().contains("[\"a__b\", \"c__d\"]"));

    let old = format!(
        "{CODEX}\n[mcp_servers.harbor] # ours\ncommand = \"/old/harbor\"\nargs = [\"mcp\"]\nenabled_tools = [\"x\"]\n\
         startup_timeout_sec = 7 # slow\nenv = {{ HARBOR_HOME = \"/home/me/.harbor\" }}\n\n[tui]\nx = 1\n"
    );
    let renewed = Format::Toml.put(&old, "mcp_servers", &entry(false)).unwrap();
    let wanted = old.replace("/old/", "/opt/").replace("[\"mcp\"]", "[\"mcp\", \"--client\", \"x\"]");
    assert_eq!(renewed, wanted);
    let listed = Entry { lists: vec![("disabled_tools".into(), vec!["a__b".into()])], ..entry(false) };
    let listed = Format::Toml.put(&wanted, "mcp_servers", &listed).unwrap();
    assert_eq!(listed.replace("disabled_tools = [\"a__b\"]\n", ""), wanted);
}

#[test]
fn what_was_taken_is_given_back_as_it_was_written() {
    let give = |format: Format, key: &str, text: &str, name: &str, from: &str| {
        format.give_back(text, key, name, from).unwrap()
    };
    let of_cursor = |text: &str| give(Format::Json, "mcpServers", text, "time", CURSOR);
    let now = "{\n  \"mcpServers\": {\n    \"new\": { \"command\": \"x\" }\n  }\n}\n";
    assert_eq!(
        of_cursor(now).unwrap(),
        now.replace(
            "\"x\" }\n",
            "\"x\" },\n    \"time\": { \"command\": \"uvx\", \"args\": [\"mcp-server-time\"] }\n"
        )
    );
    assert_eq!(of_cursor(CURSOR), None, "it is there");
    for empty in ["", "{}", "{\"a\": 1}", "// mine\n"] {
        let back = of_cursor(empty).unwrap();
        assert_eq!(Format::Json.read(&back).unwrap()["mcpServers"]["time"]["command"], "uvx", "{back}");
    }
    let of_codex = |text: &str| give(Format::Toml, "mcp_servers", text, "time", CODEX);
    assert_eq!(
        of_codex("model = \"p\"\n").unwrap(),
        "model = \"p\"\n\n[mcp_servers.time]\ncommand = 'uvx'\nargs = [\n  \"x\",\n]\n"
    );
    assert_eq!(of_codex(CODEX), None);
}

const CODEX: &str =
    "# Codex\nmodel = \"o\" # mine\n\n[mcp_servers.time]\ncommand = 'uvx'\nargs = [\n  \"x\",\n]\n";

#[test]
fn a_table_of_toml_comes_last_and_goes_again() {
    let put = |text: &str| Format::Toml.put(text, "mcp_servers", &entry(false));
    let take = |text: &str| Format::Toml.take(text, "mcp_servers", "harbor", false);
    let after = put(CODEX).unwrap();
    let ours = "\n[mcp_servers.harbor]\ncommand = \"/opt/harbor\"\nargs = [\"mcp\", \"--client\", \"x\"]\n\
                env = { HARBOR_HOME = \"/home/me/.harbor\" }\n";
    assert_eq!(after, format!("{CODEX}{ours}"));
    assert_eq!(take(&after), Ok(Some(CODEX.into())));
    assert_eq!(put(&after).unwrap(), after, "again changes nothing");
    let windows = CODEX.replace('\n', "\r\n");
    assert_eq!(take(&put(&windows).unwrap()), Ok(Some(windows)));
    assert_eq!(take(&put("").unwrap()), Ok(Some(String::new())));
    let later = format!("{after}\n# next\n[tools]\nx = 1\n\n[mcp_servers.harbor.tools.a]\ny = 1\n");
    assert_eq!(take(&later), Err(ForeignError::ByHand("mcp_servers".into())), "another's table is between");
    let split = format!("{after}\n[mcp_servers.harbor.tools.a]\ny = 1\n\n# next\n[tools]\nx = 1\n");
    assert_eq!(take(&split).unwrap().unwrap(), format!("{CODEX}\n# next\n[tools]\nx = 1\n"));
    let inline = "mcp_servers = { time = { command = \"x\" } }\n";
    assert_eq!(put(inline), Err(ForeignError::ByHand("mcp_servers".into())));
}

#[test]
fn what_cannot_be_edited_is_told_with_its_place() {
    let error = |text: &str| Format::Json.put(text, "mcpServers", &entry(false)).unwrap_err().to_string();
    assert_eq!(error("{\n  \"a\": é\n}"), "line 2, column 8: Unexpected word");
    assert_eq!(error("[]"), "the file is not an object");
    assert_eq!(error("{\"mcpServers\": null}"), "mcpServers is not an object");
    assert_eq!(
        error(r#"{"mcpServers": {}, "mcpServers": {}}"#),
        "mcpServers occurs twice; remove one of them"
    );
    let toml = Format::Toml.put("a = 1\nb = [", "mcp_servers", &entry(false)).unwrap_err().to_string();
    assert!(toml.starts_with("line 2, column "), "{toml}");
}

/// A JSON object in anybody's hand, with comments and commas.
fn value() -> impl Strategy<Value = String> {
    let space = "( |\t|\n|\r\n|\n  |/\\*x\\*/| // y\n){0,2}";
    let leaf = prop_oneof![Just("1".to_owned()), Just("null".to_owned()), Just("\"é}{,\"".to_owned())];
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let member = (space, "[a-c]", space, inner, space);
        (proptest::collection::vec(member, 1..4), any::<bool>(), space).prop_map(
            |(members, trailing, end)| {
                let members: Vec<_> = members
                    .iter()
                    .enumerate()
                    .map(|(n, (a, name, b, value, c))| format!("{a}\"{name}{n}\"{b}:{value}{c}"))
                    .collect();
                format!("{{{}{}{end}}}", members.join(","), if trailing { "," } else { "" })
            },
        )
    })
}

proptest! {
    #[test]
    fn what_goes_into_any_object_comes_out_without_a_trace(
        value in value(), before in "( |\n|// z\n){0,2}", named in any::<bool>(), mark in any::<bool>(),
    ) {
        let root = if named { format!("{{\"mcpServers\":{value}}}") } else { value };
        let text = format!("{}{before}{root}\n", if mark { "\u{feff}" } else { "" });
        let Ok(after) = Format::Json.put(&text, "mcpServers", &entry(true)) else {
            // Only leaves are no objects.
            prop_assert!(!root.starts_with('{') || root.starts_with("{\"mcpServers\":") && !root.contains(":{"), "{}", text);
            return Ok(());
        };
        let taken = Format::Json.take(&after, "mcpServers", "harbor", !named).unwrap().unwrap();
        prop_assert_eq!(&taken, &text);
        prop_assert_eq!(Swap::between(&text, &after).undo(&after), Some(text));
    }

    #[test]
    fn any_table_of_toml_keeps_every_line(
        lines in proptest::collection::vec("([a-z]{3} = (1|'x'|\\[\n\\]) *(# c)?|# [a-z]*||\\[[a-z]{4}(\\.[a-z]{4})?\\])", 0..8),
        end in any::<bool>(),
    ) {
        let text = format!("{}{}", lines.join("\n"), if end { "\n" } else { "" });
        if let Ok(after) = Format::Toml.put(&text, "mcp_servers", &entry(true)) {
            prop_assert!(after.starts_with(&text));
            let taken = Format::Toml.take(&after, "mcp_servers", "harbor", false).unwrap().unwrap();
            prop_assert_eq!(taken.trim_end_matches('\n'), text.trim_end_matches('\n'));
        }
    }
}

fn around<'a>(variable: &'a dyn Fn(&str) -> Option<String>, workspace: Option<&'a str>) -> Surroundings<'a> {
    Surroundings {
        variable,
        home: "/home/me",
        workspace,
        fills: Fills::Any,
        is_there: &|path| path == "/w/server.js",
    }
}

#[test]
fn servers_are_found_under_every_name_for_them() {
    let root = json!({
        "mcpServers": {"a": 1}, "servers": {"b": 2}, "context_servers": {"c": 3}, "mcp_servers": {"d": 4},
        "mcp": {"servers": {"e": 5}}, "projects": {"/p": {"mcpServers": {"f": 6}}, "/q": 7},
    });
    let names = |key| named(&root, key).iter().map(|found| found.name).collect::<Vec<_>>();
    assert_eq!(names(None), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(names(Some("mcpServers")), ["a", "f"]);
    assert_eq!(names(Some("servers")), ["b"]);
    assert_eq!(named(&root, None)[5].project, Some("/p"));
    assert!(named(&json!([1]), None).is_empty());
}

#[test]
fn an_entry_is_taken_over_or_the_reason_is_told() {
    let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    let launch = |entry: Value| launch(&entry, false, &around(&variable, None));
    let done = launch(json!({"type": "stdio", "command": "npx", "args": ["-y", "x"], "cwd": "/c",
        "env": {"A": "${env:TOKEN}", "B": 7, "C": null}, "env_vars": ["TOKEN", "NONE"]}));
    assert_eq!(
        done,
        Ok(Launch {
            image: None,
            command: "npx".into(),
            args: vec!["-y".into(), "x".into()],
            env: [("A", "s3cret"), ("B", "7"), ("TOKEN", "s3cret")].map(|(n, v)| (n.into(), v.into())).into(),
            cwd: Some("/c".into()),
            taken: ["its variable A", "its variable TOKEN"]
                .map(|at| Use { variable: "TOKEN".into(), place: at.into() })
                .into(),
            missing: [].into(),
            remote: None,
        })
    );
    let zed = launch(json!({"source": "custom", "command": {"path": "/bin/x", "args": ["1"], "env": {}}}));
    assert_eq!(zed.unwrap().command, "/bin/x");
    for (entry, why) in [
        (json!({"command": "/opt/harbor", "args": ["mcp", "--client", "x"]}), Skip::Ours),
        (json!({"type": "http"}), Skip::Malformed("url")),
        (json!({"url": "https://x", "headers": ["a"]}), Skip::Malformed("headers")),
        (json!({"url": "https://x", "disabled": true}), Skip::Disabled),
        (
            json!({"url": "https://x", "headers": {"K": "${input:key}"}}),
            Skip::Unresolved(Unresolved::Input("key".into()), Some("K".into())),
        ),
        (json!({"command": "x", "disabled": true}), Skip::Disabled),
        (json!({"command": "x", "enabled": false}), Skip::Disabled),
        (json!({"settings": {}}), Skip::NoCommand),
        (json!({"command": "x", "args": "y"}), Skip::Malformed("args")),
        (json!({"command": "x", "args": [1]}), Skip::Malformed("args")),
        (json!({"command": "x", "env": []}), Skip::Malformed("env")),
        (json!({"command": "x", "cwd": 1}), Skip::Malformed("cwd")),
        (json!(1), Skip::Malformed("the entry")),
        (json!({"command": "./x"}), Skip::Relative("./x".into())),
        (json!({"command": "~/x"}), Skip::Relative("~/x".into())),
        (json!({"command": "node", "args": ["./x.js"]}), Skip::Relative("./x.js".into())),
        (json!({"command": "x", "envFile": ".env"}), Skip::EnvFile(".env".into())),
        (
            json!({"command": "x", "env": {"K": "${input:key}"}}),
            Skip::Unresolved(Unresolved::Input("key".into()), Some("K".into())),
        ),
    ] {
        assert_eq!(launch(entry.clone()), Err(why), "{entry}");
    }
}

#[test]
fn a_secret_that_the_client_asks_for_is_missing_and_no_reason_to_leave_it_out() {
    let launch = |entry: Value| launch(&entry, false, &around(&|_| None, None));
    let missing = |launch: Launch| launch.missing.into_iter().collect::<Vec<_>>();
    let env = json!({"API_TOKEN": "${input:token}", "MODE": "x"});
    let plain = launch(json!({"command": "x", "env": env})).unwrap();
    assert_eq!((plain.env.len(), missing(plain)), (1, vec!["API_TOKEN".to_owned()]));
    let args = json!(["run", "-i", "--rm", "-e", "API_TOKEN", "ghcr.io/a/b"]);
    let image = launch(json!({"command": "docker", "args": args, "env": env})).unwrap();
    assert!(image.image.is_some() && image.env.is_empty());
    assert_eq!(missing(image), ["API_TOKEN"]);
    let part = json!({"command": "x", "env": {"API_TOKEN": "Bearer ${input:token}"}});
    assert!(launch(part).unwrap_err().to_string().contains("harbor secrets set SERVER API_TOKEN"));
}

#[test]
fn remote_servers_are_read() {
    let variable = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    let launch = |entry: Value| launch(&entry, false, &around(&variable, None));
    let of = |url: &str, sse, headers: &[(&str, &str)]| {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Some(RemoteEntry { url: url.into(), sse, headers })
    };
    for (entry, wanted) in [
        (json!({"type": "http", "url": "https://x"}), of("https://x", false, &[])),
        (json!({"serverUrl": "https://x"}), of("https://x", false, &[])),
        (json!({"type": "sse", "url": "https://x"}), of("https://x", true, &[])),
        (
            json!({"url": "https://x", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}),
            of("https://x", false, &[("Authorization", "Bearer s3cret")]),
        ),
        (
            json!({"url": "https://x", "bearer_token_env_var": "TOKEN", "env_http_headers": {"X-K": "TOKEN", "Y": "NONE"}}),
            of("https://x", false, &[("Authorization", "Bearer s3cret"), ("X-K", "s3cret")]),
        ),
    ] {
        assert_eq!(launch(entry.clone()).unwrap().remote, wanted, "{entry}");
    }
}

#[test]
fn a_projects_servers_run_in_it_where_that_matters() {
    let launch = |entry: Value| launch(&entry, false, &around(&|_| None, Some("/w"))).unwrap();
    assert_eq!(launch(json!({"command": "bin/x"})).command, "/w/bin/x");
    assert_eq!(launch(json!({"command": "uvx", "args": ["pkg"]})).cwd, None);
    for arg in ["server.js", "./other.js"] {
        assert_eq!(launch(json!({"command": "node", "args": [arg]})).cwd.as_deref(), Some("/w"), "{arg}");
    }
    assert_eq!(launch(json!({"command": "x", "cwd": "sub"})).cwd.as_deref(), Some("/w/sub"));
}

#[test]
fn a_reason_shows_no_value_of_a_variable() {
    let secret = "s3cret-in-the-file";
    for env in
        [json!({"K": [secret]}), json!({"K": format!("{secret}${{input:x}}")}), json!({"K": {"x": secret}})]
    {
        let why = launch(&json!({"command": "x", "env": env}), false, &around(&|_| None, None)).unwrap_err();
        assert!(!why.to_string().contains(secret), "{why}");
    }
}
