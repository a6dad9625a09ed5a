//! status, health: everything at one glance, one server, and whether all is well.
//!
//! Owns how the status looks to people; programs get the bridge's own object. Must never measure: the bridge does.

use harbor_client::errors::{Exit, Failure};
use harbor_client::id::server_id;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_ipc_proto::client::{
    AgentStatus, CallCounts, CatalogStatus, ClientCounts, GetServerStatus, GetServerStatusResult, Health,
    HealthView, InstalledView, InstanceStatus, Sampling, ServerStatus, ServerView, Status, StatusUpdate,
    StatusView, SubscribeStatus, UsageSample,
};

use super::list::{shown, state};
use super::printing::count;
use super::stats::millis;
use super::{catalog, follow};
use crate::args::StatusWanted;
use crate::client::{Client, QUICK};
use crate::screen::{Screen, Tone};
use crate::table::{Table, flatten};
use crate::when;

/// The age from which a measured number is shown with its age, in milliseconds. A subscriber has it measured
/// every ten seconds.
const OLD_MS: u64 = 12_000;

pub fn show(client: &mut Client, wanted: &StatusWanted, screen: &mut Screen) -> Result<(), Failure> {
    if let Some(server) = &wanted.server {
        return of_one(client, server, screen);
    }
    if wanted.follow {
        return follow_it(client, screen);
    }
    let answer = client.ask(&Status { fresh: wanted.fresh.then_some(true) }, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.part("status").to_json())?);
    }
    screen.prose(&headlines(&answer.status))?;
    if let Some(turns) = answer.status.agent.as_ref().and_then(turns) {
        screen.prose(&turns)?;
    }
    let servers = &answer.status.servers;
    if !servers.is_empty() {
        screen.text("")?;
        screen.table(&tabulate(servers))?;
    }
    let own: Vec<_> = servers.iter().flat_map(|server| &server.instances).map(of_instance).collect();
    if !own.is_empty() {
        screen.text("")?;
        screen.prose(&own.join("\n"))?;
    }
    let oldest = servers.iter().filter_map(|server| Some(server.usage.as_ref()?.age_ms)).max();
    if let Some(age) = oldest.filter(|age| *age >= OLD_MS) {
        let age = when::lasting(age);
        remark(&format!("memory, CPU and files were measured {age} ago; measure now: --fresh"));
    }
    if !wanted.fresh && servers.iter().any(|server| server.usage.is_none() && server.pid.is_some()) {
        remark("--fresh measures memory, CPU and files");
    }
    Ok(())
}

/// One server: its state, and the reasons against its next start.
fn of_one(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&GetServerStatus { server_id: server_id(server)? }, QUICK)?;
    match screen.json {
        true => Ok(screen.json(&answer.to_json())?),
        false => Ok(screen.prose(&describe_one(&answer))?),
    }
}

fn describe_one(answer: &GetServerStatusResult) -> String {
    let (server, package) = (&answer.server, answer.package.as_ref());
    let mut lines = vec![
        format!("server     {}", flatten(&server.server_id)),
        format!("state      {}", flatten(explained(shown(&server.state, &server.shown_state)))),
    ];
    lines.extend(package.map(|package| {
        let version = package.version.as_deref().unwrap_or_default();
        format!("package    {} ({})", flatten(&format!("{} {version}", package.name)), package.kind)
    }));
    lines.extend(server.remote.as_ref().map(|remote| format!("remote     {}", flatten(&remote.url))));
    lines.extend(server.image.as_ref().map(|image| format!("image      {}", flatten(&image.reference))));
    let locked = lost(server, package).or_else(|| locked(server, package));
    lines.extend(locked.map(|locked| format!("locked     {locked}")));
    let sampling = server.supervision.sampling.filter(|setting| *setting != Sampling::Ask);
    lines.extend(sampling.map(|setting| format!("sampling   {}", setting.as_str())));
    lines.extend(server.last_error.as_ref().map(|last| format!("last end   {}", flatten(last))));
    lines.push(match answer.can_start {
        true => "start      can start".into(),
        false => {
            format!("start      cannot start: {}", flatten(answer.why_not.as_deref().unwrap_or_default()))
        }
    });
    lines.join("\n")
}

/// The state, and what it means where one word does not say it.
fn explained(state: &str) -> &str {
    match state {
        "ready" => "ready (starts when it is used)",
        state => state,
    }
}

/// The message that the locked version is unknown, so that no start takes a version by itself.
fn lost(server: &ServerView, package: Option<&InstalledView>) -> Option<String> {
    let (name, why) = (flatten(&server.server_id), flatten(package?.lost.as_ref()?));
    Some(format!(
        "its version is lost ({why}); `harbor upgrade {name}` installs the newest one, and `--to` another one"
    ))
}

/// The version, or image, that each start runs; none where the server has neither.
fn locked(server: &ServerView, package: Option<&InstalledView>) -> Option<String> {
    let name = flatten(&server.server_id);
    let first = "no version yet; its first start locks the one that it finds".to_owned();
    if let Some(image) = &server.image {
        let known = image.digest.as_ref().or(image.id.as_ref());
        return Some(known.map_or(first, |known| flatten(known)));
    }
    let package = package?;
    let hash = flatten(package.integrity.as_deref().unwrap_or_default());
    let packages = package.packages.unwrap_or(1);
    let others = usize::try_from(packages.saturating_sub(1)).unwrap_or(usize::MAX);
    let all = match others {
        0 => hash,
        others => format!("{hash}, and {} with it", count(others, "package")),
    };
    Some(match (&package.version, package.installed_at) {
        (None, _) => first,
        (Some(_), None) => format!("{all}; not installed yet; `harbor start {name}` installs exactly this"),
        (Some(_), Some(_)) => all,
    })
}

/// With `--json` the first line is the whole status, and each later one what has changed.
fn follow_it(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let ask = SubscribeStatus { subscribe: None, interval_ms: None };
    let answer = client.follow::<StatusUpdate, _>(&ask)?;
    follow::line(screen, &answer.part("status"), || headlines(&answer.status))?;
    follow::each(client, |update: Answer<StatusUpdate>| {
        follow::line(screen, &update.members(), || describe(&update))
    })
}

/// Asks a bridge that runs, and starts none: whoever asks wants to know.
pub fn health(paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let Some(mut client) = Client::connect_running(paths)? else {
        match screen.json {
            true => screen.json(DOWN)?,
            false => screen.prose(&told("down", &[NO_BRIDGE]))?,
        }
        return Err(Failure::Said(Exit::NoBridge));
    };
    let answer = client.ask(&Health {}, QUICK)?;
    let health = &answer.health;
    match screen.json {
        true => screen.json(&answer.part("health").to_json())?,
        false => screen.headed(
            &of_health(health),
            health.state.len(),
            Tone::of_state(&health.state).unwrap_or(Tone::Warning),
        )?,
    }
    match health.state.as_ref() {
        "failing" => Err(Failure::Said(Exit::Failed)),
        _ => Ok(()),
    }
}

/// The status without a bridge.
const DOWN: &str = r#"{"reasons":[{"state":"failing","code":"no_bridge","message":"no bridge is running; most other commands start one"}],"state":"down"}"#;

const NO_BRIDGE: &str = "no bridge is running; most other commands start one";

fn of_health(health: &HealthView) -> String {
    told(&health.state, &health.reasons.iter().map(|reason| reason.message.as_str()).collect::<Vec<_>>())
}

fn told(state: &str, reasons: &[&str]) -> String {
    let lines = reasons.iter().map(|reason| format!("  {}", flatten(reason)));
    [state.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

fn headlines(status: &StatusView) -> String {
    let (bridge, servers) = (&status.bridge, &status.servers);
    let are = |word: &str| servers.iter().filter(|server| server.shown_state == word).count();
    let (running, ready) = (are("running"), are("ready"));
    format!(
        "health   {}\nbridge   {} (build {}), process {}, up {}{}\nclients  {}\nservers  {}, {running} running, {ready} ready\ncalls    {}\ncatalog  {}",
        of_health(&status.health),
        bridge.version,
        bridge.build,
        bridge.pid,
        when::lasting(bridge.uptime_ms),
        usage(bridge.usage.as_ref()),
        clients(&bridge.clients),
        count(servers.len(), "server"),
        summed(&bridge.calls),
        catalog::headline(&status.catalog, when::now()),
    )
}

/// The models' use of tools, if any.
fn turns(agent: &AgentStatus) -> Option<String> {
    let ended: u64 = agent.ended.values().sum();
    let failed = agent.ended.get("failed").copied().unwrap_or_default();
    let said = |number: u64, what: &str| match number {
        0 => String::new(),
        number => format!(", {number} {what}"),
    };
    (ended + agent.running > 0).then(|| {
        format!(
            "turns    {ended}{}{}{}, {} calls, {} tokens",
            said(failed, "failed"),
            said(agent.running, "running"),
            said(agent.waiting, "waiting for your answer"),
            agent.calls,
            agent.input_tokens + agent.output_tokens
        )
    })
}

/// A process of a server that belongs to one page or AI client.
fn of_instance(one: &InstanceStatus) -> String {
    let state = state(&one.state, false, one.in_flight, one.queued);
    format!("{}  {state}  for {}", flatten(&one.id), flatten(&one.principal))
}

/// `, 12 MiB, 0.3 % of a processor`.
fn usage(usage: Option<&UsageSample>) -> String {
    let Some(usage) = usage else { return String::new() };
    let cpu = usage.cpu_permille.map(|permille| format!(", {} of a processor", percent(permille)));
    let age = Some(usage.age_ms).filter(|age| *age >= OLD_MS);
    let age = age.map(|age| format!(" ({} ago)", when::lasting(age))).unwrap_or_default();
    format!(", {}{}{age}", size(usage.memory), cpu.unwrap_or_default())
}

fn clients(clients: &ClientCounts) -> String {
    let all = [(clients.owner, "command line"), (clients.extension, "browser"), (clients.mcp, "AI client")];
    let some = all.iter().filter(|(number, _)| *number > 0);
    let some = some.map(|(number, what)| count(usize::try_from(*number).unwrap_or(usize::MAX), what));
    some.collect::<Vec<_>>().join(", ")
}

fn summed(calls: &CallCounts) -> String {
    let said = |number: u64, what: &str| match number {
        0 => String::new(),
        number => format!(", {number} {what}"),
    };
    let failed = said(calls.failures, "failed") + &said(calls.toolErrors, "reported a tool error");
    let times = &calls.durationUs;
    match calls.calls {
        0 => "none yet".into(),
        number => format!("{number}{failed}, p50 {} ms, p99 {} ms", millis(times.p50), millis(times.p99)),
    }
}

fn tabulate(servers: &[ServerStatus]) -> Table {
    let header =
        &["SERVER", "STATE", "CALLS", "FAILED", "P50 MS", "P99 MS", "MEMORY", "CPU", "FILES", "RESTARTS"];
    let mut table = Table::new(header).without(&["FILES", "CPU", "P50 MS"]);
    for server in servers {
        let (calls, usage) = (server.calls.as_ref(), server.usage.as_ref());
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        table.add([
            server.id.clone(),
            state_of(server),
            or_none(calls.map(|calls| calls.calls.to_string())),
            or_none(calls.map(|calls| calls.failures.to_string())),
            or_none(calls.map(|calls| millis(calls.durationUs.p50))),
            or_none(calls.map(|calls| millis(calls.durationUs.p99))),
            or_none(usage.map(|usage| size(usage.memory))),
            or_none(usage.and_then(|usage| usage.cpu_permille).map(percent)),
            or_none(usage.map(|usage| usage.open_files.to_string())),
            server.restarts.to_string(),
        ]);
    }
    table
}

fn state_of(server: &ServerStatus) -> String {
    state(shown(&server.state, &server.shown_state), server.busy, server.in_flight, server.queued)
}

/// A change, in one line.
fn describe(update: &StatusUpdate) -> String {
    let StatusUpdate { category, health, bridge, servers, removed, catalog, .. } = update;
    let what = match (category.as_ref(), servers.as_deref(), bridge, catalog) {
        ("server", Some([server]), ..) => format!("{}: {}", server.id, state_of(server)),
        ("server", ..) => format!("{}: removed", flatten(removed.as_deref().unwrap_or_default())),
        ("bridge", _, bridge, _) => {
            let why = health.reasons.first().map(|reason| format!("; {}", flatten(&reason.message)));
            let clients = bridge.as_ref().map(|bridge| clients(&bridge.clients)).unwrap_or_default();
            format!("clients: {clients}{}", why.unwrap_or_default())
        }
        ("catalog", _, _, Some(catalog)) => format!("catalog: {}", of_catalog(catalog)),
        (_, _, Some(bridge), _) => {
            format!("calls: {}{}", summed(&bridge.calls), usage(bridge.usage.as_ref()))
        }
        _ => String::new(),
    };
    format!("{} {}  {what}", when::utc(update.timestamp), health.state)
}

/// The catalog's present activity, else a summary of it.
fn of_catalog(catalog: &CatalogStatus) -> String {
    match &catalog.activity {
        None => catalog::headline(catalog, when::now()),
        Some(activity) => {
            let step = flatten(catalog.step.as_deref().unwrap_or_default());
            format!("{activity} {step}").trim_end().to_owned()
        }
    }
}

/// A size in the largest unit of which it has at least one.
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
    use super::super::rig::{command, complete_object, typed};
    use super::*;

    const STATUS: &str = r#"{"version":1,"timestamp":1000,"health":{"state":"degraded","reasons":[{"state":"degraded","server":"x","code":"server_failed","message":"x has failed: it was killed"}]},"bridge":{"version":"0.1.0","build":"abc","pid":7,"uptime_ms":7200000,"isolation":true,"clients":{"owner":1,"extension":0,"mcp":2},"open_requests":1,"waiting":0,"unread_bytes":0,"calls":{"calls":3,"failures":1,"durationUs":{"p50":1290,"p99":30000000}},"usage":{"memory":13107200,"cpu_permille":3}},"servers":[{"id":"time","state":"running","shown_state":"running","busy":false,"pid":9,"in_flight":2,"queued":0,"restarts":1,"calls":{"calls":3,"failures":1,"durationUs":{"p50":1290,"p99":2000}},"usage":{"memory":1048576,"cpu_permille":1005,"open_files":12}},{"id":"x","state":"failed","shown_state":"failed","busy":false,"in_flight":0,"queued":0,"restarts":3}],"catalog":{"state":"off"}}"#;

    fn answer(of: &str) -> String {
        format!(r#"{{"type":"{of}_result","request_id":"1","status":{STATUS}}}"#)
    }

    #[test]
    fn one_server_says_what_keeps_it_from_its_start() {
        let of = |json: &str| describe_one(&typed(json));
        let server = r#""server":{"server_id":"a","state":"failed","last_error":"it\nended"}"#;
        assert_eq!(
            of(&format!(r#"{{{server},"can_start":true}}"#)),
            "server     a\nstate      failed\nlast end   it ended\nstart      can start"
        );
        let elsewhere = r#""server":{"server_id":"a","state":"stopped","remote":{"url":"https://h/mcp"}}"#;
        assert_eq!(
            of(&format!(r#"{{{elsewhere},"can_start":true}}"#)).lines().nth(2),
            Some("remote     https://h/mcp")
        );
        let package = r#""package":{"name":"x","version":"1","kind":"npm"}"#;
        let said = of(&format!(r#"{{{server},{package},"can_start":false,"why_not":"it needs K"}}"#));
        assert!(
            said.contains("package    x 1 (npm)") && said.ends_with("start      cannot start: it needs K"),
            "{said}"
        );
        let locked = |server: &str, package: &str| {
            let package = (package != "{}").then(|| typed(package));
            locked(&typed(&format!(r#"{{"server_id":"a"{server}}}"#)), package.as_ref()).unwrap_or_default()
        };
        let version = r#""name":"x","version":"1","integrity":"sha512-a""#;
        assert_eq!(
            locked("", &format!(r#"{{{version},"packages":3,"installed_at":7}}"#)),
            "sha512-a, and 2 packages with it"
        );
        assert_eq!(locked("", &format!(r#"{{{version},"packages":0,"installed_at":7}}"#)), "sha512-a");
        assert_eq!(
            locked("", &format!("{{{version}}}")),
            "sha512-a; not installed yet; `harbor start a` installs exactly this"
        );
        let first = "no version yet; its first start locks the one that it finds";
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
             clients  1 command line, 2 AI clients\nservers  2 servers, 1 running, 0 ready\n\
             calls    3, 1 failed, p50 1.2 ms, p99 30000.0 ms\ncatalog  none yet\n\n\
             SERVER  STATE             CALLS  FAILED  P50 MS  P99 MS  MEMORY   CPU      FILES  RESTARTS\n\
             time    running (2 open)  3      1       1.2     2.0     1.0 MiB  100.5 %  12     1\n\
             x       failed            -      -       -       -       -        -        -      3\n"
        );
        assert_eq!(ran.asked, [r#"{"type":"status","request_id":"1","fresh":true}"#]);
        let plain = StatusWanted::default();
        let ran = command(true, &[&answer("status")], |client, screen| show(client, &plain, screen));
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&ran.printed), value(&complete_object("Status", STATUS)));
    }

    #[test]
    fn changes_are_lines() {
        let line = |text: &str| describe(&typed(text));
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
