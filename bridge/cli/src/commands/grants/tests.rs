//! Grants against a bridge with prepared answers.

use harbor_client::errors::Exit;
use harbor_policy::grants::GrantType;
use harbor_policy::scope::Scope;

use super::super::rig::{Ran, command, complete_object, error, typed};
use super::*;

/// 2026-11-21 12:00 UTC.
const NOON: u64 = 1_795_262_400_000;

const ALWAYS: &str = r#"{"origin":"https://a.example","profile":"default","scope":"mcp:tools.call","grant_type":"ALLOW_ALWAYS","created_at":1,"allowed_tools":["time/*"]}"#;

fn of(profile: Option<&str>) -> Granted {
    let origin = Origin::parse("https://a.example").unwrap();
    Granted { origin, scope: Scope::McpToolsCall, profile: profile.map(str::to_owned) }
}

fn granted(json: bool, denied: bool) -> Ran {
    let answer = format!(
        r#"{{"type":"host_grant_permission_result","request_id":"1","granted":true,"denied":{denied},"grant":{ALWAYS}}}"#
    );
    let typed = Grant {
        granted: of(Some("default")),
        once: false,
        always: true,
        deny: false,
        length: None,
        tool: vec!["time/*".into()],
        no_tools: false,
    };
    assert_eq!(ask_to_grant(&Grant { length: Some(7), ..typed.clone() }, NOON).expires_at, Some(NOON + 7));
    command(json, &[&answer], |client, screen| grant(client, &typed, screen))
}

#[test]
fn a_grant_is_confirmed_as_the_bridge_made_it() {
    let ran = granted(false, false);
    assert_eq!(ran.printed, "https://a.example may mcp:tools.call: time/*, always\n");
    assert_eq!(
        ran.asked,
        [
            r#"{"type":"host_grant_permission","request_id":"1","origin":"https://a.example","profile":"default","scope":"mcp:tools.call","grant_type":"ALLOW_ALWAYS","allowed_tools":["time/*"]}"#
        ]
    );
    let ran = granted(true, true);
    assert_eq!(
        ran.printed,
        format!("{{\"denied\":true,\"ended\":0,\"grant\":{ALWAYS},\"granted\":true,\"unstored\":false}}\n")
    );
    assert_eq!(ran.exit, Exit::Done);
}

#[test]
fn who_has_no_grants_is_named() {
    let origin = Origin::parse("https://none.example").unwrap();
    assert_eq!(
        none(Some(&origin)),
        "https://none.example has no grants; `harbor grant https://none.example SCOPE` makes one"
    );
    assert_eq!(none(None), "no grants; `harbor grant ORIGIN SCOPE` makes one");
}

#[test]
fn sentences() {
    let say = |rest: &str| {
        let grant = format!(r#"{{"origin":"client://x","scope":"mcp:tools.list",{rest}}}"#);
        sentence(&typed(&grant), NOON)
    };
    for (rest, said) in [
        (r#""grant_type":"ALLOW_ALWAYS","profile":"default""#, "client://x may mcp:tools.list, always"),
        (
            r#""grant_type":"ALLOW_ALWAYS","allowed_tools":[]"#,
            "client://x may mcp:tools.list: no tools, always",
        ),
        (
            r#""grant_type":"ALLOW_ONCE","profile":"work","expires_at":1795263000000,"allowed_tools":["a/b","c/*"]"#,
            "client://x (profile work) may mcp:tools.list: a/b, c/*, once until 12:10Z (in 10 min)",
        ),
        (r#""grant_type":"DENY""#, "client://x may not mcp:tools.list"),
    ] {
        assert_eq!(say(rest), said);
    }
}

#[test]
fn a_deny_that_stands_is_told_with_what_takes_it_away() {
    let warned = |grant: &str| warning(&typed(&format!(r#"{{"denied":true,"grant":{grant}}}"#)));
    assert_eq!(
        warned(ALWAYS).unwrap(),
        "harbor: a DENY overrides this grant; remove it with `harbor revoke https://a.example mcp:tools.call --deny`"
    );
    let of_work = warned(&ALWAYS.replace("default", "work")).unwrap();
    assert!(of_work.contains("mcp:tools.call --deny --profile \"work\"`"), "{of_work}");
    assert_eq!(warned(&ALWAYS.replace("ALLOW_ALWAYS", "DENY")), None, "it was asked for");
    let allowed = typed(&format!(r#"{{"denied":false,"grant":{ALWAYS}}}"#));
    assert_eq!(warning(&allowed), None);
}

fn revoked(json: bool, profile: Option<&str>, grant_type: Option<GrantType>, any: bool) -> Ran {
    let answer = format!(r#"{{"type":"host_revoke_permission_result","request_id":"1","revoked":{any}}}"#);
    let is = |wanted| grant_type == Some(wanted);
    let (once, always, deny) = (is(GrantType::AllowOnce), is(GrantType::AllowAlways), is(GrantType::Deny));
    let typed = Revoke { granted: of(profile), once, always, deny };
    command(json, &[&answer], |client, screen| revoke(client, &typed, screen))
}

#[test]
fn what_is_revoked_is_told() {
    let ran = revoked(false, None, None, true);
    assert_eq!(ran.printed, "revoked mcp:tools.call of https://a.example: all grants\n");
    assert_eq!(
        ran.asked,
        [
            r#"{"type":"host_revoke_permission","request_id":"1","origin":"https://a.example","scope":"mcp:tools.call"}"#
        ]
    );
    let ran = revoked(false, Some("work"), Some(GrantType::Deny), true);
    assert_eq!(ran.printed, "revoked mcp:tools.call of https://a.example (profile work): deny\n");
    assert!(ran.asked[0].contains(r#""profile":"work","scope":"mcp:tools.call","grant_type":"DENY"}"#));
    assert_eq!(
        revoked(true, None, None, true).printed,
        "{\"ended\":0,\"revoked\":true,\"unstored\":false}\n"
    );
}

#[test]
fn nothing_to_revoke_is_not_found() {
    let ran = revoked(false, None, Some(GrantType::AllowOnce), false);
    assert_eq!((ran.exit, ran.printed.as_str()), (Exit::NotFound, ""));
    assert_eq!(
        ran.failure.unwrap(),
        "https://a.example has no grant for mcp:tools.call (once): nothing was revoked\n\
         `harbor grants https://a.example` shows its grants"
    );
}

fn listed(tag: &str, grants: &str) -> String {
    format!(r#"{{"type":"{tag}_result","request_id":"1","grants":[{grants}]}}"#)
}

#[test]
fn the_grants_are_a_table() {
    let all = listed("host_list_all_permissions", ALWAYS);
    let ran = command(false, &[&all], |c, s| list(c, None, s).map(drop));
    assert_eq!(
        ran.printed,
        "ORIGIN             SCOPE           GRANT   TOOLS   UNTIL\n\
         https://a.example  mcp:tools.call  always  time/*  -\n"
    );
    assert_eq!(ran.asked, [r#"{"type":"host_list_all_permissions","request_id":"1"}"#]);
    let ran = command(true, &[&all], |c, s| list(c, None, s).map(drop));
    assert_eq!(
        ran.printed,
        format!("{{\"grants\":[{}],\"unstored\":[]}}\n", complete_object("Grant", ALWAYS))
    );
    let origin = Origin::parse("https://a.example").unwrap();
    let of_one = listed("host_get_permissions", "");
    let ran = command(false, &[&of_one], |c, s| list(c, Some(&origin), s).map(drop));
    assert_eq!(
        ran.asked,
        [r#"{"type":"host_get_permissions","request_id":"1","origin":"https://a.example"}"#]
    );
    assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Done));
    let ran = command(false, &[&error("invalid_params")], |c, s| list(c, Some(&origin), s).map(drop));
    assert_eq!(ran.exit, Exit::Usage);
}

#[test]
fn profiles_and_tabs_are_shown_where_there_are_any() {
    let once = r#"{"origin":"https://a.example","profile":"work","scope":"web:fetch","grant_type":"ALLOW_ONCE","expires_at":1795263000000,"tab_id":7}"#;
    let deny =
        r#"{"origin":"https://b.example","profile":"default","scope":"web:fetch","grant_type":"DENY"}"#;
    assert_eq!(
        tabulate(&[typed(once), typed(deny)], NOON).lines(None),
        [
            "ORIGIN             PROFILE  SCOPE      GRANT  TAB  TOOLS  UNTIL",
            "https://a.example  work     web:fetch  once   7    all    12:10Z (in 10 min)",
            "https://b.example  default  web:fetch  deny   -    all    -",
        ]
    );
}

#[test]
fn what_runs_and_what_the_disk_has_not_taken_is_shown_and_told() {
    let deny = r#"{"origin":"https://b.example","profile":"default","scope":"web:fetch","grant_type":"DENY","unstored":true}"#;
    let always = ALWAYS.replace("\"created_at\":1", "\"created_at\":1,\"running\":2");
    assert_eq!(
        tabulate(&[typed(&always), typed(deny)], NOON).lines(None),
        [
            "ORIGIN             SCOPE           GRANT   TOOLS   UNTIL            RUNNING",
            "https://a.example  mcp:tools.call  always  time/*  -                2",
            "https://b.example  web:fetch       deny    all     the bridge ends  -",
        ]
    );
    let one = r#"{"origin":"https://a.example","profile":"default","scope":"web:fetch","change":"revoked"}"#;
    assert_eq!(
        not_stored(&typed(one)),
        "harbor: web:fetch of https://a.example is revoked only until the bridge ends, since it is not written to the \
         disk yet"
    );
    assert_eq!(
        (ended(0), ended(2).unwrap()),
        (None, "harbor: 2 calls that used it were ended, and their results are dropped".into())
    );
}

#[test]
fn many_tools_are_counted() {
    let named = |count: usize| shorten(Some((1..=count).map(|n| format!("t/{n}")).collect()));
    assert_eq!(named(0), "none");
    assert_eq!(named(4), "t/1, t/2, t/3, t/4");
    assert_eq!(named(9), "t/1, t/2, t/3 and 6 more");
}
