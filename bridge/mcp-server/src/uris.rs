//! Which server a URI belongs to.
//!
//! ```text
//!  file:///a            one server lists it, or one server's template fits it
//!  ui://a               one server's tools name it (MCP Apps), or it is listed
//!  harbor://SERVER/…    of this server; behind the slash the server's own URI, percent-encoded
//!  ui://harbor/SERVER/… the same of one that began with ui://
//! ```
//!
//! Owns both directions. A URI that two servers list, or that the templates of two fit, belongs to neither:
//! reading it at the wrong server would reveal the other one's data. A URI that a server lists goes before a
//! template of another server that fits it. The URIs of a server that is gone stay its own. Otherwise another
//! server would get its requests.

use std::collections::{BTreeMap, BTreeSet};

use harbor_ipc_proto::server_id::ServerId;

use super::target::Target;

/// The beginning of URIs that name their server.
const SCHEME: &str = "harbor://";

/// The beginning of URIs by which tools show themselves; hosts look for it.
pub const APP: &str = "ui://";

/// The beginning of those of them that name their server.
const APP_SCHEME: &str = "ui://harbor/";

/// The resources and templates of the last lists.
#[derive(Debug, Default)]
pub struct Uris {
    /// The servers that list a URI.
    listed: BTreeMap<String, BTreeSet<String>>,
    /// The servers whose tools name a URI.
    of_tools: BTreeMap<String, BTreeSet<String>>,
    /// Server and template.
    templates: Vec<(String, String)>,
}

/// The reason why a URI's server is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// No server lists it.
    Nobody,
    /// These servers could mean it.
    Several(Vec<String>),
}

impl Uris {
    pub fn set_resources<'a>(&mut self, listed: impl Iterator<Item = (&'a str, String)>) {
        let listed: Vec<_> = listed.collect();
        let present: BTreeSet<_> = listed.iter().map(|(server, _)| *server).collect();
        self.listed.retain(|_, servers| {
            servers.retain(|server| !present.contains(server.as_str()));
            !servers.is_empty()
        });
        for (server, uri) in listed {
            self.listed.entry(uri).or_default().insert(server.to_owned());
        }
    }

    pub fn set_of_tools(&mut self, named: impl Iterator<Item = (String, String)>) {
        self.of_tools.clear();
        for (server, uri) in named {
            self.of_tools.entry(uri).or_default().insert(server);
        }
    }

    /// The servers that list a URI, or whose tools name it.
    fn known(&self, uri: &str) -> BTreeSet<&String> {
        [&self.listed, &self.of_tools].into_iter().filter_map(|known| known.get(uri)).flatten().collect()
    }

    pub fn set_templates(&mut self, templates: Vec<(String, String)>) {
        let present: BTreeSet<_> = templates.iter().map(|(server, _)| server).collect();
        let gone = self.templates.iter().filter(|(server, _)| !present.contains(server)).cloned();
        let gone: Vec<_> = gone.collect();
        self.templates = templates.into_iter().chain(gone).collect();
    }

    /// The URI under which the client sees a server's resource.
    pub fn shown(&self, server: &str, uri: &str) -> String {
        let is_one = self.known(uri).len() <= 1;
        // What looks as if it named a server has to name its own.
        let is_plain = !uri.starts_with(SCHEME) && !uri.starts_with(APP_SCHEME);
        if is_one && is_plain { uri.to_owned() } else { of_server(server, uri) }
    }

    /// The target of a client's URI.
    pub fn find(&self, uri: &str) -> Result<Target, Unknown> {
        if let Some(target) = named(uri) {
            return Ok(target);
        }
        let by_template =
            || self.templates.iter().filter(|(_, template)| fits(template, uri)).map(|(server, _)| server);
        let known = self.known(uri);
        one(if known.is_empty() { by_template().collect() } else { known }, uri)
    }

    /// The server of a template, for completions.
    pub fn find_template(&self, template: &str) -> Result<Target, Unknown> {
        let known = self.templates.iter().filter(|(_, known)| known == template);
        let servers: BTreeSet<&String> = known.map(|(server, _)| server).collect();
        match servers.is_empty() {
            // MCP allows a URI without variables there, too.
            true => self.find(template),
            false => one(servers, template),
        }
    }
}

fn one(servers: BTreeSet<&String>, name: &str) -> Result<Target, Unknown> {
    let mut all = servers.into_iter();
    match (all.next(), all.next()) {
        (Some(server), None) => Ok(Target { server: server.clone(), name: name.to_owned() }),
        (None, _) => Err(Unknown::Nobody),
        (Some(first), Some(second)) => {
            Err(Unknown::Several([first, second].into_iter().chain(all).cloned().collect()))
        }
    }
}

/// The URI that stands for a server's `uri`: `harbor://SERVER/…`, `ui://harbor/SERVER/…`.
pub fn of_server(server: &str, uri: &str) -> String {
    let scheme = if uri.starts_with(APP) { APP_SCHEME } else { SCHEME };
    let mut out = format!("{scheme}{server}/");
    for byte in uri.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn named(uri: &str) -> Option<Target> {
    let named = uri.strip_prefix(SCHEME).or_else(|| uri.strip_prefix(APP_SCHEME));
    let (server, rest) = named?.split_once('/')?;
    let server = ServerId::parse(server)?.to_string();
    let mut bytes = Vec::with_capacity(rest.len());
    let mut rest = rest.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            byte => byte,
        });
    }
    Some(Target { server, name: String::from_utf8(bytes).ok()? })
}

/// True if a URI could be made from `template` (RFC 6570), which must name a scheme. Its fixed parts must
/// stand in the URI, in order, from the beginning to the end. The server decides what the variables may hold.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((fixed, more)) = rest.split_once('{') {
        let Some((_, behind)) = more.split_once('}') else { return false };
        parts.push(fixed);
        rest = behind;
    }
    let Some((first, middle)) = parts.split_first() else { return template == uri };
    // One that fits everything would claim what others list later.
    if !first.contains(':') {
        return false;
    }
    let Some(mut left) = uri.strip_prefix(first).and_then(|left| left.strip_suffix(rest)) else {
        return false;
    };
    middle.iter().all(|part| match left.split_once(part) {
        Some((_, behind)) => {
            left = behind;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn uris(listed: &[(&str, &str)], templates: &[(&str, &str)]) -> Uris {
        let mut uris = Uris::default();
        uris.set_resources(listed.iter().map(|(server, uri)| (*server, (*uri).to_owned())));
        uris.set_templates(templates.iter().map(|(server, uri)| ((*server).into(), (*uri).into())).collect());
        uris
    }

    #[test]
    fn a_uri_is_its_own_servers_or_nobodys() {
        let uris = uris(
            &[("s", "a:1"), ("t", "b:1"), ("s", "b:1"), ("s", "harbor://t/x")],
            &[("s", "f:/{path}.txt"), ("t", "f:/x/{+p}"), ("t", "odd{")],
        );
        let found = |uri: &str| uris.find(uri).map(|target| format!("{} {}", target.server, target.name));
        let several =
            |servers: &[&str]| Err(Unknown::Several(servers.iter().map(ToString::to_string).collect()));
        assert_eq!(found("a:1"), Ok("s a:1".into()));
        assert_eq!(found("b:1"), several(&["s", "t"]));
        assert_eq!(found("harbor://t/b%3a1"), Ok("t b:1".into()));
        assert_eq!(found("f:/y.txt"), Ok("s f:/y.txt".into()));
        assert_eq!(found("f:/x/y"), Ok("t f:/x/y".into()));
        assert_eq!(found("f:/x/y.txt"), several(&["s", "t"]));
        assert_eq!(found("g:"), Err(Unknown::Nobody));
        assert_eq!(found("odd{"), Err(Unknown::Nobody));
        // One that names another server than its own is shown under its own.
        assert_eq!(uris.shown("s", "harbor://t/x"), "harbor://s/harbor%3A%2F%2Ft%2Fx");
        assert_eq!(uris.find_template("f:/{path}.txt").unwrap().server, "s");
        assert_eq!(uris.find_template("a:1").unwrap().server, "s");
        assert_eq!(uris.find_template("f:/{other}"), Err(Unknown::Nobody));
    }

    #[test]
    fn what_is_a_servers_stays_its_own_when_it_has_gone() {
        let mut uris = uris(&[("s", "a:1"), ("s", "b:1")], &[("s", "f:/{path}")]);
        uris.set_resources([("t", "a:1".to_owned()), ("t", "c:1".to_owned())].into_iter());
        uris.set_templates(vec![("t".into(), "f:/x{path}".into())]);
        let servers = |uri: &str| match uris.find(uri) {
            Ok(target) => vec![target.server],
            Err(Unknown::Several(servers)) => servers,
            Err(Unknown::Nobody) => Vec::new(),
        };
        assert_eq!([servers("a:1"), servers("b:1"), servers("c:1")], [vec!["s", "t"], vec!["s"], vec!["t"]]);
        assert_eq!((servers("f:/x"), servers("f:/y")), (vec!["s".into(), "t".into()], vec!["s".into()]));
        // It is there again, without one of them.
        uris.set_resources([("s", "b:1".to_owned()), ("t", "a:1".to_owned())].into_iter());
        assert_eq!(uris.find("a:1").unwrap().server, "t");
    }

    #[test]
    fn what_tools_show_themselves_by_is_their_servers() {
        let mut uris = uris(&[("t", "ui://b")], &[("u", "ui://{x}")]);
        let named = [("s", "ui://a"), ("s", "ui://b"), ("t", "ui://c"), ("s", "ui://harbor/t/x")];
        uris.set_of_tools(named.into_iter().map(|(server, uri)| (server.to_owned(), uri.to_owned())));
        assert_eq!(uris.find("ui://a").unwrap().server, "s", "a template does not count beside that");
        assert_eq!(uris.find("ui://b"), Err(Unknown::Several(vec!["s".into(), "t".into()])));
        assert_eq!(
            (uris.shown("s", "ui://a"), uris.shown("s", "ui://b")),
            ("ui://a".into(), "ui://harbor/s/ui%3A%2F%2Fb".into())
        );
        for (server, uri) in named {
            let shown = uris.shown(server, uri);
            assert_eq!(uris.find(&shown), Ok(Target { server: server.into(), name: uri.into() }), "{shown}");
        }
    }

    #[test]
    fn templates_fit_what_has_their_fixed_parts() {
        for (template, uri, fit) in [
            ("a:{x}", "a:", true),
            ("a:{x}/{y}z", "a:1/2z", true),
            ("a:{x}/{y}z", "a:1z", false),
            ("a:{x}a", "a", false),
            ("a:b", "a:b", true),
            ("a:b", "a:bc", false),
            ("{+all}", "whatever", false),
            ("{scheme}:x", "a:x", false),
        ] {
            assert_eq!(fits(template, uri), fit, "{template} {uri}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_leads_back(server in "[a-c]{1,3}", uri in "\\PC{0,20}|harbor://[a-c]/%[0-9]{0,2}", alone: bool) {
            let other = if alone { "never:" } else { uri.as_str() };
            let uris = uris(&[(&server, &uri), ("other", other)], &[]);
            let shown = uris.shown(&server, &uri);
            prop_assert_eq!(uris.find(&shown), Ok(Target { server, name: uri }));
        }

        #[test]
        fn whatever_comes_is_looked_for(template in "[a{}:/]{0,12}", uri in "[a{}:/%]{0,12}") {
            let _ = uris(&[], &[("s", &template)]).find(&uri);
        }
    }
}
