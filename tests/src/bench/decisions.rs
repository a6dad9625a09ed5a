//! What the decisions about permissions take by themselves, in this process: no bridge, no pipe, no reply.
//!
//! Owns a table of grants like the bridge's. Must decide nothing by itself: it asks `harbor_policy` what the host asks.

use crate::grants::{self, ORIGINS, SERVERS, TOOLS, WITH_LIST, site};
use crate::host::{Question, Timed};
use crate::options::Options;
use crate::{Outcome, watchdog};
use harbor_ipc_proto::json::Pieces;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::grants::{DEFAULT_PROFILE, GrantType, Grants, Key, NewGrant, Verdict, profile};
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::{Allowlist, MAX_ENTRIES};
use harbor_tests::random::Random;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

/// For reports.
const ALONE: &str = "the decision alone";

/// About the length of what an origin is told of one tool.
const DESCRIPTOR: usize = 650;

/// The tools of one server, as the host keeps them.
struct Listed {
    server: SourceId,
    names: Vec<String>,
    descriptors: Rc<str>,
}

/// Measures every question.
pub fn measure(options: &Options) -> Outcome<Vec<Timed>> {
    watchdog::step("decisions".to_owned());
    let (mut table, tools) = (table()?, tools()?);
    let mut random = Random::new(1);
    let hot = key(&site(0), Scope::McpToolsCall)?;
    let others = (0..options.checks).map(|_| key(&site(any_site(&mut random)), Scope::McpToolsCall));
    let others = others.collect::<Outcome<Vec<_>>>()?;
    Ok(vec![
        Timed {
            question: Question::SameOrigin,
            what: ALONE,
            times: checks(&mut table, &vec![hot; options.checks], &tools)?,
        },
        Timed { question: Question::AnyOrigin, what: ALONE, times: checks(&mut table, &others, &tools)? },
        Timed {
            question: Question::Some,
            what: ALONE,
            times: lists(options, &mut table, 0, &tools, MAX_ENTRIES)?,
        },
        Timed {
            question: Question::All,
            what: ALONE,
            times: lists(options, &mut table, WITH_LIST, &tools, SERVERS * TOOLS)?,
        },
    ])
}

/// One of the sites that may call every tool.
pub fn any_site(random: &mut Random) -> usize {
    let others = ORIGINS - WITH_LIST;
    WITH_LIST + usize::try_from(random.below(others as u64)).unwrap_or(0)
}

fn table() -> Outcome<Grants> {
    let mut table = Grants::default();
    for stored in grants::all() {
        let scope = Scope::parse(&stored.scope).ok_or("no such scope")?;
        let tools = stored.allowed_tools.map(|tools| Allowlist::parse(&tools)).transpose()?;
        let grant = NewGrant { grant_type: GrantType::AllowAlways, tools, tab: None, lifetime_ms: None };
        table.restore(key(&stored.origin, scope)?, grant, stored.created_at)?;
    }
    Ok(table)
}

fn key(origin: &str, scope: Scope) -> Outcome<Key> {
    let profile = profile(DEFAULT_PROFILE).ok_or("no such profile")?;
    Ok(Key { origin: Origin::parse(origin)?, profile, scope })
}

/// All tools there are, by server.
fn tools() -> Outcome<Vec<Listed>> {
    let of_server = |number| {
        let server = SourceId::parse(&grants::server(number)).ok_or("no such server")?;
        let descriptors = vec!["x".repeat(DESCRIPTOR); TOOLS].join(",").into();
        Ok(Listed { server, names: (0..TOOLS).map(grants::tool).collect(), descriptors })
    };
    (0..SERVERS).map(of_server).collect()
}

fn checks(table: &mut Grants, keys: &[Key], tools: &[Listed]) -> Outcome<Vec<f64>> {
    let Listed { server, names, .. } = &tools[0];
    let mut times = Vec::with_capacity(keys.len());
    for key in keys {
        let begin = Instant::now();
        let verdict = table.check(key, None, Some((server, &names[0])), 0);
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        if !matches!(verdict, Verdict::Granted(_)) {
            return Err(format!("{} was refused: {verdict:?}", key.origin).into());
        }
    }
    Ok(times)
}

/// Goes through all tools, as the host does for a list: the permission to list and the one to call have to cover each.
/// What they cover is put together, and copied by nobody.
fn lists(
    options: &Options,
    table: &mut Grants,
    number: usize,
    tools: &[Listed],
    expected: usize,
) -> Outcome<Vec<f64>> {
    let keys = [Scope::McpToolsList, Scope::McpToolsCall].map(|scope| key(&site(number), scope));
    let [list, call] = keys;
    let (list, call) = (list?, call?);
    let mut times = Vec::with_capacity(options.lists);
    for _ in 0..options.lists {
        let begin = Instant::now();
        let views = [table.view(&list, None, 0), table.view(&call, None, 0)];
        let (mut pieces, mut found) = (Pieces::default(), 0);
        for Listed { server, names, descriptors } in tools {
            let views = views.each_ref().map(|view| view.of_source(server));
            let seen = |name: &str| views.iter().all(|view| view.covers(name));
            for (at, _) in names.iter().enumerate().filter(|(_, name)| seen(name)) {
                let start = at * (DESCRIPTOR + 1);
                pieces.push(descriptors, start..start + DESCRIPTOR);
                found += 1;
            }
        }
        black_box(pieces);
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        if found != expected {
            return Err(format!("{found} tools are seen instead of {expected}").into());
        }
    }
    Ok(times)
}
