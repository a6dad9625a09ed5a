//! A command that has an engine run an image: `docker run -i --rm -e TOKEN mcp/time`.
//!
//! Such a program reaches no engine from inside a sandbox. So Harbor takes over the image, and has its own
//! engine run it. Owns the list of options that mean the same there. Must never drop an option that means
//! more: we must not decide what it would open or take away.

use std::collections::BTreeSet;

use harbor_policy::container::engine::Engine;
use harbor_policy::container::reference;

use super::launch::{Beyond, Image, Launch, Skip};
use super::placeholders::Surroundings;

/// Options of a container engine that take a value; all others take none. They are needed to find the image behind them.
const WITH_VALUE: &[&str] = &[
    "--add-host",
    "--annotation",
    "--cap-add",
    "--cap-drop",
    "--cgroupns",
    "--cidfile",
    "--cpu-shares",
    "--cpus",
    "--device",
    "--dns",
    "--entrypoint",
    "--env-file",
    "--gpus",
    "--group-add",
    "--hostname",
    "--ipc",
    "--label",
    "--log-driver",
    "--memory",
    "--mount",
    "--net",
    "--network",
    "--pid",
    "--platform",
    "--publish",
    "--pull",
    "--restart",
    "--runtime",
    "--security-opt",
    "--shm-size",
    "--stop-timeout",
    "--tmpfs",
    "--ulimit",
    "--user",
    "--userns",
    "--volume",
    "--volumes-from",
    "--workdir",
    "-a",
    "-c",
    "-h",
    "-l",
    "-m",
    "-p",
    "-u",
    "-v",
    "-w",
];

/// Options about files of this machine.
const OF_FILES: &[&str] = &["-v", "--volume", "--mount"];

/// Options that Harbor sets for each container anyway: it speaks to it on its pipes, names it, and removes it
/// at its end.
const MEANT_ANYWAY: &[&str] = &["-i", "--interactive", "--rm", "--init"];

/// The words behind `run`, as they were read.
#[derive(Debug, Default)]
struct Run<'a> {
    /// `NAME` or `NAME=VALUE`.
    env: Vec<&'a str>,
    beyond: Option<&'a str>,
    /// The image, and what its program is given.
    image: &'a [String],
}

/// Turns a command that runs an image into that image. Leaves other commands unchanged.
///
/// # Errors
/// When the command says more than can be taken over.
pub(super) fn take(launch: &mut Launch, around: &Surroundings<'_>) -> Result<(), Skip> {
    let program = launch.command.rsplit('/').next().unwrap_or_default();
    let Some(engine) = Engine::of(program).map(Engine::as_str) else { return Ok(()) };
    let Some(words) = behind_run(&launch.args) else { return Ok(()) };
    let run = read(words);
    let Some((reference, args)) =
        run.image.split_first().filter(|(name, _)| reference::wrong(name).is_none())
    else {
        return Err(Skip::Beyond(unread(run.beyond)));
    };
    let of_engine = launch.env.keys().find(|name| is_of_engine(name));
    if let Some(what) = run.beyond.or(of_engine.map(String::as_str)) {
        return Err(Skip::Beyond(beyond(what, reference, args)));
    }
    let names: BTreeSet<_> =
        run.env.iter().map(|word| word.split_once('=').map_or(*word, |(name, _)| name)).collect();
    let mut env = std::mem::take(&mut launch.env);
    // What is in no `-e` is the engine's program's alone.
    env.retain(|name, _| names.contains(name.as_str()));
    for word in &run.env {
        match word.split_once('=') {
            Some((name, value)) => drop(env.insert(name.to_owned(), value.to_owned())),
            None if env.contains_key(*word) || launch.missing.contains(*word) => {}
            None => {
                let value = around.hand_on(word, &format!("its variable {word}"), &mut launch.taken);
                env.extend(value.map(|value| ((*word).to_owned(), value)));
            }
        }
    }
    let image = Image { reference: reference.clone(), engine };
    let mut missing = std::mem::take(&mut launch.missing);
    missing.retain(|name| names.contains(name.as_str()));
    let args = args.to_vec();
    *launch = Launch {
        image: Some(image),
        args,
        env,
        missing,
        taken: std::mem::take(&mut launch.taken),
        ..Launch::default()
    };
    Ok(())
}

fn behind_run(args: &[String]) -> Option<&[String]> {
    let args = args.strip_prefix(&["container".to_owned()]).unwrap_or(args);
    args.split_first().filter(|(first, _)| *first == "run").map(|(_, rest)| rest)
}

fn read(mut words: &[String]) -> Run<'_> {
    let mut run = Run::default();
    while let Some((word, rest)) = words.split_first() {
        if word == "--" {
            run.image = rest;
            break;
        }
        if !word.starts_with('-') || word == "-" {
            run.image = words;
            break;
        }
        words = option(&mut run, word, rest);
    }
    run
}

/// Reads one option. Returns the words behind it and its value.
fn option<'a>(run: &mut Run<'a>, word: &'a str, rest: &'a [String]) -> &'a [String] {
    let (name, inline) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        // `-eTOKEN`, as `-e TOKEN`.
        None if !word.starts_with("--")
            && word.get(2..).is_some_and(|more| !more.is_empty())
            && takes_value(&word[..2]) =>
        {
            (&word[..2], word.get(2..))
        }
        None => (word, None),
    };
    let (value, behind) = match (inline, rest.split_first()) {
        (None, Some((value, behind))) if takes_value(name) => (Some(value.as_str()), behind),
        _ => (inline, rest),
    };
    match (name, value) {
        ("-e" | "--env", Some(value)) => run.env.push(value),
        ("--name", _) => {}
        _ if MEANT_ANYWAY.contains(&name) && value.is_none_or(|value| value == "true") => {}
        _ => run.beyond = run.beyond.or(Some(name)),
    }
    behind
}

fn takes_value(name: &str) -> bool {
    ["-e", "--env", "--name"].contains(&name) || WITH_VALUE.contains(&name)
}

/// True for variables by which a command chooses its engine.
fn is_of_engine(name: &str) -> bool {
    ["DOCKER_", "CONTAINER_", "CONTAINERS_"].iter().any(|start| name.starts_with(start))
}

fn beyond(what: &str, reference: &str, args: &[String]) -> Beyond {
    let behind = if args.is_empty() { "" } else { " -- ARGS…" };
    let with = match what {
        _ if OF_FILES.contains(&what) => {
            "--read DIR and --write DIR give it directories, under the same paths"
        }
        "--net" | "--network" => "--network none or all sets its network",
        "--privileged" | "--cap-add" | "--device" | "--pid" | "--security-opt" => {
            "Harbor gives no container control of this machine"
        }
        _ => "docs/containers.md lists the options that Harbor sets",
    };
    Beyond {
        what: what.to_owned(),
        advice: format!("`harbor install oci:{reference} --name NAME{behind}` runs it; {with}"),
    }
}

/// The advice where not even the image can be told.
fn unread(what: Option<&str>) -> Beyond {
    let what = what.unwrap_or("the image").to_owned();
    Beyond {
        what,
        advice:
            "`harbor install oci:IMAGE --name NAME` runs an image; docs/containers.md lists the options that Harbor sets"
                .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Fills;
    use super::*;
    use proptest::prelude::*;

    fn taken(line: &str, env: &[(&str, &str)]) -> Result<Launch, String> {
        let around = Surroundings {
            variable: &|name| (name == "MINE").then(|| "v4lue".to_owned()),
            home: "/home/me",
            workspace: None,
            fills: Fills::Nothing,
            is_there: &|_| false,
        };
        let mut words = line.split(' ').map(str::to_owned);
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let command = words.next().unwrap();
        let mut launch = Launch { command, args: words.collect(), env, ..Launch::default() };
        take(&mut launch, &around).map(|()| launch).map_err(|why| why.to_string())
    }

    #[test]
    fn an_image_is_taken_over_with_its_variables() {
        let line = "/usr/bin/docker run -i --rm --name x -e TOKEN --env=MODE=fast -eMINE -e NONE ghcr.io/o/time:1 stdio -v";
        let launch = taken(line, &[("TOKEN", "t"), ("OTHER", "o")]).unwrap();
        let image = Image { reference: "ghcr.io/o/time:1".into(), engine: "docker" };
        assert_eq!((launch.image, launch.command.as_str()), (Some(image), ""));
        assert_eq!(launch.args, ["stdio", "-v"]);
        let env: Vec<_> = launch.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(env, ["MINE=v4lue", "MODE=fast", "TOKEN=t"]);
        assert_eq!(launch.taken.iter().map(|used| used.variable.as_str()).collect::<Vec<_>>(), ["MINE"]);
        assert_eq!(taken("podman container run -i mcp/time", &[]).unwrap().image.unwrap().engine, "podman");
        for line in ["docker compose run x", "npx run x", "docker"] {
            assert_eq!(taken(line, &[]).unwrap().image, None, "{line}");
        }
    }

    #[test]
    fn what_says_more_is_named_with_what_helps() {
        for (line, option, help) in [
            (
                "docker run -i -v /:/host mcp/files /x",
                "cannot import -v of",
                "install oci:mcp/files --name NAME -- ARGS…` runs it; --read DIR and --write",
            ),
            ("docker run -v/:/host mcp/files", "cannot import -v of", "oci:mcp/files --name NAME`"),
            ("docker run --mount type=bind,src=/,dst=/x mcp/files", "cannot import --mount of", "--read DIR"),
            ("docker run --privileged mcp/x", "cannot import --privileged of", "control of this machine"),
            ("docker run --network=host mcp/x", "cannot import --network of", "--network none or all"),
            ("docker run -it mcp/x", "cannot import -it of", "oci:mcp/x"),
            ("docker run -p 80:80 mcp/x", "cannot import -p of", "oci:mcp/x"),
            ("docker run --env-file f mcp/x", "cannot import --env-file of", "oci:mcp/x"),
            ("docker run --rm=false mcp/x", "cannot import --rm of", "oci:mcp/x"),
            ("docker run --new-one 5 mcp/x", "cannot import --new-one of", "install oci:"),
            ("docker run -i", "cannot import the image of", "oci:IMAGE"),
        ] {
            let said = taken(line, &[]).unwrap_err();
            assert!(said.contains(option) && said.contains(help), "{line}: {said}");
        }
        let said = taken("docker run -i mcp/x", &[("DOCKER_HOST", "ssh://h")]).unwrap_err();
        assert!(said.contains("cannot import DOCKER_HOST of"), "{said}");
    }

    proptest! {
        #[test]
        fn any_words_are_survived(words in prop::collection::vec("-[eivtp]{0,2}|--[a-z=]{1,7}|--name|mcp/x|\\PC{0,6}", 0..6)) {
            let line = format!("docker run {}", words.join(" "));
            if let Ok(launch) = taken(&line, &[]) {
                let image = launch.image.unwrap();
                prop_assert!(reference::wrong(&image.reference).is_none() && line.contains(&image.reference));
            }
        }
    }
}
