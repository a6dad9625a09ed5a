//! The entries that Harbor brings along: the catalog of a machine that was never online.

use harbor_ipc_proto::hex::hex;
use harbor_policy::curated::{self, Curated, CuratedPackage};
use rusqlite::OptionalExtension as _;
use serde_json::{Value, json};

use super::sources::{CURATED, Ended};
use super::{Db, DbError, sql};
use crate::entry::Entry;
use crate::packages;

impl Db {
    /// Writes them where there are none, or others.
    pub(super) fn seed(&mut self, now: u64) -> Result<(), DbError> {
        let entries: Vec<Entry> = curated::CURATED.iter().map(entry).collect();
        let mark = format!("{} {}", curated::DATE, fingerprint(&entries));
        let find = "SELECT value FROM meta WHERE key = 'seeded'";
        let found: Option<String> =
            self.connection.query_row(find, [], |row| row.get(0)).optional().map_err(sql("read"))?;
        if found.as_ref() == Some(&mark) {
            return Ok(());
        }
        let mut pass = self.begin(CURATED, false, now)?;
        entries.iter().try_for_each(|entry| pass.put(entry))?;
        pass.remove_the_others()?;
        let source = "INSERT OR IGNORE INTO sources (id, kind, url) VALUES ('curated', 'curated', '')";
        pass.execute(source, [])?;
        let keep = "INSERT OR REPLACE INTO meta (key, value) VALUES ('snapshot_date', ?1), ('seeded', ?2)";
        pass.execute(keep, (curated::DATE, &mark))?;
        pass.finish(CURATED, &Ended { full: true, ..Ended::default() }, now).map(drop)
    }
}

fn fingerprint(entries: &[Entry]) -> String {
    let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.fingerprint().into_iter().take(4)).collect();
    hex(&bytes)
}

fn entry(curated: &Curated) -> Entry {
    let (packages, remotes) = match curated.source {
        CuratedPackage::Npm(name) => (vec![package("npm", name, curated)], vec![]),
        CuratedPackage::Pypi(name) => (vec![package("pypi", name, curated)], vec![]),
        CuratedPackage::Oci(image) => (vec![package("oci", image, curated)], vec![]),
        CuratedPackage::Remote(url) => (vec![], vec![remote(url, curated)]),
    };
    let tags = curated.tags.iter().map(ToString::to_string).chain(packages::kinds(&packages, &remotes));
    Entry {
        name: curated.id.into(),
        title: Some(curated.title.into()),
        description: curated.description.into(),
        identifiers: packages::identifiers(&packages, &remotes),
        tags: tags.collect(),
        packages: packages::text(&packages),
        remotes: packages::text(&remotes),
        repository: Some(curated.repository.to_lowercase()),
        website: Some(curated.homepage.into()),
        featured: true,
        ..Entry::default()
    }
}

fn package(kind: &str, identifier: &str, curated: &Curated) -> Value {
    let variables = curated.env.iter().map(
        |variable| json!({"name": variable.name, "description": variable.description, "isRequired": false}),
    );
    let environment: Vec<Value> = variables.chain(secrets(curated)).collect();
    json!({"registryType": kind, "identifier": identifier, "transport": {"type": "stdio"},
           "environmentVariables": environment})
}

fn remote(url: &str, curated: &Curated) -> Value {
    let headers: Vec<Value> = secrets(curated).collect();
    json!({"type": "streamable-http", "url": url, "headers": headers})
}

fn secrets(curated: &Curated) -> impl Iterator<Item = Value> {
    curated.secrets.iter().map(|secret| {
        json!({"name": secret.name, "description": secret.description, "isRequired": secret.required, "isSecret": true})
    })
}
