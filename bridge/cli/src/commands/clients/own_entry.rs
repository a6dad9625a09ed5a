//! Harbor's own entry in the configuration of an AI client: where it is, what it says, and how it is written.
//!
//! Must never change a file before its note is kept.

use std::env;
use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_client_configs::{AiClient, Entry};
use harbor_home::Paths;
use serde_json::Value;

use super::file::Found;
use super::undo::UndoNote;

/// The name of our entry.
pub(super) const NAME: &str = "harbor";

/// The place of a client's configuration.
pub fn place(client: &AiClient) -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HOME").ok_or_else(|| {
        Failure::Usage("HOME is not set, so the configuration cannot be found; pass --file FILE".into())
    })?;
    Ok(client.file(env::consts::OS == "macos", &home, &set))
}

/// The entry as it has to be. Clients start servers with hardly any environment, so it says all of it.
pub(super) fn entry(client: &AiClient, name: &str, only: &[String], paths: &Paths) -> Result<Entry, Failure> {
    let program = env::current_exe().and_then(|path| path.canonicalize());
    let program = program.map_err(|error| Failure::Io("find this program's own path", error))?;
    let text = |path: &Path| match path.to_str() {
        Some(text) if !text.contains('$') => Ok(text.to_owned()),
        Some(text) => Err(Failure::Usage(format!("{text}: clients read $ as the beginning of a variable"))),
        None => Err(Failure::Usage(format!("{} is not UTF-8", path.display()))),
    };
    let mut args = vec!["mcp".to_owned(), "--client".to_owned(), name.to_owned()];
    args.extend(only.iter().flat_map(|pattern| ["--only".to_owned(), pattern.clone()]));
    Ok(Entry {
        name: NAME.to_owned(),
        typed: client.typed,
        command: text(&program)?,
        args,
        env: vec![("HARBOR_HOME".to_owned(), text(paths.home())?)],
        lists: Vec::new(),
    })
}

/// Writes a change. The note is written first, since a change without a note could not be undone exactly.
pub(super) fn write(
    paths: &Paths,
    found: &Found,
    after: &str,
    new: UndoNote,
    old: Option<UndoNote>,
) -> Result<(), Failure> {
    new.save(paths)?;
    match found.write(after) {
        Ok(made) if made.is_empty() => Ok(()),
        Ok(made_directories) => UndoNote { made_directories, ..new }.save(paths),
        Err(error) => {
            match old {
                Some(old) => old.save(paths)?,
                None => UndoNote::forget(paths, &found.path),
            }
            Err(error)
        }
    }
}

/// The name under which an entry starts us.
pub(super) fn name_of(entry: &Value) -> Option<&str> {
    let args = entry["args"].as_array()?;
    let at = args.iter().position(|arg| arg == "--client")?;
    args.get(at + 1)?.as_str()
}
