//! status, health: everything at one glance, one server, and whether all is well.
//!
//! Owns how the status looks to people; programs get the bridge's own object. Must never measure: the bridge does.

use harbor_bridge::config::Paths;

use super::list::state;
use super::stats::millis;
use super::{catalog, count, follow};
use crate::args::StatusWanted;
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::{Exit, Failure};
use crate::reply::Members;
use crate::screen::{Screen, remark};
use crate::table::{Table, flatten};
use crate::when;

/// What was measured longer ago is shown with its age, in milliseconds: who subscribes has it measured every ten seconds.
const OLD_MS: u64 = 12_000;

pub fn show(client: &mut Client, wanted: &StatusWanted, screen: &mut Screen) -> Result<(), Failure> {
    if let Some(server) = &wanted.server {
        return of_one(client, server, screen);
    }
    if wanted.follow {
        return follow_it(client, screen);
    }
    let ask = Ask::new("status");
    let answer = client.request(&if wanted.fresh { ask.flag("fresh", true) } else { ask }, QUICK)?;
    let status = answer.object("status");
    if screen.json {
        return Ok(screen.json(&status.to_json())?);
    }
    screen.prose(&headlines(&status))?;
    let servers = status.objects("servers");
    if !servers.is_empty() {
        screen.text("")?;
        screen.table(&tabulate(&servers))?;
    }
    let oldest = servers.iter().filter_map(|server| server.object("usage").number("age_ms")).max();
    if let Some(age) = oldest.filter(|age| *age >= OLD_MS) {
        let age = when::lasting(age);
        remark(&format!("memory, processor and files were measured {age} ago; --fresh measures them now"));
    }
    if !wanted.fresh
        && servers.iter().any(|server| server.raw("usage").is_none() && server.raw("pid").is_some())
    {
        remark("memory, processor and files are measured with --fresh");
    }
    Ok(())
}

/// One server: how it is, and what keeps it from its next start.
fn of_one(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.request(&Ask::about("get_server_status", server), QUICK)?;
    match screen.json {
        true => Ok(screen.json(&answer.to_json())?),
        false => Ok(screen.prose(&describe_one(&answer))?),
    }
}

fn describe_one(answer: &Members) -> String {
    let (server, package) = (answer.object("server"), answer.object("package"));
    let mut lines = vec![
        format!("server     {}", flatten(&server.text("server_id"))),
        format!("state      {}", flatten(&server.text("state"))),
    ];
    let installed = flatten(&format!("{} {}", package.text("name"), package.text("version")));
    lines.extend(
        (!installed.is_empty()).then(|| format!("package    {installed} ({})", package.text("kind"))),
    );
    let (remote, image) = (server.object("remote").text("url"), server.object("image").text("reference"));
    lines.extend((!remote.is_empty()).then(|| format!("elsewhere  {}", flatten(&remote))));
    lines.extend((!image.is_empty()).then(|| format!("image      {}", flatten(&image))));
    let locked = lost(&server, &package).or_else(|| locked(&server, &package));
    lines.extend(locked.map(|locked| format!("locked     {locked}")));
    let last = flatten(&server.text("last_error"));
    lines.extend((!last.is_empty()).then(|| format!("last end   {last}")));
    lines.push(match answer.value("can_start") == true {
        true => "start      nothing is known that keeps it from starting".into(),
        false => format!("start      not as it is: {}", flatten(&answer.text("why_not"))),
    });
    lines.join("\n")
}

/// That nobody knows any more which version was locked: no start takes another one by itself.
fn lost(server: &Members, package: &Members) -> Option<String> {
    let (name, why) = (flatten(&server.text("server_id")), flatten(&package.text("lost")));
    package.raw("lost")?;
    Some(format!(
        "which version is lost ({why}); `harbor upgrade {name}` takes the newest one, and `--to` another"
    ))
}

/// Which version, or image, each start runs; nothing of what is neither.
fn locked(server: &Members, package: &Members) -> Option<String> {
    let (name, image) = (flatten(&server.text("server_id")), server.object("image"));
    let first = "nothing yet: what its first start finds".to_owned();
    if image.raw("reference").is_some() {
        let known = ["digest", "id"].into_iter().find(|known| image.raw(known).is_some());
        return Some(known.map_or(first, |known| flatten(&image.text(known))));
    }
    package.raw("name")?;
    let (hash, packages) = (flatten(&package.text("integrity")), package.number("packages").unwrap_or(1));
    let others = usize::try_from(packages.saturating_sub(1)).unwrap_or(usize::MAX);
    let all = match others {
        0 => hash,
        others => format!("{hash}, and {} with it", count(others, "package")),
    };
    Some(match (package.raw("version"), package.raw("installed_at")) {
        (None, _) => first,
        (Some(_), None) => format!("{all}; not installed yet: `harbor start {name}` installs exactly that"),
        (Some(_), Some(_)) => all,
    })
}

/// With `--json` the first line is the whole status, and each later one what has changed.
fn follow_it(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.follow(&Ask::new("subscribe_status"), "status_update")?;
    let status = answer.object("status");
    follow::line(screen, &status, || headlines(&status))?;
    follow::each(client, |update| follow::line(screen, &update, || describe(&update)))
}

/// Asks a bridge that runs, and starts none: whoever asks wants to know.
pub fn health(paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let running = Client::connect_running(paths)?;
    let health = match running {
        Some(mut client) => client.request(&Ask::new("health"), QUICK)?.object("health"),
        None => Members::parse(DOWN.as_bytes()).unwrap_or_default(),
    };
    match screen.json {
        true => screen.json(&health.to_json())?,
        false => screen.prose(&told(&health))?,
    }
    match health.text("state").as_str() {
        "down" => Err(Failure::Said(Exit::NoBridge)),
        "failing" => Err(Failure::Said(Exit::Failed)),
        _ => Ok(()),
    }
}

/// How it is without a bridge.
const DOWN: &str = r#"{"state":"down","reasons":[{"state":"failing","code":"no_bridge","message":"no bridge is running; most other commands start one"}]}"#;

fn told(health: &Members) -> String {
    let reasons = health.objects("reasons");
    let lines = reasons.iter().map(|reason| format!("  {}", flatten(&reason.text("message"))));
    [health.text("state")].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

fn headlines(status: &Members) -> String {
    let (bridge, servers) = (status.object("bridge"), status.objects("servers"));
    let running = servers.iter().filter(|server| server.text("state") == "running").count();
    let health = told(&status.object("health"));
    let calls = bridge.object("calls");
    format!(
        "health   {health}\nbridge   {} (build {}), process {}, up {}{}\nclients  {}\nservers  {}, {running} running\ncalls    {}\ncatalog  {}",
        bridge.text("version"),
        bridge.text("build"),
        bridge.value("pid"),
        when::lasting(bridge.number("uptime_ms").unwrap_or_default()),
        usage(&bridge.object("usage")),
        clients(&bridge.object("clients")),
        count(servers.len(), "server"),
        summed(&calls),
        catalog::headline(&status.object("catalog"), when::now()),
    )
}

/// `, 12 MiB, 0.3 % of a processor`.
fn usage(usage: &Members) -> String {
    let memory = usage.number("memory").map(|bytes| format!(", {}", size(bytes))).unwrap_or_default();
    let cpu = usage.number("cpu_permille").map(|permille| format!(", {} of a processor", percent(permille)));
    let age = usage.number("age_ms").filter(|age| *age >= OLD_MS);
    let age = age.map(|age| format!(" ({} ago)", when::lasting(age))).unwrap_or_default();
    format!("{memory}{}{age}", cpu.unwrap_or_default())
}

fn clients(clients: &Members) -> String {
    let all = [("owner", "command line"), ("extension", "browser"), ("mcp", "AI client")];
    let some = all.iter().filter_map(|(kind, what)| {
        let number = clients.number(kind).filter(|number| *number > 0)?;
        Some(count(usize::try_from(number).unwrap_or(usize::MAX), what))
    });
    some.collect::<Vec<_>>().join(", ")
}

fn summed(calls: &Members) -> String {
    let times = calls.object("durationUs");
    let failed = calls.number("failures").filter(|failed| *failed > 0);
    let failed = failed.map(|failed| format!(", {failed} failed")).unwrap_or_default();
    let errors = calls.number("toolErrors").filter(|errors| *errors > 0);
    let failed = format!(
        "{failed}{}",
        errors.map(|errors| format!(", {errors} with a tool's error")).unwrap_or_default()
    );
    match calls.number("calls").unwrap_or_default() {
        0 => "none yet".into(),
        number => {
            format!("{number}{failed}, p50 {} ms, p99 {} ms", millis(&times, "p50"), millis(&times, "p99"))
        }
    }
}

fn tabulate(servers: &[Members]) -> Table {
    let header =
        &["SERVER", "STATE", "CALLS", "FAILED", "P50 MS", "P99 MS", "MEMORY", "CPU", "FILES", "RESTARTS"];
    let mut table = Table::new(header).without(&["FILES", "CPU", "P50 MS"]);
    for server in servers {
        let (calls, usage) = (server.object("calls"), server.object("usage"));
        let times = calls.object("durationUs");
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        table.add([
            server.text("id"),
            state(server),
            or_none(calls.number("calls").map(|number| number.to_string())),
            or_none(calls.number("failures").map(|number| number.to_string())),
            millis(&times, "p50"),
            millis(&times, "p99"),
            or_none(usage.number("memory").map(size)),
            or_none(usage.number("cpu_permille").map(percent)),
            or_none(usage.number("open_files").map(|number| number.to_string())),
            or_none(server.number("restarts").map(|number| number.to_string())),
        ]);
    }
    table
}

/// One line of what has changed.
fn describe(update: &Members) -> String {
    let time = when::utc(update.number("timestamp").unwrap_or_default());
    let health = update.object("health");
    let why = health.objects("reasons").first().map(|reason| flatten(&reason.text("message")));
    let health = health.text("state");
    let (servers, removed) = (update.objects("servers"), update.text("removed"));
    let what = match (update.text("category").as_str(), servers.as_slice()) {
        ("server", [server]) => format!("{}: {}", server.text("id"), state(server)),
        ("server", _) => format!("{}: removed", flatten(&removed)),
        ("bridge", _) => {
            let why = why.map(|why| format!("; {why}")).unwrap_or_default();
            format!("clients: {}{why}", clients(&update.object("bridge").object("clients")))
        }
        ("catalog", _) => format!("catalog: {}", of_catalog(&update.object("catalog"))),
        _ => {
            let bridge = update.object("bridge");
            format!("calls: {}{}", summed(&bridge.object("calls")), usage(&bridge.object("usage")))
        }
    };
    format!("{time} {health}  {what}")
}

/// What it does, or what there is.
fn of_catalog(catalog: &Members) -> String {
    match (catalog.text("activity"), catalog.text("step")) {
        (activity, _) if activity.is_empty() => catalog::headline(catalog, when::now()),
        (activity, step) => format!("{activity} {}", flatten(&step)).trim_end().to_owned(),
    }
}

/// In the unit in which it is more than nothing.
pub fn size(bytes: u64) -> String {
    let in_tenths = |shift: u32| {
        let part = bytes & ((1 << shift) - 1);
        format!("{}.{}", bytes >> shift, (part * 10) >> shift)
    };
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", in_tenths(10)),
        _ => format!("{} MiB", in_tenths(20)),
    }
}

fn percent(permille: u64) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;

    const STATUS: &str = r#"{"version":1,"timestamp":1000,"health":{"state":"degraded","reasons":[{"state":"degraded","server":"x","code":"server_failed","message":"x has failed: it was killed"}]},"bridge":{"version":"0.1.0","build":"abc","pid":7,"uptime_ms":7200000,"isolation":true,"clients":{"owner":1,"extension":0,"mcp":2},"open_requests":1,"waiting":0,"unread_bytes":0,"calls":{"calls":3,"failures":1,"durationUs":{"p50":1290,"p99":30000000}},"usage":{"memory":13107200,"cpu_permille":3}},"servers":[{"id":"time","state":"running","busy":false,"pid":9,"in_flight":2,"queued":0,"restarts":1,"calls":{"calls":3,"failures":1,"durationUs":{"p50":1290,"p99":2000}},"usage":{"memory":1048576,"cpu_permille":1005,"open_files":12}},{"id":"x","state":"failed","busy":false,"in_flight":0,"queued":0,"restarts":3}],"catalog":{"state":"off"}}"#;

    fn answer(of: &str) -> String {
        format!(r#"{{"type":"{of}_result","request_id":"1","status":{STATUS}}}"#)
    }

    #[test]
    fn one_server_says_what_keeps_it_from_its_start() {
        let of = |json: &str| describe_one(&Members::parse(json.as_bytes()).unwrap());
        let server = r#""server":{"server_id":"a","state":"failed","last_error":"it\nended"}"#;
        assert_eq!(
            of(&format!(r#"{{{server},"can_start":true}}"#)),
            "server     a\nstate      failed\nlast end   it ended\nstart      nothing is known that keeps it from starting"
        );
        let elsewhere = r#""server":{"server_id":"a","state":"stopped","remote":{"url":"https://h/mcp"}}"#;
        assert_eq!(
            of(&format!(r#"{{{elsewhere},"can_start":true}}"#)).lines().nth(2),
            Some("elsewhere  https://h/mcp")
        );
        let package = r#""package":{"name":"x","version":"1","kind":"npm"}"#;
        let said = of(&format!(r#"{{{server},{package},"can_start":false,"why_not":"it needs K"}}"#));
        assert!(
            said.contains("package    x 1 (npm)") && said.ends_with("start      not as it is: it needs K"),
            "{said}"
        );
        let locked = |server: &str, package: &str| {
            let of = |json: &str| Members::parse(json.as_bytes()).unwrap();
            locked(&of(&format!(r#"{{"server_id":"a"{server}}}"#)), &of(package)).unwrap_or_default()
        };
        let version = r#""name":"x","version":"1","integrity":"sha512-a""#;
        assert_eq!(
            locked("", &format!(r#"{{{version},"packages":3,"installed_at":7}}"#)),
            "sha512-a, and 2 packages with it"
        );
        assert_eq!(locked("", &format!(r#"{{{version},"packages":0,"installed_at":7}}"#)), "sha512-a");
        assert_eq!(
            locked("", &format!("{{{version}}}")),
            "sha512-a; not installed yet: `harbor start a` installs exactly that"
        );
        let first = "nothing yet: what its first start finds";
        assert_eq!(locked("", r#"{"name":"x"}"#), first);
        assert_eq!(locked(r#","image":{"reference":"r"}"#, "{}"), first);
        assert_eq!(locked(r#","image":{"reference":"r","id":"sha256:1"}"#, "{}"), "sha256:1");
        assert_eq!(locked("", "{}"), "");
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        let sizes = [0, 1023, 1024, 49_000, 1_048_575, 1_048_576, 13_107_200].map(size);
        assert_eq!(
            sizes,
            ["0 bytes", "1023 bytes", "1.0 KiB", "47.8 KiB", "1023.9 KiB", "1.0 MiB", "12.5 MiB"]
        );
    }

    #[test]
    fn people_get_a_table_and_programs_the_object() {
        let wanted = StatusWanted { fresh: true, ..StatusWanted::default() };
        let ran = command(false, &[&answer("status")], |client, screen| show(client, &wanted, screen));
        assert_eq!(
            ran.printed,
            "health   degraded\n  x has failed: it was killed\n\
             bridge   0.1.0 (build abc), process 7, up 2 h, 12.5 MiB, 0.3 % of a processor\n\
             clients  1 command line, 2 AI clients\nservers  2 servers, 1 running\n\
             calls    3, 1 failed, p50 1.2 ms, p99 30000.0 ms\ncatalog  none yet\n\n\
             SERVER  STATE             CALLS  FAILED  P50 MS  P99 MS  MEMORY   CPU      FILES  RESTARTS\n\
             time    running (2 open)  3      1       1.2     2.0     1.0 MiB  100.5 %  12     1\n\
             x       failed            -      -       -       -       -        -        -      3\n"
        );
        assert_eq!(ran.asked, [r#"{"type":"status","request_id":"1","fresh":true}"#]);
        let plain = StatusWanted::default();
        let ran = command(true, &[&answer("status")], |client, screen| show(client, &plain, screen));
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&ran.printed), value(STATUS));
    }

    #[test]
    fn changes_are_lines() {
        let line = |text: &str| describe(&Members::parse(text.as_bytes()).unwrap());
        let at = "1970-01-01 00:00:01.000Z";
        let server = r#"{"category":"server","timestamp":1000,"health":{"state":"ok"},"servers":[{"id":"s","state":"crashed","busy":false}]}"#;
        assert_eq!(line(server), format!("{at} ok  s: crashed"));
        let removed = r#"{"category":"server","timestamp":1000,"health":{"state":"ok"},"removed":"s"}"#;
        assert_eq!(line(removed), format!("{at} ok  s: removed"));
        let clients = r#"{"category":"bridge","timestamp":1000,"health":{"state":"ok"},"bridge":{"clients":{"owner":2}}}"#;
        assert_eq!(line(clients), format!("{at} ok  clients: 2 command lines"));
        let refused = r#"{"category":"bridge","timestamp":1000,"health":{"state":"degraded","reasons":[{"message":"config.toml:3: no"}]},"bridge":{"clients":{"owner":1}}}"#;
        assert_eq!(line(refused), format!("{at} degraded  clients: 1 command line; config.toml:3: no"));
        let catalog = r#"{"category":"catalog","timestamp":1000,"health":{"state":"ok"},"catalog":{"activity":"refreshing","step":"registry: page 1"}}"#;
        assert_eq!(line(catalog), format!("{at} ok  catalog: refreshing registry: page 1"));
        let numbers = r#"{"category":"numbers","timestamp":1000,"health":{"state":"failing"},"bridge":{"calls":{"calls":0}},"servers":[]}"#;
        assert_eq!(line(numbers), format!("{at} failing  calls: none yet"));
    }
}
