//! catalog: servers that can be had.
//!
//! Owns how entries look, two lines each. Their texts are other people's: characters that a terminal would
//! obey, or nobody would see, are made visible.

use std::time::Duration;

use harbor_client::errors::{Exit, Failure};
use harbor_client::payload::{Payload, items};
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    CatalogChanges, CatalogDetails, CatalogEntry, CatalogEntryGet, CatalogGet, CatalogGetResult,
    CatalogRefresh, CatalogRefreshResult, CatalogSearch, CatalogSearchResult, CatalogStatus,
    CatalogStatusGet, CatalogStatusResult,
};
use harbor_ipc_proto::json::Json;

use super::changes::quoted;
use super::printing::{count, print};
use super::progress;
use crate::args::{CatalogWanted, ListWanted, PageWanted};
use crate::client::{Client, QUICK};
use crate::screen::{Screen, Status};
use crate::table::{fit, flatten};
use crate::when;

/// A page of a list for people; programs get the bridge's.
const PAGE: u64 = 20;

/// The places of a line.
const WIDTH: usize = 80;

/// A first refresh fetches everything, from a registry that may be slow.
const REFRESH: Duration = Duration::from_secs(3600);

pub fn run(client: &mut Client, wanted: &CatalogWanted, screen: &mut Screen) -> Result<(), Failure> {
    match wanted {
        CatalogWanted::List(list) => {
            let ask = CatalogGet {
                cursor: list.page.cursor.clone(),
                limit: limit(&list.page, screen.json),
                featured: list.featured.then_some(true),
                source: list.source.clone(),
                include_removed: None,
            };
            let answer = client.ask(&ask, QUICK)?;
            if let (true, Some(source)) = (answer.entries.is_empty(), &list.source) {
                is_source(client, source)?;
            }
            show_page(&answer, &Page::of_list(&answer), ("list", list), screen)
        }
        CatalogWanted::Search { words, page } => {
            let (query, cursor, limit) = (words.join(" "), page.cursor.clone(), limit(page, screen.json));
            let typed = format!("search {}", quoted(&query));
            let answer = client.ask(&CatalogSearch { query, cursor, limit }, QUICK)?;
            let list = ListWanted { page: page.clone(), ..ListWanted::default() };
            show_page(&answer, &Page::found(&answer), (&typed, &list), screen)
        }
        CatalogWanted::Show { id } => {
            let answer = client.ask(&CatalogEntryGet { id: id.clone() }, QUICK)?;
            print(screen, &answer, |answer| details(&answer.details))
        }
        CatalogWanted::Refresh { full } => refresh(client, *full, screen),
        CatalogWanted::Status => {
            let answer = client.ask(&CatalogStatusGet {}, QUICK)?;
            print(screen, &answer, |answer| state(answer, when::now()))
        }
    }
}

fn limit(page: &PageWanted, json: bool) -> Option<u64> {
    page.limit.or((!json).then_some(PAGE))
}

/// A page, listed or found.
struct Page<'a> {
    entries: &'a [CatalogEntry],
    next_cursor: Option<&'a str>,
    total: Option<u64>,
    snapshot: Option<&'a str>,
}

impl<'a> Page<'a> {
    fn of_list(answer: &'a CatalogGetResult) -> Self {
        let CatalogGetResult { entries, next_cursor, total, snapshot, .. } = answer;
        let (next_cursor, snapshot) = (next_cursor.as_deref(), snapshot.as_deref());
        Self { entries, next_cursor, total: Some(*total), snapshot }
    }

    fn found(answer: &'a CatalogSearchResult) -> Self {
        let CatalogSearchResult { entries, next_cursor, total, snapshot, .. } = answer;
        Self { entries, next_cursor: next_cursor.as_deref(), total: *total, snapshot: snapshot.as_deref() }
    }
}

/// The options of a page that the next one has, too.
fn options(list: &ListWanted) -> String {
    let source = list.source.iter().map(|source| format!(" --source {}", quoted(source)));
    let featured = list.featured.then(|| " --featured".to_owned());
    let limit = list.page.limit.map(|limit| format!(" --limit {limit}"));
    source.chain(featured).chain(limit).collect()
}

/// Fails for a source that does not exist: otherwise its list would only be empty.
fn is_source(client: &mut Client, source: &str) -> Result<(), Failure> {
    let answer = client.ask(&CatalogStatusGet {}, QUICK)?;
    let ids: Vec<_> = answer.sources.iter().map(|source| flatten(&source.id)).collect();
    if ids.is_empty() || ids.iter().any(|id| id == source) {
        return Ok(());
    }
    let what = format!("the catalog has no source {}", flatten(source));
    Err(Failure::Nothing(what, format!("there are {}", ids.join(", "))))
}

fn show_page<T>(
    answer: &Answer<T>,
    shown: &Page<'_>,
    (typed, list): (&str, &ListWanted),
    screen: &mut Screen,
) -> Result<(), Failure> {
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    for entry in shown.entries {
        screen.text(&in_short(entry))?;
    }
    if shown.entries.is_empty() {
        remark("nothing was found");
    }
    if let Some(cursor) = shown.next_cursor {
        let of = shown.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let (number, options, cursor) = (shown.entries.len(), options(list), flatten(cursor));
        remark(&format!("{number}{of}; more: harbor catalog {typed}{options} --cursor {cursor}"));
    }
    shown.snapshot.map(snapshot).iter().for_each(|text| remark(text));
    Ok(())
}

/// The note for as long as no source was reached.
fn snapshot(date: &str) -> String {
    format!("curated entries of {}; the registry has not been reached yet", flatten(date))
}

/// The entry in a line: `00ff… name npm, remote 1234 stars`, and its own description.
fn in_short(entry: &CatalogEntry) -> String {
    let kinds = entry.kinds.join(", ");
    let stars = entry.stars.map(|stars| count(usize::try_from(stars).unwrap_or(usize::MAX), "star"));
    let gone = entry.removed_at.map(|_| "removed".to_owned());
    let status = Some(entry.status.clone()).filter(|status| status != "active" && !status.is_empty());
    let featured = entry.featured.then(|| "featured".to_owned());
    let facts = [Some(kinds).filter(|kinds| !kinds.is_empty()), stars, featured, status, gone];
    let facts: Vec<_> = facts.into_iter().flatten().map(|fact| flatten(&fact)).collect();
    let name = flatten(&entry.name);
    let first = format!("{}  {}  {}", flatten(&entry.id), fit(&name, Some(40)), facts.join(", "));
    let title = entry.title.as_deref().unwrap_or_default();
    let said = flatten(if entry.description.is_empty() { title } else { &entry.description });
    let lines = [fit(first.trim_end(), Some(WIDTH)), format!("    {}", fit(&said, Some(WIDTH - 4)))];
    lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn details(details: &CatalogDetails) -> String {
    let entry = &details.entry;
    let day = |at: Option<u64>| at.map(|at| when::utc(at)[..10].to_owned());
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let text = |text: &str| Some(flatten(text)).filter(|text| !text.is_empty());
    let of = |said: &Option<String>| text(said.as_deref().unwrap_or_default());
    let tags: Vec<String> = serde_json::from_str(details.tags.as_str()).unwrap_or_default();
    let rows = [
        ("id", text(&entry.id)),
        ("name", text(&entry.name)),
        ("title", of(&entry.title)),
        ("source", text(&entry.source)),
        ("version", of(&entry.version)),
        ("status", text(&entry.status).filter(|status| status != "active")),
        ("repository", of(&details.repository)),
        ("website", of(&details.website)),
        ("tags", text(&tags.join(", "))),
        ("stars", number(entry.stars)),
        ("downloads", number(entry.downloads)),
        ("published", day(details.published_at)),
        ("updated", day(entry.updated_at)),
        ("last commit", day(details.last_commit_at)),
        ("removed", day(entry.removed_at)),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some(format!("{name:<12} {}", value?)));
    let packages = objects(&details.packages).into_iter().map(|package| ("package", had(&package)));
    let remotes = objects(&details.remotes).into_iter().map(|remote| ("remote", reached(&remote)));
    let ways = packages.chain(remotes).map(|(name, value)| format!("{name:<12} {value}"));
    let install = Some(installing(details)).filter(|said| !said.is_empty());
    let install = install.map(|said| format!("{:<12} {said}", "install"));
    let description = text(&entry.description).map(|text| format!("\n{text}"));
    rows.chain(ways).chain(install).chain(description).collect::<Vec<_>>().join("\n")
}

/// The objects of a list, as its author wrote it. Empty if one item is no object.
fn objects(list: &Json) -> Vec<Payload> {
    items(list)
        .iter()
        .map(|item| Payload::parse(item.get().as_bytes()))
        .collect::<Option<_>>()
        .unwrap_or_default()
}

/// The command that installs the entry, if there is a way to install it.
fn installing(details: &CatalogDetails) -> String {
    let entry = &details.entry;
    let ways = objects(&details.packages).len() + objects(&details.remotes).len();
    // What Harbor brings along has a name of its own.
    let id = if entry.source == "curated" { &entry.name } else { &entry.id };
    match ways {
        _ if entry.removed_at.is_some() => String::new(),
        0 => String::new(),
        1 => format!("harbor install {}", flatten(id)),
        many => format!("harbor install {}, with --package 1 to {many} as they are listed", flatten(id)),
    }
}

/// `npm @scope/name 1.2.3, stdio`, and the variables that it wants.
fn had(package: &Payload) -> String {
    let transport = package.object("transport").text("type");
    let words = [package.text("registryType"), package.text("identifier"), package.text("version")];
    let words: Vec<_> = words.iter().map(|word| flatten(word)).filter(|word| !word.is_empty()).collect();
    let transport = Some(flatten(&transport)).filter(|word| !word.is_empty());
    let variables = package.objects("environmentVariables");
    let variables: Vec<_> = variables.iter().map(|one| flatten(&one.text("name"))).collect();
    let variables = (!variables.is_empty()).then(|| format!("wants {}", variables.join(" ")));
    [Some(words.join(" ")), transport, variables].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn reached(remote: &Payload) -> String {
    format!("{} {}", flatten(&remote.text("type")), flatten(&remote.text("url"))).trim().to_owned()
}

fn refresh(client: &mut Client, full: bool, screen: &mut Screen) -> Result<(), Failure> {
    let shown = !screen.json && Status::is_visible();
    let ask = CatalogRefresh { full: Some(full), progress: Some(shown) };
    let mut status = shown.then(|| Status::new("refreshing the catalog …"));
    let answer = client.ask_with_progress(&ask, REFRESH, &mut |push| {
        status.iter_mut().for_each(|status| status.show(&progress::line("catalog", push)));
    });
    drop(status);
    let answer = answer?;
    let failed = failures(&answer);
    print(screen, &answer, refreshed)?;
    failed.iter().for_each(|text| remark(text));
    let asked = answer.sources.iter().filter(|source| source.id != CURATED).count();
    // Where there is no source but what Harbor brings along, none can fail.
    if failed.is_empty() || failed.len() < asked { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
}

/// The source that needs no request: Harbor's own list.
const CURATED: &str = "curated";

fn refreshed(answer: &CatalogRefreshResult) -> String {
    let CatalogChanges { added, updated, removed, restored } = answer.changes;
    let words = [(added, "new"), (updated, "changed"), (removed, "removed"), (restored, "back again")];
    let changed = words.iter().filter(|(number, _)| *number > 0);
    let changed: Vec<_> = changed.map(|(number, word)| format!("{number} {word}")).collect();
    let changed = if changed.is_empty() { "nothing has changed".into() } else { changed.join(", ") };
    let lines = [format!("{} entries: {changed}", answer.entries)].into_iter();
    let lines = lines.chain(answer.snapshot.as_deref().map(snapshot));
    lines.collect::<Vec<_>>().join("\n")
}

/// The reasons why sources could not be fetched.
fn failures(answer: &CatalogRefreshResult) -> Vec<String> {
    let failed = answer.sources.iter().filter_map(|source| Some((&source.id, source.error.as_ref()?)));
    failed.map(|(id, error)| format!("{} failed: {}", flatten(id), flatten(error))).collect()
}

fn state(answer: &CatalogStatusResult, now: u64) -> String {
    let catalog = &answer.catalog;
    let mut lines = vec![format!("catalog  {}", headline(catalog, now))];
    let worker = match (catalog.pid, &catalog.step) {
        (Some(pid), Some(step)) => format!(", process {pid}, {}", flatten(step)),
        (Some(pid), _) => format!(", process {pid}"),
        _ => String::new(),
    };
    lines.push(format!("worker   {}{worker}", catalog.state));
    let next = catalog.next_refresh.map_or_else(|| "on request only".into(), |at| when::until(at, now));
    lines.push(format!("next     {next}"));
    for source in &answer.sources {
        let tried = source.last_success.map(|at| format!(", {}", when::ago(at, now)));
        let error = source.error.as_ref().map(|error| format!(": {}", flatten(error))).unwrap_or_default();
        let (id, entries) = (flatten(&source.id), source.entries);
        lines.push(format!("source   {id}: {entries} entries{}{error}", tried.unwrap_or_default()));
    }
    lines.extend(catalog.last_error.as_ref().map(|error| format!("error    {}", flatten(error))));
    lines.join("\n")
}

/// `12345 entries, refreshed 5 min ago`, or why there are none; also in `harbor status`.
pub fn headline(catalog: &CatalogStatus, now: u64) -> String {
    if let Some(wrong) = &catalog.file_error {
        return flatten(wrong);
    }
    let Some(entries) = catalog.entries else { return "none yet".into() };
    let age = match (catalog.last_refresh, catalog.snapshot.as_deref().map(snapshot)) {
        (_, Some(snapshot)) => snapshot,
        (Some(at), None) => format!("refreshed {}", when::ago(at, now)),
        (None, None) => "never refreshed".into(),
    };
    format!("{entries} entries, {age}")
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command, typed};
    use super::*;

    const ENTRY: &str = r#"{"id":"00ff00ff00ff00ff","source":"registry","name":"io.github.x/time\u001b[2J\u202e","description":"Tells\nthe time","status":"deprecated","kinds":["npm","remote"],"featured":true,"stars":1}"#;

    #[test]
    fn an_entry_is_two_harmless_lines_within_80_places() {
        assert_eq!(
            in_short(&typed(ENTRY)),
            "00ff00ff00ff00ff  io.github.x/time\\u{1b}[2J\\u{202e}  npm, remote, 1 star, featu…\n    Tells the time"
        );
        let long =
            format!(r#"{{"id":"1","name":"{}","description":"{}"}}"#, "n".repeat(200), "d ".repeat(200));
        assert!(in_short(&typed(&long)).lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn a_page_is_asked_for_and_says_how_to_go_on() {
        let answer = format!(
            r#"{{"type":"catalog_search_result","request_id":"1","entries":[{ENTRY}],"next_cursor":"abc","total":7}}"#
        );
        let page = PageWanted { cursor: Some("x".into()), ..PageWanted::default() };
        let wanted = CatalogWanted::Search { words: vec!["a".into(), "b".into()], page };
        let ran = command(false, &[&answer], |client, screen| run(client, &wanted, screen));
        assert_eq!(
            ran.asked,
            [r#"{"type":"catalog_search","request_id":"1","query":"a b","cursor":"x","limit":20}"#]
        );
        assert_eq!(ran.printed.lines().count(), 2);
        let ran = command(true, &[&answer], |client, screen| run(client, &wanted, screen));
        assert!(ran.asked[0].contains(r#""cursor":"x""#) && !ran.asked[0].contains("limit"));
    }

    #[test]
    fn all_about_one_is_told_in_lines() {
        let text = details(&typed(&format!(
            r#"{{"entry":{ENTRY},"packages":[{{"registryType":"npm","identifier":"@x/time","version":"1.0","transport":{{"type":"stdio"}},"environmentVariables":[{{"name":"KEY"}}]}}],"remotes":[{{"type":"sse","url":"https://x"}}],"tags":["a","b"],"repository":"https://r","first_seen_at":1,"last_seen_at":1}}"#
        )));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "id           00ff00ff00ff00ff");
        assert!(lines.contains(&"package      npm @x/time 1.0, stdio, wants KEY"), "{text}");
        let install =
            "install      harbor install 00ff00ff00ff00ff, with --package 1 to 2 as they are listed";
        assert!(lines.contains(&install), "{text}");
        assert!(
            lines.contains(&"remote       sse https://x") && lines.contains(&"tags         a, b"),
            "{text}"
        );
    }

    #[test]
    fn a_refresh_tells_what_has_changed_and_fails_if_every_source_has() {
        let answer = |list: &str| {
            format!(
                r#"{{"type":"catalog_refresh_result","request_id":"1","changes":{{"added":3,"updated":0,"removed":1,"restored":0}},"entries":9,"sources":[{{"id":"registry","error":"no route"}},{{"id":"list"{list}}},{{"id":"curated"}}],"snapshot":"2026-11-01"}}"#
            )
        };
        let (some, all) = (answer(""), answer(r#","error":"late""#));
        assert_eq!(
            refreshed(&typed(&some)),
            "9 entries: 3 new, 1 removed\ncurated entries of 2026-11-01; the registry has not been reached yet"
        );
        assert_eq!(failures(&typed(&all)), ["registry failed: no route", "list failed: late"]);
        for (answer, exit) in [(some, Exit::Done), (all, Exit::Failed)] {
            let ran = command(false, &[&answer], |client, screen| refresh(client, false, screen));
            assert_eq!(ran.exit, exit);
            assert!(ran.printed.starts_with("9 entries: 3 new"), "{}", ran.printed);
        }
    }

    #[test]
    fn the_next_page_is_asked_for_with_the_same_options() {
        let page = PageWanted { limit: Some(5), cursor: Some("x".into()) };
        let list = ListWanted { page, source: Some("my list".into()), featured: true };
        assert_eq!(options(&list), " --source 'my list' --featured --limit 5");
        assert_eq!(options(&ListWanted::default()), "");
    }

    #[test]
    fn a_source_that_there_is_not_is_told_with_those_that_there_are() {
        let nothing = r#"{"type":"catalog_get_result","request_id":"1","entries":[],"total":0}"#;
        let status = r#"{"type":"catalog_status_result","request_id":"2","catalog":{},"sources":[{"id":"curated"},{"id":"registry"}]}"#;
        let of = |source: &str| {
            let wanted =
                CatalogWanted::List(ListWanted { source: Some(source.into()), ..ListWanted::default() });
            command(false, &[nothing, status], |client, screen| run(client, &wanted, screen))
        };
        assert_eq!(of("registry").exit, Exit::Done);
        let ran = of("foo");
        assert_eq!(ran.exit, Exit::NotFound);
        let said = ran.failure.unwrap();
        assert!(said.contains("no source foo"), "{said}");
    }

    #[test]
    fn the_state_is_told() {
        let answer = typed(
            r#"{"catalog":{"state":"running","pid":7,"step":"registry: page 2","entries":9,"last_refresh":1000,"next_refresh":601000,"last_error":"x\u0007"},"sources":[{"id":"registry","entries":8,"last_success":1000}]}"#,
        );
        assert_eq!(
            state(&answer, 1000),
            "catalog  9 entries, refreshed just now\nworker   running, process 7, registry: page 2\n\
             next     00:10Z (in 10 min)\nsource   registry: 8 entries, just now\nerror    x\\u{7}"
        );
        assert_eq!(headline(&typed(r#"{"file_error":"broken"}"#), 0), "broken");
        assert_eq!(headline(&typed("{}"), 0), "none yet");
    }
}
