//! Which file of an archive is the program.
//!
//! Owns that choice. Must never guess: where it could be one of several, the person names it.

use super::archive::Entry;
use super::machine::{Form, foreign};

/// Names that a sentence lists at most.
const MOST: usize = 12;

/// The path of the program: the named one, else the only one that this machine can start.
///
/// # Errors
/// A sentence that lists what there is.
pub fn program<'e>(entries: &'e [Entry], wanted: Option<&str>) -> Result<&'e str, String> {
    let chosen = match wanted {
        Some(wanted) => entries.iter().find(|entry| entry.path == wanted).ok_or_else(|| {
            let there = candidates(entries);
            let all = if there.is_empty() { entries.iter().collect() } else { there };
            format!("the archive has no file {wanted}; {}", listed(&all))
        })?,
        None => only(entries)?,
    };
    match &chosen.form {
        Form::Program => Ok(&chosen.path),
        Form::Foreign(machine) => Err(foreign(&chosen.path, machine)),
        _ => Err(format!(
            "{} in the archive is not a program: it is neither machine code nor a script with #!",
            chosen.path
        )),
    }
}

/// Programs for any machine that are marked as executable, or all programs if the archive marks none.
fn candidates(entries: &[Entry]) -> Vec<&Entry> {
    let is_one = |entry: &&Entry| matches!(entry.form, Form::Program | Form::Foreign(_));
    let programs: Vec<_> = entries.iter().filter(is_one).collect();
    let marked: Vec<_> = programs.iter().copied().filter(|entry| entry.executable).collect();
    if marked.is_empty() { programs } else { marked }
}

fn only(entries: &[Entry]) -> Result<&Entry, String> {
    let all = candidates(entries);
    let here: Vec<_> = all.iter().copied().filter(|entry| entry.form == Form::Program).collect();
    match (here.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one]) => Ok(one),
        ([], []) => Err("there is no program in the archive".into()),
        ([], [first, ..]) => match &first.form {
            Form::Foreign(machine) => Err(foreign(&first.path, machine)),
            _ => Err("there is no program in the archive".into()),
        },
        (several, _) => {
            Err(format!("the archive has several programs: name the server by --bin; {}", listed(several)))
        }
    }
}

fn listed(entries: &[&Entry]) -> String {
    let mut names: Vec<_> = entries.iter().take(MOST).map(|entry| entry.path.as_str()).collect();
    if entries.len() > MOST {
        names.push("...");
    }
    if names.is_empty() { "it is empty".into() } else { format!("it has {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, executable: bool, form: Form) -> Entry {
        Entry { path: path.into(), executable, form }
    }

    #[test]
    fn the_only_program_is_taken_and_several_are_listed() {
        let (here, mac) = (|| Form::Program, || Form::Foreign("macOS".into()));
        let readme = entry("README", true, Form::Other);
        let of = |entries: &[Entry], wanted| program(entries, wanted).map(ToOwned::to_owned);
        assert_eq!(
            of(&[readme.clone(), entry("a", true, here()), entry("b", false, here())], None),
            Ok("a".into())
        );
        assert_eq!(of(&[entry("a", false, here()), entry("mac/a", true, mac())], Some("a")), Ok("a".into()));
        assert_eq!(of(&[entry("a", false, here())], None), Ok("a".into()), "an archive without marks");
        assert_eq!(of(&[entry("l/a", true, here()), entry("m/a", true, mac())], None), Ok("l/a".into()));
        let two = [entry("bin/a", true, here()), entry("bin/b", true, here())];
        assert!(of(&two, None).unwrap_err().ends_with("it has bin/a, bin/b"));
        assert_eq!(of(&two, Some("bin/b")), Ok("bin/b".into()));
        assert!(of(&two, Some("c")).unwrap_err().contains("the archive has no file c; it has bin/a, bin/b"));
        assert!(of(&[entry("a", true, mac())], None).unwrap_err().contains("a is a program for macOS"));
        assert!(of(std::slice::from_ref(&readme), Some("README")).unwrap_err().contains("is not a program"));
        assert!(of(&[readme], None).unwrap_err().contains("no program in the archive"));
    }
}
