//! Who hears of a grant that is made, taken back or over: those who watch, and of them an AI client only of its own.

use harbor_tests::client::{CALL, LIST};
use harbor_tests::{Bridge, Client, Home, LIMIT};
use serde_json::{Value, json};

use super::SITE;

fn change(word: &str, grant: &Value) -> Value {
    json!({"type": "grant_changed", "change": word, "grant": grant})
}

/// Everything about grants that this client was told so far.
fn heard(client: &Client) -> Vec<Value> {
    // The answer comes behind whatever was pushed before.
    assert!(client.call("ping", &json!({})).is_ok());
    std::iter::from_fn(|| client.push_now("grant_changed")).collect()
}

#[test]
fn a_change_of_a_grant_is_told_to_those_who_watch_and_to_nobody_else() {
    let home = Home::new();
    home.configure("[grants]\nonceSeconds = 1\n");
    let owner = Bridge::start(&home);
    let [watcher, deaf] = [(); 2].map(|()| Client::attach(&home));
    let [ai, other_ai, deaf_ai] = ["ai", "other", "deaf"].map(|name| Client::attach_ai(&home, name));
    [&*owner, &watcher, &ai, &other_ai].into_iter().for_each(Client::watch_host);

    let (site, own) = (owner.speaking_for(SITE), owner.speaking_for("client://ai"));
    let always = site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/echo"]}));
    let once = own.grant(LIST, "ALLOW_ONCE", &json!({}));
    let ended = change("expired", &once);
    assert_eq!(owner.next_grant_change(), change("granted", &always));
    assert_eq!(owner.next_grant_change(), change("granted", &once));
    assert_eq!(owner.next_grant_change(), ended);
    let deny = own.grant(CALL, "DENY", &json!({}));
    assert!(site.revoke(CALL, None) && own.revoke(CALL, Some("DENY")));
    assert!(!site.revoke(CALL, None), "nothing is left, and so nothing is told");

    let of_owner = [change("granted", &deny), change("revoked", &always), change("revoked", &deny)];
    assert_eq!(heard(&owner), of_owner);
    let before = [change("granted", &always), change("granted", &once), ended.clone()];
    assert_eq!(heard(&watcher), [&before[..], &of_owner[..]].concat());
    let of_ai = [change("granted", &once), ended, change("granted", &deny), change("revoked", &deny)];
    assert_eq!(heard(&ai), of_ai);
    assert!([&other_ai, &deaf, &deaf_ai].into_iter().all(|client| heard(client).is_empty()));

    // Who has enough of it hears no more.
    assert_eq!(watcher.call("host_watch", &json!({"watch": false})).unwrap()["watching"], false);
    site.grant(CALL, "DENY", &json!({}));
    assert_eq!((heard(&watcher), heard(&owner).len()), (vec![], 1));
}

#[test]
fn each_of_many_ends_is_told_once() {
    let home = Home::new();
    home.configure("[grants]\nonceSeconds = 1\n");
    let bridge = Bridge::start(&home);
    bridge.watch_host();
    let many: Vec<_> = (0..50)
        .map(|n| {
            let origin = bridge.speaking_for(&format!("https://{n}.example"));
            origin.grant(CALL, "ALLOW_ONCE", &json!({"tab_id": n}))
        })
        .collect();
    let mut told = Vec::new();
    while told.len() < many.len() {
        let push = bridge.next_push("grant_changed", LIMIT);
        if push["change"] == "expired" {
            told.push(push["grant"].clone());
        }
    }
    let sorted = |mut grants: Vec<Value>| {
        grants.sort_by_key(|grant| grant["tab_id"].as_u64());
        grants
    };
    assert_eq!(sorted(told), sorted(many));
    assert_eq!((heard(&bridge), bridge.all_grants()), (vec![], vec![]));
}
