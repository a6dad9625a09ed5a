//! Mounts that come and go: the home's own small disk, which is filled and emptied, and a stick that is unmounted while servers run.
//!
//! ```text
//!  disk:  bridge spared ─► a grant ─► full ─► revoked, calls go on ─► room ─► all stored ─► bridge not spared any more
//!  stick: mounted ─► servers start ─► unmounted ─► no process has it
//! ```
//!
//! What only a bridge's memory has is lost with the bridge; that it is kept as long as the disk is full is what is asked here. Must never
//! mount anything outside this process's own namespace.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::McpCallTool;
use harbor_ipc_proto::client::{HostCallTool, HostGrantPermission, HostRevokePermission};
use harbor_ipc_proto::field::Message as _;
use harbor_tests::client::{CALL, server_id, tool_call};
use harbor_tests::small_disk::{SmallDisk, own_mounts};
use harbor_tests::{ErrorValue, Home, LIMIT};
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use serde_json::{Value, json};

use crate::desk;
use crate::dice::Dice;
use crate::link::{Link, Way};
use crate::stage::Stage;

/// The room of the home. Small, since all of it is filled; the logs of a long run fit.
const MIB: u32 = 96;

/// What the bridge says of itself as long as something is to be written to disk.
const UNSTORED: [&str; 3] = ["grants_unstored", "sessions_unsaved", "logins_unstored"];

/// Between two looks at the bridge's health.
const PAUSE: Duration = Duration::from_millis(50);

/// Both.
#[derive(Debug)]
pub struct Mounts {
    disk: SmallDisk,
    stick: PathBuf,
}

impl Mounts {
    /// None, which is said, where this is not allowed. Nothing may run in the home yet.
    pub fn set_up(home: &Home) -> Option<Self> {
        let made = || -> Result<Self, Errno> {
            own_mounts(MsFlags::MS_SHARED)?;
            Ok(Self { disk: SmallDisk::at(home, MIB)?, stick: home.scratch("stick") })
        };
        made()
            .inspect_err(|why| {
                println!("left out: full disks and unmounts: mounting is not allowed here: {why}")
            })
            .ok()
    }
}

/// Fills the disk and empties it until there are no more kills.
pub fn fill(stage: &Stage, mut dice: Dice) {
    let Some(mounts) = &stage.mounts else { return };
    let mut revoked = Vec::new();
    for number in 0.. {
        thread::sleep(dice.milliseconds(1000, 4000));
        if stage.is_calm() {
            return;
        }
        // The bridge that is spared is there when the others see it: no signal for it is under way.
        stage.spare(true);
        let ended = spell(stage, mounts, number, &mut revoked);
        stage.spare(false);
        match ended {
            Ok(()) => stage.tally.note("disk full"),
            Err(error) if error.code == "closed" || error.code == "shutting_down" => {
                stage.tally.note("disk not filled, the bridge was ending");
            }
            Err(error) => stage.tally.broke(format!("on a full disk: {error:?}")),
        }
    }
}

/// One time from room to room.
fn spell(stage: &Stage, mounts: &Mounts, number: u32, revoked: &mut Vec<String>) -> Result<(), ErrorValue> {
    // A relay may be killed; this one ends with the bridge only.
    let Some(link) = Link::open(stage, Way::Socket) else { return Ok(()) };
    for _ in 0..3 {
        // One that has been told to end says so by then.
        link.call("health", &json!({}))?;
    }
    for origin in revoked.iter() {
        hold(stage, &link, origin)?;
    }
    let origin = format!("https://full-{number}.example");
    let fields = json!({"origin": origin, "scope": CALL, "grant_type": "ALLOW_ALWAYS"});
    link.call(HostGrantPermission::TAG, &fields)?;
    mounts.disk.fill();
    let during = on_full_disk(stage, &link, &origin);
    mounts.disk.make_room();
    if let Err(error) = &during {
        stage.tally.broke(format!("the bridge has ended on a full disk: {error:?}"));
    }
    during?;
    let begun = Instant::now();
    while !is_stored(stage, &link)? {
        assert!(begun.elapsed() < LIMIT, "what a full disk refused is not stored within {LIMIT:?}");
        thread::sleep(PAUSE);
    }
    revoked.push(origin);
    link.finish(stage);
    Ok(())
}

fn on_full_disk(stage: &Stage, link: &Link, origin: &str) -> Result<(), ErrorValue> {
    let taken = link.call(HostRevokePermission::TAG, &json!({"origin": origin, "scope": CALL}))?;
    if taken["revoked"] != true {
        stage.tally.broke(format!("a grant of {origin} could not be revoked on a full disk: {taken:?}"));
    }
    hold(stage, link, origin)?;
    let begun = Instant::now();
    while !is_called(stage, link)? {
        if begun.elapsed() > LIMIT {
            stage.tally.broke(format!("no call was answered on a full disk within {LIMIT:?}"));
            break;
        }
    }
    Ok(())
}

/// Demands that an origin whose grant was taken away has none.
fn hold(stage: &Stage, link: &Link, origin: &str) -> Result<(), ErrorValue> {
    let call = json!({"origin": origin, "tool_name": format!("{}/look", desk::ID), "args": {"word": origin}});
    match link.call(HostCallTool::TAG, &call) {
        Err(error) if error.code == "ERR_SCOPE_REQUIRED" => Ok(()),
        Err(error) if error.code == "closed" || error.code == "shutting_down" => Err(error),
        other => {
            stage.tally.broke(format!("{origin} has lost its grant and calls: {other:?}"));
            Ok(())
        }
    }
}

/// Whether a call of the person's is answered; its server may have been killed this moment.
fn is_called(stage: &Stage, link: &Link) -> Result<bool, ErrorValue> {
    // Another word each time: a call is counted by its word.
    let word = json!({"word": format!("full-{:?}", Instant::now())}).to_string();
    let call = McpCallTool { timeout_ms: Some(1000), ..tool_call(server_id(desk::ID), "look", word) };
    stage.tally.sent();
    let begun = Instant::now();
    let outcome = link.send_request(&call).wait(LIMIT);
    let how = outcome.as_ref().map_or_else(|error| error.code.clone(), |_| "result".into());
    stage.tally.ended(&how, begun.elapsed());
    match outcome {
        Ok(_) => Ok(true),
        Err(error) if error.code == "closed" || error.code == "shutting_down" => Err(error),
        Err(_) => Ok(false),
    }
}

fn is_stored(stage: &Stage, link: &Link) -> Result<bool, ErrorValue> {
    let health = link.call("health", &json!({}))?["health"]["reasons"].clone();
    let reasons = health.as_array().map_or(&[][..], Vec::as_slice);
    let is_of_disk = |reason: &Value| UNSTORED.iter().any(|code| reason["code"] == *code);
    Ok(!reasons.iter().any(is_of_disk) && stage.login.is_stored())
}

/// Mounts a stick and unmounts it until there are no more kills.
pub fn unplug(stage: &Stage, mut dice: Dice) {
    let Some(Mounts { stick, .. }) = &stage.mounts else { return };
    fs::create_dir(stick).expect("a scratch directory");
    while !stage.is_calm() {
        let none = None::<&str>;
        mount(Some("none"), stick, Some("tmpfs"), MsFlags::empty(), none).expect("it could be done before");
        thread::sleep(dice.milliseconds(100, 900));
        if let Err(error) = umount2(stick, MntFlags::empty()) {
            return stage.tally.broke(format!("a disk that nobody uses cannot be unmounted: {error}"));
        }
        stage.tally.note("unmounted");
        let name = stick.to_string_lossy();
        for process in stage.home.processes() {
            let mounts = fs::read_to_string(format!("/proc/{}/mountinfo", process.pid)).unwrap_or_default();
            if mounts.contains(&*name) {
                stage.tally.broke(format!("what was unmounted is there for {}", process.command_line()));
            }
        }
        thread::sleep(dice.milliseconds(100, 400));
    }
}
