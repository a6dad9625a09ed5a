//! Other programs' configuration files: whatever stands in them, an entry goes in and comes out and the rest stays.

use std::collections::BTreeSet;

use harbor_client_configs::{Entry, Fills, Format, Surroundings, Swap, launch, named, server_id};

use super::Target;

pub(super) const FOREIGN: Target = Target {
    name: "foreign",
    run: foreign,
    corpus: &[
        b"j{\n  \"mcpServers\": {\n    \"time\": { \"command\": \"uvx\", \"args\": [\"mcp-server-time\"] } // mine\n  }\n}\n",
        b"j\xef\xbb\xbf// Zed\r\n{\r\n\t\"theme\": \"One\", /* x */\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"url\": \"b\",},\r\n\t},\r\n}",
        b"j{\"a\":1,\"mcpServers\":{\"t\":{\"command\":\"${env:A}\",\"env\":{\"K\":\"${input:x}$B\"},\"envFile\":\".env\"}}}",
        b"j{\"mcpServers\":{\"harbor\":{\"command\":\"/x/harbor\",\"args\":[\"mcp\"]},\"b\":1}}",
        b"j{\"mcpServers\":{/* a */\"harbor\"/* b */:1/* c */,/* d */}}",
        b"j{\"mcpServers\":{},\"mcpServers\":null}",
        b"j{\"projects\":{\"/p\":{\"mcpServers\":{\"f\":{\"command\":{\"path\":\"x\"},\"cwd\":\"~/x\"}}}}}",
        b"j// nothing",
        b"j[[[[[[{}]]]]]]",
        b"t# Codex\nmodel = \"o\" # mine\n\n[mcp_servers.time]\ncommand = 'uvx'\nargs = [\n  \"x\",\n]\n",
        b"t[mcp_servers.harbor]\r\ncommand = \"/x/harbor\"\r\n[a]\r\n[mcp_servers.harbor.env]\r\nx = 1\r\n",
        b"tmcp_servers.harbor.command = \"\"\"\n[mcp_servers.x]\n\"\"\"\nmcp_servers.b = {}",
        b"tmcp_servers = { harbor = { args = [1979-05-27, 1e9, 0x1f] } }",
        b"t[[mcp_servers]]\n[mcp_servers.x]\na = nan",
    ],
};

const KEYS: [&str; 2] = ["mcpServers", "mcp_servers"];

fn foreign(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let toml = *kind == b't';
    let (format, key) = if toml { (Format::Toml, KEYS[1]) } else { (Format::Json, KEYS[0]) };
    let text = String::from_utf8_lossy(rest);
    let Ok(root) = format.read(&text) else {
        assert!(
            format.put(&text, key, &entry()).is_err() && format.take(&text, key, "harbor", true).is_err()
        );
        return;
    };
    read(&root);
    let had = root.get(key).and_then(|entries| entries.get("harbor")).is_some();
    if let Ok(without) = format.take(&text, key, "harbor", false) {
        assert_eq!(without.is_some(), had);
        assert!(without.is_none_or(|without| is_within(&without, &text)), "it only takes away: {text:?}");
    }
    let Ok(after) = format.put(&text, key, &entry()) else { return };
    assert!(had || is_within(&text, &after), "it only adds: {text:?}");
    assert_eq!(Swap::between(&text, &after).undo(&after).as_deref(), Some(&*text));
    assert_eq!(
        format.put(&after, key, &entry()).as_deref().map(|again| format.read(again)),
        Ok(format.read(&after))
    );
    let back = format.take(&after, key, "harbor", root.get(key).is_none()).map(Option::unwrap_or_default);
    if let Ok(back) = back
        && !had
    {
        let back = format.read(&back).expect("it was read");
        assert!(
            back == root
                || root.get(key).is_some_and(|old| old.as_object().is_some_and(|old| old.is_empty()))
        );
    }
}

/// Whatever can be taken over holds no placeholder, and its id is one.
fn read(root: &serde_json::Value) {
    let variable = |name: &str| (name.len() == 1).then(|| "v".to_owned());
    let around = Surroundings {
        variable: &variable,
        home: "/h",
        workspace: None,
        fills: Fills::Any,
        is_there: &|_| false,
    };
    for found in named(root, None) {
        let _ = server_id(found.name);
        match launch(found.entry, false, &around) {
            Ok(launch) => assert!(launch.cwd.is_none_or(|cwd| cwd.starts_with('/'))),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
    let _ = around.complete(&root.to_string(), &mut BTreeSet::new());
}

fn entry() -> Entry {
    Entry {
        name: "harbor".into(),
        typed: true,
        command: "/opt/é/harbor".into(),
        args: vec!["mcp".into()],
        env: vec![("HARBOR_HOME".into(), "/h \"x\"".into())],
        lists: Vec::new(),
    }
}

/// Whether a text is another one with something left out.
fn is_within(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|wanted| rest.any(|found| found == wanted))
}
