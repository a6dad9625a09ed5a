//! The table of grants, sound and broken.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

async fn open(path: &Path) -> GrantFile {
    GrantFile::new(Rc::new(Database::open(path).unwrap())).await.unwrap()
}

async fn new() -> (TempDir, GrantFile) {
    let home = tempfile::tempdir().unwrap();
    let grants = open(&home.path().join("harbor.db")).await;
    (home, grants)
}

fn grant(origin: &str, grant_type: &str) -> StoredGrant {
    StoredGrant {
        origin: origin.into(),
        profile: "default".into(),
        scope: "mcp:tools.call".into(),
        grant_type: grant_type.into(),
        allowed_tools: None,
        created_at: 1_790_000_000_000,
    }
}

async fn clear(grants: &GrantFile, origin: &str, profile: &str, scope: &str, rows: Vec<StoredGrant>) {
    let [origin, profile, scope] = [origin, profile, scope].map(str::to_owned);
    grants.settle(vec![RowKey { origin, profile, scope }], rows).await.unwrap();
}

fn broken(origin: &str, profile: &str, scope: &str) -> Row {
    Row::Broken { origin: origin.into(), profile: profile.into(), scope: scope.into() }
}

#[tokio::test(flavor = "local")]
async fn grants_survive_and_their_keys_are_settled_one_by_one() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("harbor.db");
    let some =
        StoredGrant { allowed_tools: Some(vec!["a/b".into(), "\"\n".into()]), ..grant("https://a", "X") };
    let none = StoredGrant { allowed_tools: Some(Vec::new()), ..grant("https://a", "Y") };
    {
        let grants = open(&path).await;
        grants.put(grant("https://a", "X")).await.unwrap();
        for grant in [&some, &none, &grant("https://b", "X")] {
            grants.put(grant.clone()).await.unwrap();
        }
    }
    let grants = open(&path).await;
    let all = [some, none.clone(), grant("https://b", "X")].map(Row::Whole);
    assert_eq!(grants.all().await.unwrap(), all);
    clear(&grants, "https://a", "default", "mcp:tools.call", vec![none.clone()]).await;
    clear(&grants, "https://b", "another", "mcp:tools.call", Vec::new()).await;
    assert_eq!(grants.all().await.unwrap(), [none, grant("https://b", "X")].map(Row::Whole));
    clear(&grants, "https://a", "default", "mcp:tools.call", Vec::new()).await;
    assert_eq!(grants.all().await.unwrap(), [Row::Whole(grant("https://b", "X"))]);
}

#[tokio::test(flavor = "local")]
async fn what_cannot_be_read_is_told_and_what_can_be_removed_is() {
    let (_home, grants) = new().await;
    grants.put(grant("https://c", "X")).await.unwrap();
    let rows = "
        INSERT INTO grants VALUES ('https://a', 'p', 's', 'X', 'null', 1, NULL);
        INSERT INTO grants VALUES ('https://b', 'p', 's', 'X', NULL, -1, NULL);
        INSERT INTO grants VALUES (CAST(X'61ff' AS TEXT), 'p', 's', 'X', NULL, 1, NULL);
    ";
    grants.database.run(move |connection| Ok(connection.execute_batch(rows)?)).await.unwrap();
    let whole = Row::Whole(grant("https://c", "X"));
    let found = grants.all().await.unwrap();
    let torn = broken("a\u{fffd}", "p", "s");
    assert_eq!(found, [torn.clone(), broken("https://a", "p", "s"), broken("https://b", "p", "s"), whole]);
    clear(&grants, "https://a", "p", "s", Vec::new()).await;
    clear(&grants, "https://b", "p", "s", Vec::new()).await;
    assert_eq!(grants.all().await.unwrap(), [torn, Row::Whole(grant("https://c", "X"))]);
}

/// A table that another program made need not hold the types that ours has.
#[tokio::test(flavor = "local")]
async fn values_of_other_types_break_their_row_only() {
    let home = tempfile::tempdir().unwrap();
    let database = Rc::new(Database::open(&home.path().join("harbor.db")).unwrap());
    let foreign = "
        CREATE TABLE grants (origin, profile, scope, grant_type, allowed_tools, created_at);
        INSERT INTO grants VALUES ('https://a', NULL, 7, 'X', NULL, 1);
        INSERT INTO grants VALUES ('https://b', 'p', 's', 'X', X'00', 1);
        INSERT INTO grants VALUES ('https://c', 'p', 's', 'X', NULL, 'today');
    ";
    database.create(foreign).await.unwrap();
    let grants = GrantFile::new(database).await.unwrap();
    let wanted = [broken("https://a", "", ""), broken("https://b", "p", "s"), broken("https://c", "p", "s")];
    assert_eq!(grants.all().await.unwrap(), wanted);
}

#[tokio::test(flavor = "local")]
async fn a_hundred_thousand_grants_are_read_at_once() {
    let (_home, grants) = new().await;
    let fill = "
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
        INSERT INTO grants SELECT
            printf('https://site%d.example', i), 'default', 'mcp:tools.call', 'X', '[\"files/read\"]', i, NULL FROM n;
    ";
    grants.database.run(move |connection| Ok(connection.execute_batch(fill)?)).await.unwrap();
    let began = Instant::now();
    let rows = grants.all().await.unwrap();
    let took = began.elapsed();
    assert!(rows.len() == 100_000 && rows.iter().all(|row| matches!(row, Row::Whole(_))));
    // An unoptimised build on a machine that does other things as well.
    assert!(took < Duration::from_secs(5), "{took:?}");
}

fn any_grant() -> impl Strategy<Value = StoredGrant> {
    let tools = prop::option::of(prop::collection::vec(any::<String>(), 0..3));
    ("[ab]", "[\\PC\0\"']{0,2}", "[st]", "[XY]", tools, 0..=i64::MAX).prop_map(
        |(origin, profile, scope, grant_type, allowed_tools, created_at)| {
            let created_at = created_at.unsigned_abs();
            StoredGrant { origin, profile, scope, grant_type, allowed_tools, created_at }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn the_table_is_a_map(
        steps in prop::collection::vec((any_grant(), 0u8..4), 1..30),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (_home, grants) = new().await;
            let mut map = BTreeMap::new();
            for (grant, what) in steps {
                let key = [&grant.origin, &grant.profile, &grant.scope, &grant.grant_type].map(Clone::clone);
                let [origin, profile, scope, _] = &key;
                match what {
                    0 => {
                        clear(&grants, origin, profile, scope, Vec::new()).await;
                        map.retain(|other: &[String; 4], _| other[..3] != key[..3]);
                    }
                    1 => {
                        clear(&grants, origin, profile, scope, vec![grant.clone()]).await;
                        map.retain(|other: &[String; 4], _| other[..3] != key[..3]);
                        map.insert(key, Row::Whole(grant));
                    }
                    _ => {
                        grants.put(grant.clone()).await.unwrap();
                        map.insert(key, Row::Whole(grant));
                    }
                }
            }
            assert_eq!(grants.all().await.unwrap(), map.into_values().collect::<Vec<_>>());
        });
    }

    #[test]
    fn only_a_list_of_texts_is_a_list_of_tools(text in "(\\[|null|\"a\"|,|\\]|[0-9]|\\PC){0,6}", at: i64) {
        let wanted = serde_json::from_str::<Vec<String>>(&text).ok().filter(|_| at >= 0);
        match read_row("o", "p", "s", "X", Some(&text), at) {
            Row::Whole(grant) => prop_assert_eq!(grant.allowed_tools, wanted),
            row => prop_assert!(wanted.is_none() && row == broken("o", "p", "s")),
        }
    }
}
