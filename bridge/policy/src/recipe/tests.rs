//! Recipes with and without what they want.

use super::*;
use crate::curated::CURATED;
use crate::sandbox::settings::checked;

fn given(inputs: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
    let values = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    inputs.iter().map(|(name, list)| ((*name).to_owned(), values(list))).collect()
}

fn fill(recipe: &Recipe, inputs: &[(&str, &[&str])], env: &[(&str, &str)]) -> Result<Filled, Unfilled> {
    let env = env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    recipe.fill(RecipeValues {
        inputs: &given(inputs),
        env: &env,
        secrets: &[],
        data: "/d",
        incomplete: false,
    })
}

fn curated(id: &str) -> Recipe {
    Recipe::of_curated(crate::curated::find(id).unwrap(), &|_| false)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn what_harbor_brings_along_is_filled_in() {
    let files = fill(&curated("filesystem"), &[("directory", &["/a", "/b"])], &[]).unwrap();
    assert_eq!((files.args, files.sandbox.write), (texts(&["/a", "/b"]), Some(texts(&["/a", "/b"]))));
    let git = fill(&curated("git"), &[("repository", &["/r"])], &[("GIT_AUTHOR_NAME", "Ada")]).unwrap();
    assert_eq!(git.args, texts(&["--repository", "/r"]));
    assert_eq!((git.sandbox.read, git.sandbox.write), (Some(texts(&["/r"])), Some(texts(&["/r/.git"]))));
    assert_eq!(git.env.len(), 1, "what nobody said is not set");
    let memory = fill(&curated("memory"), &[], &[]).unwrap();
    assert_eq!(memory.env["MEMORY_FILE_PATH"], "/d/memory.jsonl");
    let own = fill(&curated("memory"), &[], &[("MEMORY_FILE_PATH", "/m")]).unwrap();
    assert_eq!(own.env["MEMORY_FILE_PATH"], "/m");
    assert_eq!(fill(&curated("github"), &[], &[]).unwrap().secrets, ["GITHUB_PERSONAL_ACCESS_TOKEN"]);
    let token = [("GITHUB_PERSONAL_ACCESS_TOKEN", "x")];
    assert_eq!(fill(&curated("github"), &[], &token).unwrap().secrets, [""; 0]);
    let remote = curated("github-remote");
    let without = fill(&remote, &[], &[]).unwrap();
    assert_eq!((without.secrets.len(), without.headers.len()), (0, 0), "it may do without");
    let token = ["AUTHORIZATION".to_owned()];
    let with = remote.fill(RecipeValues {
        inputs: &given(&[]),
        env: &BTreeMap::new(),
        secrets: &token,
        data: "/d",
        incomplete: false,
    });
    assert_eq!(with.unwrap().headers["Authorization"], "Bearer ${AUTHORIZATION}");
}

#[test]
fn what_is_missing_stands_as_its_name_where_it_is_only_shown() {
    let nothing = (given(&[]), BTreeMap::new());
    let shown = |recipe: &Recipe| {
        recipe.fill(RecipeValues {
            inputs: &nothing.0,
            env: &nothing.1,
            secrets: &[],
            data: "/d",
            incomplete: true,
        })
    };
    let files = shown(&curated("filesystem")).unwrap();
    assert_eq!((files.args, files.sandbox.write), (texts(&["{directory}"]), None), "it opens nothing");
    let zone = RecipeVariable { name: "ZONE".into(), required: true, ..RecipeVariable::default() };
    let recipe = Recipe { env: vec![zone], source: "https://{data}.example".into(), ..Recipe::default() };
    assert_eq!(shown(&recipe).unwrap().env["ZONE"], "{ZONE}");
    let stray = given(&[("dir", &["/a"])]);
    let given = RecipeValues { inputs: &stray, env: &nothing.1, secrets: &[], data: "/d", incomplete: true };
    assert!(matches!(curated("filesystem").fill(given), Err(Unfilled::Unknown(..))));
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    for (inputs, said) in [
        (&[][..], "it needs --input directory=VALUE (A directory that it may read and write)"),
        (&[("directory", &["a"][..])], "directory: expected a whole path, from / on"),
        (
            &[("directroy", &["/a"])],
            "there is no input directroy; did you mean directory?; this server has directory",
        ),
    ] {
        assert_eq!(fill(&curated("filesystem"), inputs, &[]).unwrap_err().to_string(), said);
    }
    let twice = fill(&curated("git"), &[("repository", &["/a", "/b"])], &[]).unwrap_err();
    assert_eq!(twice.to_string(), "repository: expected one value");
    let none = fill(&curated("time"), &[("zone", &["x"])], &[]).unwrap_err();
    assert_eq!(none.to_string(), "there is no input zone; this server has no inputs");
}

/// Which machine has which browser, and what is open to it then.
#[test]
fn a_browser_is_found_where_it_usually_is() {
    let on = |there: &[&str], inputs: &[(&str, &[&str])]| {
        let recipe =
            |id: &str| Recipe::of_curated(crate::curated::find(id).unwrap(), &|path| there.contains(&path));
        let [playwright, devtools] =
            ["playwright", "chrome-devtools"].map(|id| fill(&recipe(id), inputs, &[]).unwrap());
        assert_eq!((playwright.args.last(), &playwright.sandbox), (devtools.args.last(), &devtools.sandbox));
        assert_eq!(playwright.sandbox.sockets, Some(texts(&["/d"])), "its processes find each other");
        assert_eq!((playwright.sandbox.level, playwright.sandbox.network), (None, None));
        (playwright.args.last().cloned().unwrap(), playwright.sandbox.read)
    };
    let debian = ["/usr/bin/chromium", "/etc/chromium.d"];
    let chrome = ["/opt/google/chrome/chrome", "/opt/google/chrome"];
    let edge = ["/opt/microsoft/msedge/msedge", "/opt/microsoft/msedge"];
    assert_eq!(on(&debian, &[]), (debian[0].to_owned(), Some(texts(&debian[1..]))));
    assert_eq!(on(&chrome, &[]), (chrome[0].to_owned(), Some(texts(&chrome[1..]))));
    assert_eq!(on(&edge, &[]), (edge[0].to_owned(), Some(texts(&edge[1..]))));
    let (program, read) = on(&[debian, chrome].concat(), &[]);
    assert_eq!((program.as_str(), read), (chrome[0], Some(texts(&[debian[1], chrome[1]]))));
    assert_eq!(on(&[], &[("browser", &["/b/chrome"])]), ("/b/chrome".to_owned(), None));
    let none = fill(&curated("playwright"), &[], &[]).unwrap_err().to_string();
    assert_eq!(none, "it needs --input browser=VALUE (The program of a Chromium, Chrome or Edge)");
}

#[test]
fn groups_are_left_out_and_repeated() {
    let input = |name: &str, many| RecipeInput { name: name.into(), many, ..RecipeInput::default() };
    let recipe = Recipe {
        source: "https://{region}.example.com/mcp".into(),
        args: vec![texts(&["--tag", "{tag}"]), texts(&["--level", "{level}"]), texts(&["{x}={\"a\":1}"])],
        inputs: vec![
            input("tag", true),
            input("level", false),
            RecipeInput {
                default: Some("eu".into()),
                choices: texts(&["eu", "us"]),
                ..input("region", false)
            },
        ],
        headers: vec![("X-Region".into(), "{region}!".into()), ("X-Level".into(), "{level}".into())],
        ..Recipe::default()
    };
    let filled = fill(&recipe, &[("tag", &["a", "{level}"])], &[]).unwrap();
    assert_eq!(filled.args, texts(&["--tag", "a", "--tag", "{level}", "{x}={\"a\":1}"]));
    assert_eq!(filled.source, "https://eu.example.com/mcp");
    assert_eq!(filled.headers, BTreeMap::from([("X-Region".to_owned(), "eu!".to_owned())]));
    let wrong = fill(&recipe, &[("region", &["asia"])], &[]).unwrap_err().to_string();
    assert_eq!(wrong, "region: expected one of eu, us");
}

#[test]
fn every_curated_server_can_be_filled_and_followed() {
    for curated in CURATED {
        let recipe = Recipe::of_curated(curated, &|_| true);
        let inputs = recipe.inputs.iter().map(|input| (input.name.as_str(), &["/home/alice/a"][..]));
        let filled = fill(&recipe, &inputs.collect::<Vec<_>>(), &[]).unwrap();
        assert_eq!(checked(&filled.sandbox), Ok(()), "{}", curated.id);
        let all = format!("{:?}{:?}{:?}", filled.args, filled.env, filled.sandbox);
        assert!(!all.contains('{') || !all.contains("\"{"), "{}: {all}", curated.id);
        assert!(source::sort(&filled.source).is_ok(), "{}", curated.id);
    }
}
