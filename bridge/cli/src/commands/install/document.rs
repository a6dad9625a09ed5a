//! A manifest that is a file of this machine.
//!
//! Owns which sources are meant as one. The bridge reads its content: this module only hands over the text.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::Json;
use harbor_policy::recipe::manifest::MAX;
use serde_json::value::RawValue;

use harbor_client::errors::Failure;

/// The file that a source names. None if the source is no file.
pub fn path(source: &str) -> Option<PathBuf> {
    let is_path = ["/", "./", "../", "~/"].iter().any(|start| source.starts_with(start)) || source == ".";
    let is_named = source.ends_with(".json") && !source.contains(':');
    (is_path || is_named).then(|| PathBuf::from(super::super::places::at_home(source)))
}

/// Its text, which is an object.
pub fn read(path: &Path) -> Result<JsonObject, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    if path.is_dir() {
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let next = format!("that is a directory; if it is a repository, use git:file://{}", whole.display());
        return Err(wrong(next));
    }
    let mut text = String::new();
    let opened = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let read = opened.take(MAX as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| wrong(error.to_string()))?;
    if text.len() > MAX {
        return Err(wrong(format!("it is longer than {} KiB, so it is not a manifest", MAX >> 10)));
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    let parsed = serde_json::from_str::<Box<RawValue>>(text).ok().filter(|_| text.starts_with('{'));
    let parsed = parsed.ok_or_else(|| wrong("it is not the JSON of a manifest".into()))?;
    Ok(JsonObject(Json::from_valid(parsed.get().to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_of_files_are_meant() {
        for source in ["./mcp-manifest.json", "/a/b", "../x.json", "~/x.json", "server.json", "a/b.json"] {
            assert!(path(source).is_some(), "{source}");
        }
        for source in ["time", "alice/time-mcp", "npm:x", "git:file:///a/b.json", "https://h/x.json"] {
            assert_eq!(path(source), None, "{source}");
        }
        let directory = read(Path::new("/")).unwrap_err().message().unwrap();
        assert!(directory.contains("use git:file:///"), "{directory}");
    }
}
