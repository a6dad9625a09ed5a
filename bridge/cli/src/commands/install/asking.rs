//! Questions about the values that an entry asks for: arguments, variables.
//!
//! Owns that a wrong answer is asked for again, a few times. A mistake that only the bridge can see, the
//! bridge refuses.

use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::DeclaredView;
use harbor_policy::recipe::Kind;

use crate::args::Package;
use crate::consent;
use crate::table::flatten;

/// The number of tries after wrong answers.
const MOST_TRIES: usize = 3;

/// Asks for what is filled in.
pub fn inputs(package: &mut Package, inputs: &[DeclaredView]) -> Result<(), Failure> {
    for input in inputs.iter().filter(|input| input.required) {
        let (name, many) = (input.name.clone(), input.many);
        if package.inputs.contains_key(&name) {
            continue;
        }
        let mut values = Vec::new();
        loop {
            let name = flatten(&name);
            let value = answer(
                input,
                &match values.is_empty() {
                    true => format!("{}{name}: ", explained(input)),
                    false => format!("{name}, another one (Enter: no): "),
                },
            )?;
            let is_last = value.is_empty() || !many;
            values.extend(Some(value).filter(|value| !value.is_empty()));
            if is_last {
                break;
            }
        }
        // None at all is for the bridge to refuse, which says what is missing.
        if !values.is_empty() {
            package.inputs.insert(name, values);
        }
    }
    Ok(())
}

/// Asks for variables of its environment.
pub fn variables(package: &mut Package, variables: &[DeclaredView]) -> Result<(), Failure> {
    for variable in variables.iter().filter(|variable| variable.required) {
        let name = &variable.name;
        if package.definition.env.contains_key(name) {
            continue;
        }
        let value = answer(variable, &format!("{}{}: ", explained(variable), flatten(name)))?;
        if !value.is_empty() {
            package.definition.env.insert(name.clone(), value);
        }
    }
    Ok(())
}

/// A valid answer, or an empty one.
fn answer(declared: &DeclaredView, question: &str) -> Result<String, Failure> {
    answered(declared, question, consent::line)
}

fn answered(
    declared: &DeclaredView,
    question: &str,
    mut ask: impl FnMut(&str) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let mut expected = String::new();
    for _ in 0..MOST_TRIES {
        let value = ask(&format!("{expected}{question}"))?.trim().to_owned();
        match wrong(declared, &value) {
            None => return Ok(value),
            Some(other) => expected = format!("expected {}\n", flatten(&other)),
        }
    }
    Err(Failure::Usage(format!("{}: {}", flatten(&declared.name), expected.trim_end())))
}

/// The description of a right value, if this one is wrong.
fn wrong(declared: &DeclaredView, value: &str) -> Option<String> {
    let (choices, named) = (&declared.choices, declared.value_type.as_deref().unwrap_or_default());
    if value.is_empty() {
        return None;
    }
    if !choices.is_empty() && !choices.iter().any(|choice| choice == value) {
        return Some(format!("one of {}", choices.join(", ")));
    }
    // A path is made whole later, and may be of a file that the server makes.
    if named == "path" && !is_likely_path(value) {
        return Some("the path of a directory or file that exists".into());
    }
    let kind = Kind::ALL.iter().find(|(name, kind)| *name == named && *kind != Kind::Path);
    kind.and_then(|(_, kind)| kind.expected(value)).map(str::to_owned)
}

/// True if something is at this path, or could be made there. So words that are no path are found before the
/// installation.
fn is_likely_path(value: &str) -> bool {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let path = match value.strip_prefix("~/") {
        Some(rest) => Path::new(&home).join(rest),
        None => PathBuf::from(value),
    };
    let parent = path
        .parent()
        .map_or(Path::new("."), |parent| if parent == Path::new("") { Path::new(".") } else { parent });
    path.exists() || value == "~" || (parent.is_dir() && !value.contains(char::is_whitespace))
}

/// The text above a question: its subject, and the possible answers.
fn explained(declared: &DeclaredView) -> String {
    let texts = [flatten(&declared.description), may_be(declared)];
    texts.into_iter().filter(|text| !text.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// The possible values; empty where any value will do.
pub fn may_be(declared: &DeclaredView) -> String {
    let choices = declared.choices.join(", ");
    let kind = match declared.value_type.as_deref().unwrap_or_default() {
        _ if !choices.is_empty() => return format!("one of {}", flatten(&choices)),
        "path" => "a path",
        "url" => "an address, with https://",
        "number" => "a number",
        "boolean" => "true or false",
        _ => "",
    };
    kind.to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    fn with(declared: &str, answers: &[&str]) -> (Result<String, String>, Vec<String>) {
        let declared = typed(declared);
        let (mut asked, mut answers) = (Vec::new(), answers.iter());
        let answer = answered(&declared, "Z: ", |question| {
            asked.push(question.to_owned());
            Ok(answers.next().unwrap().to_string())
        });
        (answer.map_err(|failure| failure.message().unwrap_or_default()), asked)
    }

    #[test]
    fn a_wrong_answer_is_asked_for_again() {
        let choice = r#"{"name":"Z","choices":["here","there"]}"#;
        let (answer, asked) = with(choice, &["moon", " there "]);
        assert_eq!((answer, asked[1].as_str()), (Ok("there".into()), "expected one of here, there\nZ: "));
        let (answer, asked) = with(choice, &["a", "b", "c"]);
        assert_eq!((answer, asked.len()), (Err("Z: expected one of here, there".into()), 3));
        assert_eq!(with(choice, &[""]).0, Ok(String::new()), "the bridge says what is missing");
        let number = r#"{"name":"Z","value_type":"number"}"#;
        assert_eq!(with(number, &["x", "1"]).0, Ok("1".into()));
        let path = r#"{"name":"Z","value_type":"path"}"#;
        assert_eq!(with(path, &["harbor logs x | less", "/nowhere/at/all", "notes"]).0, Ok("notes".into()));
    }
}
