//! What is written where, and what never is.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use proptest::prelude::*;

use super::*;

fn image(data: &str) -> Media {
    let block = format!(r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#);
    Media::of_block(&Payload::parse(block.as_bytes()).unwrap())
}

fn resource(json: &str) -> Media {
    Media::of_resource(&Payload::parse(json.as_bytes()).unwrap())
}

fn names(directory: &Path) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn each_piece_gets_a_fresh_name_of_the_tools() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("new/out");
    let text = directory.to_str().unwrap();
    let mut shelf = Shelf::new(Some(text), "shot");
    assert_eq!(shelf.put(&image("AAEC")), format!("[image image/png 3 bytes: saved as {text}/shot-1.png]"));
    let evil = resource(r#"{"uri":"file:///etc/passwd","mimeType":"x/../../y","text":"hello"}"#);
    assert_eq!(
        shelf.put(&evil),
        format!("[resource file:///etc/passwd x/../../y 5 bytes: saved as {text}/shot-2.txt]")
    );
    shelf.put(&resource(r#"{"uri":"u","blob":"AA"}"#));
    assert_eq!(names(&directory), ["shot-1.png", "shot-2.txt", "shot-3.bin"]);
    assert_eq!(fs::read(directory.join("shot-1.png")).unwrap(), [0, 1, 2]);
    assert_eq!(fs::read(directory.join("shot-3.bin")).unwrap(), [0]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory.join("shot-2.txt")), mode(&directory)), (0o600, 0o700));
    let paths: Vec<_> =
        names(&directory).iter().map(|name| format!(r#"{{"path":"{text}/{name}"}}"#)).collect();
    assert_eq!(shelf.to_json(), format!("[{}]", paths.join(",")));
    assert!(shelf.close(false).is_ok() && shelf.hint().is_none());
}

#[test]
fn nothing_is_written_over_nor_through_a_link() {
    let place = tempfile::tempdir().unwrap();
    let (kept, elsewhere) = (place.path().join("shot-1.png"), place.path().join("elsewhere"));
    fs::write(&kept, "mine").unwrap();
    symlink(&elsewhere, place.path().join("shot-2.png")).unwrap();
    let mut shelf = Shelf::new(place.path().to_str(), "shot");
    assert!(shelf.put(&image("AAEC")).ends_with("/shot-3.png]"));
    assert_eq!((fs::read_to_string(kept).unwrap().as_str(), elsewhere.exists()), ("mine", false));
}

#[test]
fn what_cannot_be_saved_is_said_and_the_rest_is_saved() {
    let place = tempfile::tempdir().unwrap();
    let mut shelf = Shelf::new(place.path().to_str(), "shot");
    assert_eq!(shelf.put(&image("?")), "[image image/png 0 bytes: not saved, it is not base64]");
    assert!(shelf.put(&image("AAEC")).contains("saved as"));
    assert_eq!(shelf.to_json().matches("error").count(), 1);
    assert!(matches!(shelf.close(false), Err(Failure::Said(Exit::Failed))));
    let file = place.path().join("shot-1.png");
    assert!(Shelf::new(file.to_str(), "x").put(&image("")).contains("0 bytes: not saved, "));
    let complaint = Shelf::check(file.to_str()).unwrap_err().message().unwrap();
    assert!(complaint.ends_with("shot-1.png: it is not a directory"), "{complaint}");
    assert!(Shelf::check(None).is_ok() && Shelf::check(Some("/nonexistent")).is_ok());
}

#[test]
fn without_a_directory_it_is_named_and_the_option_too() {
    let mut shelf = Shelf::new(None, "shot");
    assert_eq!(shelf.hint(), None);
    assert_eq!(shelf.put(&image("AAEC")), "[image image/png 3 bytes]");
    assert_eq!(shelf.hint().unwrap(), "`--save DIR` writes it to a file");
    shelf.put(&image("AAEC"));
    assert_eq!(shelf.hint().unwrap(), "`--save DIR` writes these 2 to files");
    assert!(shelf.close(true).is_ok() && !shelf.saves());
}

proptest! {
    #[test]
    fn a_files_name_is_always_one_harmless_word(name in "\\PC{0,90}|[./\\\\a-]{0,9}") {
        let stem = stem(&name);
        prop_assert!(!stem.is_empty() && stem.len() <= MAX_STEM && !stem.starts_with(['.', '-']));
        prop_assert!(stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)));
    }
}
