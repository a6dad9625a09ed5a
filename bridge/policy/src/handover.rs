//! Finds commands of servers that would hand over the machine, or hide what they do.
//!
//! Owns the look at the words of a command that somebody else has written, and the sentences for its reader. It is a warning and
//! no wall: the sandbox confines whatever is started. Must never repeat an argument: it may be a secret.

/// Programs that give others' rights.
const RIGHTS: &[&str] = &["sudo", "doas", "su", "pkexec", "run0"];

/// Programs that run the text that they are given.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "busybox", "pwsh"];

/// Programs that pass their work to an engine. The engine does it with the rights of the machine's owner.
const ENGINES: &[&str] = &["docker", "podman", "nerdctl", "docker-compose", "kubectl"];

/// Programs that download.
const FETCHERS: &[&str] = &["curl", "wget"];

/// The words of a command that a person should read again, each with the reason; empty for most.
#[must_use]
pub fn warnings(command: &str, args: &[String]) -> Vec<String> {
    let words: Vec<&str> = std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
    let started = started(&words);
    let first = |known: &[&'static str]| {
        started.iter().find_map(|at| known.iter().copied().find(|name| *name == program(words[*at])))
    };
    let mut found = Vec::new();
    found.extend(first(RIGHTS).map(|name| {
        format!("{name} asks for all rights on this machine, which Harbor's sandbox never gives")
    }));
    found.extend(
        shell(&words, &started)
            .map(|(name, option)| format!("{name} {option} runs its argument as code: read all of it")),
    );
    found.extend(is_piped(&words).then(|| "it runs whatever it has just downloaded".to_owned()));
    found.extend(first(ENGINES).map(|name| {
        format!("{name} could give it this whole machine, so its sandbox does not let it reach {name}")
    }));
    found
}

/// The indexes of the programs: the first word, and the words that a program such as `sudo` or `env` starts.
fn started(words: &[&str]) -> Vec<usize> {
    let mut all = vec![0];
    let mut at = 0;
    while at < words.len() && (RIGHTS.contains(&program(words[at])) || program(words[at]) == "env") {
        let is_before = |word: &&str| word.starts_with('-') || word.contains('=');
        let skipped = words[at + 1..].iter().take_while(|word| is_before(word)).count();
        at += 1 + skipped;
        all.extend((at < words.len()).then_some(at));
    }
    all
}

/// `bash`, and the option by which it takes a text.
fn shell(words: &[&str], started: &[usize]) -> Option<(&'static str, String)> {
    started.iter().find_map(|at| {
        let name = SHELLS.iter().find(|name| **name == program(words[*at]))?;
        let rest = &words[at + 1..];
        let option = rest
            .iter()
            .find(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'))?;
        let is_plain = option.len() <= 5 && option[1..].bytes().all(|byte| byte.is_ascii_alphabetic());
        Some((*name, if is_plain { (*option).to_owned() } else { "-c".to_owned() }))
    })
}

/// `curl … | sh`, in whichever word it stands.
fn is_piped(words: &[&str]) -> bool {
    words.iter().any(|word| {
        let mut parts = word.split(['|', ';', '&', '(', '`', '<']);
        let fetches = parts.clone().any(|part| FETCHERS.contains(&program(first_word(part))));
        let runs = |part: &str| {
            let named = part.split_whitespace().map(program);
            named
                .clone()
                .any(|name| SHELLS.contains(&name) || ["python", "python3", "node", "eval"].contains(&name))
        };
        fetches && parts.any(runs)
    })
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(words: &[&str]) -> String {
        let args: Vec<_> = words[1..].iter().map(ToString::to_string).collect();
        warnings(words[0], &args).join("; ")
    }

    #[test]
    fn what_hands_the_machine_over_is_told() {
        for (words, parts) in [
            (&["sudo", "npx", "x"][..], &["sudo asks for all rights"][..]),
            (&["/usr/bin/sudo", "-E", "docker", "run", "x"], &["sudo asks", "docker could give"]),
            (&["env", "A=b", "bash", "-lc", "echo"], &["bash -lc runs its argument"]),
            (
                &["sh", "-c", "curl -s https://h/x | sh"],
                &["sh -c runs its argument", "whatever it has just downloaded"],
            ),
            (&["bash", "-c", "python3 <(curl h) && bash x"], &["bash -c", "downloaded"]),
            (&["docker", "compose", "run", "x"], &["docker could give"]),
        ] {
            let all = said(words);
            assert_eq!(all.split("; ").count(), parts.len(), "{all}");
            assert!(parts.iter().all(|part| all.contains(part)), "{words:?}: {all}");
        }
        for words in [
            &["npx", "-y", "curl-mcp"][..],
            &["uvx", "docker-mcp"],
            &["node", "sh", "-c"],
            &["bash", "run.sh"],
            &["curl-mcp"],
        ] {
            assert_eq!(said(words), "", "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn no_argument_is_repeated(words in prop::collection::vec("(sudo|env|bash|sh|-[a-z]{1,3}|\\PC{0,8})", 1..6), secret in "[A-Z0-9]{9}") {
            let mut words: Vec<_> = words.iter().map(String::as_str).collect();
            words.push(&secret);
            prop_assert!(!said(&words).contains(&secret));
        }
    }
}
