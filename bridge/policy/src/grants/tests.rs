//! Each verdict, each way in and out, and each boundary by example; all of it at random in `model`.

use super::*;

mod model;

const MINUTE: Millis = 60_000;

fn id(text: &str) -> SourceId {
    SourceId::parse(text).unwrap()
}

fn key(host: &str) -> Key {
    let origin = Origin::parse(&format!("https://{host}")).unwrap();
    Key { origin, profile: profile(DEFAULT_PROFILE).unwrap(), scope: Scope::McpToolsCall }
}

fn list(entries: &[&str]) -> Option<Allowlist> {
    Some(Allowlist::parse(&entries.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap())
}

fn tab(session: &str, tab: u64) -> Tab {
    Tab { session: session.into(), tab }
}

fn lasting(grant_type: GrantType) -> NewGrant {
    NewGrant { grant_type, tools: None, tab: None, lifetime_ms: None }
}

fn once(lifetime: u64) -> NewGrant {
    NewGrant { lifetime_ms: Some(lifetime), ..lasting(GrantType::AllowOnce) }
}

/// The verdict in a word, for one tool.
fn word(grants: &mut Grants, key: &Key, tab: Option<&Tab>, tool: (&str, &str), now: Millis) -> &'static str {
    match grants.check(key, tab, Some((&id(tool.0), tool.1)), now) {
        Verdict::Granted(grant) => grant.grant_type.as_str(),
        Verdict::Denied => "denied",
        Verdict::ToolNotAllowed => "tool not allowed",
        Verdict::ScopeRequired { expired: false } => "scope required",
        Verdict::ScopeRequired { expired: true } => "expired",
    }
}

const NOW: (&str, &str) = ("time", "now");

#[test]
fn names_of_types_and_profiles_are_exact() {
    for grant_type in [GrantType::AllowOnce, GrantType::AllowAlways, GrantType::Deny] {
        assert_eq!(GrantType::parse(grant_type.as_str()), Some(grant_type));
    }
    assert_eq!(GrantType::parse("deny"), None);
    assert_eq!(profile("Ä 1").as_deref(), Some("Ä 1"));
    assert!(profile(&"p".repeat(MAX_PROFILE)).is_some());
    for wrong in ["", "a\nb", &"p".repeat(MAX_PROFILE + 1)] {
        assert_eq!(profile(wrong), None, "{wrong:?}");
    }
}

#[test]
fn a_stored_grant_says_what_was_asked_for_in_wall_clock_times() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let new = NewGrant { tab: Some(tab("s", 7)), tools: list(&["time/*"]), ..once(MINUTE) };
    let stored = grants.put(key.clone(), new, 1_790_000_000_000, 5).unwrap();
    let wanted = Grant {
        grant_type: GrantType::AllowOnce,
        created_at: 1_790_000_000_000,
        expires_at: Some(1_790_000_060_000),
        tab: Some(tab("s", 7)),
        tools: list(&["time/*"]),
        deadline: Some(60_005),
    };
    assert_eq!(stored, wanted);
    assert_eq!(grants.check(&key, Some(&tab("s", 7)), None, 5), Verdict::Granted(wanted));
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let deny = || lasting(GrantType::Deny);
    let always = || lasting(GrantType::AllowAlways);
    for (new, why) in [
        (lasting(GrantType::AllowOnce), InvalidGrantReason::NoLifetime),
        (once(0), InvalidGrantReason::NoLifetime),
        (NewGrant { lifetime_ms: Some(1), ..always() }, InvalidGrantReason::Lasting),
        (NewGrant { lifetime_ms: Some(0), ..deny() }, InvalidGrantReason::Lasting),
        (NewGrant { tab: Some(tab("s", 1)), ..always() }, InvalidGrantReason::Lasting),
        (NewGrant { tab: Some(tab("s", 1)), ..deny() }, InvalidGrantReason::Lasting),
        (NewGrant { tools: list(&[]), ..deny() }, InvalidGrantReason::DenySome),
    ] {
        assert_eq!(grants.put(key.clone(), new.clone(), 0, 0), Err(why), "{new:?}");
    }
    assert_eq!(grants.restore(key, once(1), 0), Err(InvalidGrantReason::Outlived));
    assert!(grants.is_empty());
}

#[test]
fn a_restored_grant_counts_as_one_that_was_made() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let kept = NewGrant { tools: list(&["time/*"]), ..lasting(GrantType::AllowAlways) };
    grants.restore(key.clone(), kept, 17).unwrap();
    assert_eq!(word(&mut grants, &key, None, NOW, u64::MAX), "ALLOW_ALWAYS");
    assert_eq!(grants.all().map(|(_, grant)| grant.created_at).collect::<Vec<_>>(), [17]);
    grants.restore(key.clone(), lasting(GrantType::Deny), 18).unwrap();
    assert_eq!(word(&mut grants, &key, None, NOW, 0), "denied");
}

#[test]
fn a_deny_wins_before_and_after_every_allow_until_it_is_revoked() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let make = |grants: &mut Grants, new| drop(grants.put(key.clone(), new, 0, 0).unwrap());
    make(&mut grants, once(MINUTE));
    make(&mut grants, lasting(GrantType::Deny));
    make(&mut grants, lasting(GrantType::AllowAlways));
    make(&mut grants, NewGrant { tab: Some(tab("s", 1)), ..once(MINUTE) });
    assert_eq!(word(&mut grants, &key, Some(&tab("s", 1)), NOW, 1), "denied");
    assert_eq!(grants.revoke(&key, Some(GrantType::AllowAlways), None).len(), 1);
    assert_eq!(word(&mut grants, &key, None, NOW, 1), "denied");
    assert_eq!(grants.revoke(&key, Some(GrantType::Deny), None).len(), 1);
    assert_eq!(word(&mut grants, &key, None, NOW, 1), "ALLOW_ONCE");
    assert_eq!(grants.revoke(&key, None, None).len(), 2);
    assert_eq!(word(&mut grants, &key, None, NOW, 1), "scope required");
    assert_eq!((grants.len(), grants.next_deadline()), (0, None));
}

#[test]
fn a_revoke_for_a_tab_leaves_the_rest() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let bound = NewGrant { tab: Some(tab("s", 1)), ..once(50) };
    for new in [once(50), bound, lasting(GrantType::AllowAlways)] {
        grants.put(key.clone(), new, 0, 0).unwrap();
    }
    assert_eq!(grants.revoke(&key, None, Some(&tab("s", 2))).len(), 0);
    assert_eq!(grants.revoke(&key, None, Some(&tab("s", 1))).len(), 1);
    assert_eq!(grants.len(), 2);
}

#[test]
fn any_one_grant_that_covers_the_tool_is_enough() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let some = |entries, new| NewGrant { tools: list(entries), ..new };
    grants.put(key.clone(), some(&[], lasting(GrantType::AllowAlways)), 0, 0).unwrap();
    assert_eq!(word(&mut grants, &key, None, NOW, 0), "tool not allowed");
    assert!(matches!(grants.check(&key, None, None, 0), Verdict::Granted(_)), "no tool is asked for");
    grants.put(key.clone(), some(&["time/*"], once(9)), 0, 0).unwrap();
    assert_eq!(word(&mut grants, &key, None, NOW, 8), "ALLOW_ONCE");
    assert_eq!(word(&mut grants, &key, None, ("files", "read"), 8), "tool not allowed");
    assert_eq!(word(&mut grants, &key, None, NOW, 9), "tool not allowed");
}

#[test]
fn the_last_grant_of_a_type_and_tab_replaces_the_one_before() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let bound = |lifetime, number| NewGrant { tab: Some(tab("s", number)), ..once(lifetime) };
    for new in [once(50), once(10), bound(50, 1), bound(20, 1), bound(30, 2)] {
        grants.put(key.clone(), new, 0, 0).unwrap();
    }
    let deadlines: Vec<_> = grants.all().map(|(_, grant)| grant.deadline.unwrap()).collect();
    assert_eq!((deadlines, grants.next_deadline()), (vec![10, 20, 30], Some(10)));
}

#[test]
fn an_end_is_exact_and_told_once_also_when_a_check_found_it() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let stored = grants.put(key.clone(), once(MINUTE), 0, 7).unwrap();
    let end = 7 + MINUTE;
    assert_eq!((grants.next_deadline(), grants.expire(end - 1)), (Some(end), vec![]));
    assert_eq!(word(&mut grants, &key, None, NOW, end - 1), "ALLOW_ONCE");
    assert_eq!(word(&mut grants, &key, None, NOW, end), "expired");
    assert_eq!(word(&mut grants, &key, None, NOW, end - 1), "expired", "the time went back");
    assert_eq!((grants.len(), grants.next_deadline()), (0, Some(0)));
    assert_eq!(grants.expire(0), [(key.clone(), stored)]);
    assert_eq!((grants.next_deadline(), grants.expire(u64::MAX)), (None, vec![]));
    assert_eq!(word(&mut grants, &key, None, NOW, 8), "scope required");
}

#[test]
fn a_grant_for_one_tab_is_for_no_other() {
    let (mut grants, key) = (Grants::default(), key("a"));
    grants.put(key.clone(), NewGrant { tab: Some(tab("s", 1)), ..once(9) }, 0, 0).unwrap();
    for (from, wanted) in [
        (Some(tab("s", 1)), "ALLOW_ONCE"),
        (Some(tab("s", 2)), "scope required"),
        (Some(tab("t", 1)), "scope required"),
        (None, "scope required"),
    ] {
        assert_eq!(word(&mut grants, &key, from.as_ref(), NOW, 0), wanted, "{from:?}");
    }
    assert_eq!(word(&mut grants, &key, Some(&tab("s", 2)), NOW, 9), "scope required", "it was never its own");
}

#[test]
fn grants_end_with_their_tab_and_with_their_browser() {
    let mut grants = Grants::default();
    let tabs = [tab("s", 1), tab("s", 2), tab("t", 1), tab("t", 3)];
    for (host, tab) in ["a", "b"].iter().flat_map(|host| tabs.iter().map(move |tab| (host, tab))) {
        grants.put(key(host), NewGrant { tab: Some(tab.clone()), ..once(9) }, 0, 0).unwrap();
    }
    grants.put(key("a"), once(9), 0, 0).unwrap();
    let ended = |ended: Vec<(Key, Grant)>| -> Vec<_> {
        ended.into_iter().map(|(key, grant)| (key.origin.to_string(), grant.tab.unwrap())).collect()
    };
    let both = |tabs: &[&Tab]| -> Vec<_> {
        let of =
            |host: &str| tabs.iter().map(move |tab| (format!("https://{host}"), (*tab).clone())).collect();
        ["a", "b"].into_iter().flat_map(|host| -> Vec<_> { of(host) }).collect()
    };
    assert_eq!(ended(grants.end_tab(2, Some("t"), None)), []);
    assert_eq!(ended(grants.end_tab(2, Some("s"), None)), both(&[&tabs[1]]));
    assert_eq!(ended(grants.end_tab(1, None, None)), both(&[&tabs[0], &tabs[2]]));
    assert_eq!(ended(grants.end_session("t")), both(&[&tabs[3]]));
    assert_eq!((grants.len(), grants.end_session("t")), (1, vec![]));
    assert_eq!(grants.expire(8), [], "who asked was told");
}

#[test]
fn the_257th_grant_with_an_end_takes_the_place_of_the_first_to_end() {
    let (mut grants, key) = (Grants::default(), key("a"));
    grants.put(key.clone(), lasting(GrantType::AllowAlways), 0, 0).unwrap();
    for number in 0..256 {
        let new = NewGrant { tab: Some(tab("s", number)), ..once(1000 - number) };
        grants.put(key.clone(), new, 0, 0).unwrap();
    }
    assert_eq!((grants.len(), grants.next_deadline()), (257, Some(745)));
    grants.put(key.clone(), NewGrant { tab: Some(tab("s", 3)), ..once(2000) }, 0, 0).unwrap();
    assert_eq!((grants.len(), grants.next_deadline()), (257, Some(745)), "one more for the same tab");
    grants.put(key.clone(), once(1), 0, 0).unwrap();
    assert_eq!((grants.len(), grants.next_deadline()), (257, Some(0)));
    let gone = grants.expire(0);
    assert_eq!(gone.iter().map(|(_, grant)| grant.tab.clone()).collect::<Vec<_>>(), [Some(tab("s", 255))]);
    assert_eq!(grants.next_deadline(), Some(1));
}

#[test]
fn grants_are_listed_by_origin_and_profile_in_one_order() {
    let mut grants = Grants::default();
    let mut keys = Vec::new();
    for host in ["a", "b", "a.b"] {
        for name in ["q", "p"] {
            for scope in [Scope::McpToolsCall, Scope::ModelPrompt] {
                keys.push(Key { profile: profile(name).unwrap(), scope, ..key(host) });
            }
        }
    }
    for key in &keys {
        grants.put(key.clone(), lasting(GrantType::AllowAlways), 0, 0).unwrap();
    }
    keys.sort();
    let cloned = |found: &mut dyn Iterator<Item = (&Key, &Grant)>| -> Vec<Key> {
        found.map(|(key, _)| key.clone()).collect()
    };
    assert_eq!(cloned(&mut grants.all()), keys);
    let (origin, name) = (key("a").origin, profile("p").unwrap());
    let mut wanted = keys;
    wanted.retain(|key| key.origin == origin);
    assert_eq!(cloned(&mut grants.of(&origin, None)), wanted);
    wanted.retain(|key| key.profile == name);
    assert_eq!((cloned(&mut grants.of(&origin, Some("p"))), wanted.len()), (wanted, 2));
}

#[test]
fn a_right_is_for_calling_tools() {
    let (mut grants, key) = (Grants::default(), key("a"));
    grants.put(Key { scope: Scope::McpToolsList, ..key.clone() }, once(9), 0, 0).unwrap();
    let server = id("time");
    let right =
        |grants: &mut Grants| grants.right(&key.origin, &key.profile, None, (&server, "now"), 0).err();
    assert_eq!(right(&mut grants), Some(Verdict::ScopeRequired { expired: false }));
    grants.put(key.clone(), NewGrant { tools: list(&["time/now"]), ..once(9) }, 0, 0).unwrap();
    assert_eq!(right(&mut grants), None);
    grants.put(key.clone(), lasting(GrantType::Deny), 0, 0).unwrap();
    assert_eq!(right(&mut grants), Some(Verdict::Denied));
}

#[test]
fn a_grant_for_all_is_for_servers_and_for_no_source_of_another_kind() {
    let others = ["browser", "browser:work", "page:example.com", "js:notes", "wasm:notes"];
    let client = Key { origin: Origin::client("editor").unwrap(), ..key("a") };
    for key in [key("a"), client] {
        let mut grants = Grants::default();
        grants.put(key.clone(), lasting(GrantType::AllowAlways), 0, 0).unwrap();
        assert_eq!(word(&mut grants, &key, None, NOW, 1), "ALLOW_ALWAYS");
        assert!(grants.view(&key, None, 1).of_source(&id("time")).covers("now"));
        for other in others {
            assert_eq!(word(&mut grants, &key, None, (other, "now"), 1), "tool not allowed", "{other}");
            assert!(!grants.view(&key, None, 1).of_source(&id(other)).covers("now"), "{other}");
        }
    }
}

#[test]
fn a_grant_that_names_a_source_covers_it_but_no_list_lets_a_page_drive_a_browser() {
    let client = Key { origin: Origin::client("editor").unwrap(), ..key("a") };
    let named = list(&["browser/*", "page:example.com/buy", "js:notes/*"]);
    for (key, of_browser) in [(key("a"), "tool not allowed"), (client, "ALLOW_ALWAYS")] {
        let mut grants = Grants::default();
        let new = NewGrant { tools: named.clone(), ..lasting(GrantType::AllowAlways) };
        grants.put(key.clone(), new, 0, 0).unwrap();
        let mut said = |source, tool| word(&mut grants, &key, None, (source, tool), 1);
        assert_eq!(said("browser", "browser_click"), of_browser);
        assert_eq!(said("page:example.com", "buy"), "ALLOW_ALWAYS");
        assert_eq!(said("page:example.com", "sell"), "tool not allowed");
        assert_eq!(said("js:notes", "add"), "ALLOW_ALWAYS");
        assert_eq!(said("time", "now"), "tool not allowed");
        let view = grants.view(&key, None, 1);
        assert_eq!(view.of_source(&id("browser")).covers("browser_click"), of_browser == "ALLOW_ALWAYS");
    }
}

#[test]
fn a_right_names_its_kind_of_source() {
    let (mut grants, key) = (Grants::default(), key("a"));
    let new = NewGrant { tools: list(&["js:notes/*", "time/*"]), ..lasting(GrantType::AllowAlways) };
    grants.put(key.clone(), new, 0, 0).unwrap();
    let mut right = |source| grants.right(&key.origin, &key.profile, None, (&id(source), "x"), 1).unwrap();
    assert_eq!((right("js:notes").kind(), right("time").kind()), (SourceKind::Runtime, SourceKind::Server));
}

#[test]
fn a_source_that_is_forgotten_is_in_no_grant_and_the_rest_of_each_stays() {
    let mut grants = Grants::default();
    let (a, b, all) = (key("a"), key("b"), key("all"));
    let listed = |entries: &[&str]| NewGrant { tools: list(entries), ..lasting(GrantType::AllowAlways) };
    grants.put(a.clone(), listed(&["time/*", "files/read"]), 1, 0).unwrap();
    let once = NewGrant { tools: list(&["time/now"]), tab: Some(tab("s", 1)), ..once(MINUTE) };
    grants.put(b.clone(), once, 1, 0).unwrap();
    grants.put(all.clone(), lasting(GrantType::AllowAlways), 1, 0).unwrap();
    assert!(grants.name(&id("time")) && !grants.name(&id("mail")));
    let ended = grants.forget_source(&id("time"));
    let told: Vec<_> = ended
        .iter()
        .map(|(key, before, left)| {
            let entries = |grant: &Grant| grant.tools.as_ref().unwrap().entries();
            (key.clone(), entries(before).len(), left.as_ref().map(entries))
        })
        .collect();
    assert_eq!(told, [(a.clone(), 2, Some(vec!["files/read".to_owned()])), (b.clone(), 1, None)]);
    assert!(!grants.name(&id("time")));
    assert_eq!(word(&mut grants, &a, None, ("files", "read"), 1), "ALLOW_ALWAYS");
    assert_eq!(word(&mut grants, &a, None, NOW, 1), "tool not allowed");
    assert_eq!(word(&mut grants, &b, Some(&tab("s", 1)), NOW, 1), "scope required");
    assert_eq!(word(&mut grants, &all, None, NOW, 1), "ALLOW_ALWAYS", "that names no server");
    assert_eq!((grants.next_deadline(), grants.forget_source(&id("time"))), (None, vec![]));
}
