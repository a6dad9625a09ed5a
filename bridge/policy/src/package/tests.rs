//! Tests of packages.

use super::*;
use proptest::prelude::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(Into::into).collect()
}

fn of(line: &str) -> Option<Package> {
    let words = words(line);
    recognise(&words[0], &words[1..])
}

/// Command line => spec, name, program, arguments.
const RECOGNISED: &str = "
    npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp => \
        @modelcontextprotocol/server-filesystem@2026.8.31, @modelcontextprotocol/server-filesystem, , /tmp
    npx -y -p @scope/x x-cli --flag => @scope/x, @scope/x, x-cli, --flag
    /opt/n/bin/npx --yes --package=a@^1.2 a-b -p c => a@^1.2, a, a-b, -p c
    npx -p=a b => a, a, b,
    npx --package a@>1||2 --quiet -- b -- -y => a@>1||2, a, b, -- -y
    npx -q -y -- mcp-remote@latest https://a/b => mcp-remote@latest, mcp-remote, , https://a/b
    npx server.js => server.js, server.js, ,
    npx node@20 a => node@20, node, , a
    uvx mcp-server-time --local-timezone UTC => mcp-server-time, mcp-server-time, , --local-timezone UTC
    uvx --from mcp-server-time==1 mcp-server-time => mcp-server-time==1, mcp-server-time, mcp-server-time,
    uvx mcp-server-fetch@latest => mcp-server-fetch, mcp-server-fetch, ,
    uvx -q mcp_x@1.2rc1 --quiet => mcp_x==1.2rc1, mcp_x, , --quiet
    uvx --from=a[b]>=1.5 d => a[b]>=1.5, a, d,
    uvx a[b]@1!2.0+local -- c => a[b]==1!2.0+local, a, , -- c
    uv tool run --from a@latest b c => a, a, b, c
    /usr/bin/uv tool run python-lsp~=1.2 => python-lsp~=1.2, python-lsp, ,";

#[test]
fn what_people_write_is_recognised() {
    for row in RECOGNISED.lines().filter(|row| !row.trim().is_empty()) {
        let (line, wanted) = row.split_once(" => ").unwrap();
        let Package { ecosystem, spec, name, program, args, .. } =
            of(line).unwrap_or_else(|| panic!("{line}"));
        let found = [spec, name, program.unwrap_or_default(), args.join(" ")];
        assert_eq!(found.to_vec(), wanted.split(',').map(str::trim).collect::<Vec<_>>(), "{line}");
        assert_eq!(ecosystem == Ecosystem::Npm, line.contains("npx"), "{line}");
    }
    let several = of("uvx --from a[b,c]>=1,<2,!=1.5.* d").unwrap();
    assert_eq!((several.spec.as_str(), several.name.as_str()), ("a[b,c]>=1,<2,!=1.5.*", "a"));
}

/// Between `|`: command lines that are run as they are written.
const KEPT: &str = "
    npx|npx -y|npx -p|npx -p a|npx -p a -p b c|npx -c a|npx --node-options=x a|npx -- -y|npx --call a
    |npx git+ssh://h/a|npx github:a/b|npx a/b|npx ./a|npx ../a|npx /a|npx a.tgz|npx a@file:b|npx a@npm:b
    |npx a@1.tgz|npx a@|npx a@..|npx a@~/b|npx a@-x|npx @a|npx @/a|npx @a/..|npx @a/b/c|npx @../a|npx a..b
    |npx .bin|npx _a|npx Upper|npx node_modules|npx -p a ../b|npx -p a b@1|npx -p a node x|npx -p a -- -b
    |npx http://h/a.tgz|npx a%2fb|npx ~|./npx a|bin/uvx a|node a|npm exec a|uv run a|uv tool install a
    |uv tool|uv -q tool run a|uvx|uvx --python 3.12 a|uvx --with a b|uvx git+https://h/a
    |uvx --from git+https://h/a b|uvx ./a|uvx --from . a|uvx --from a|uvx --from a --from b c|uvx a==
    |uvx a===1|uvx a==-r|uvx a=1|uvx a[|uvx a[]|uvx a[-b]|uvx a@main|uvx a@1.*|uvx a@>=1|uvx a.whl|uvx a-
    |uvx -a|uvx a==1.zip|uvx a@https://h/a|uvx a;python_version>'3'|uvx python|uvx python3.12
    |uvx --from a python -m a|uvx --from a b@latest|uvx a==1,|uvx ,|uvx a/b|uvx --from a /bin/sh
    |uvx a.tar.gz[b]";

#[test]
fn what_is_not_understood_is_kept_as_it_is() {
    for line in KEPT.split('|') {
        assert_eq!(of(line), None, "{line}");
    }
    for word in ["a b", "", "a\n", "\u{e9}", "a@1 2", "a\0"] {
        assert_eq!((recognise("npx", &[word.into()]), recognise("uvx", &[word.into()])), (None, None));
    }
}

#[test]
fn programs_that_download_first_are_known() {
    assert!(["npx", "/usr/bin/uvx", "bunx", "pnpm", "docker"].iter().all(|tool| is_wrapper(tool)));
    assert!(!["node", "./npx", "python3", "/opt/npx/server", ""].iter().any(|tool| is_wrapper(tool)));
}

#[test]
fn the_program_is_the_one_that_npx_would_run() {
    let named = |list: &[(&str, &str)]| {
        Bins::Named(list.iter().map(|(name, path)| (name.to_string(), path.to_string())).collect())
    };
    let run = |line: &str, bins: &Bins| npm_program(&of(line).unwrap(), bins);
    let two = named(&[("srv", "a.js"), ("tool", "b.js")]);
    assert_eq!(run("npx @s/srv", &Bins::One("x.js".into())), Ok("srv".into()));
    assert_eq!(run("npx @s/other", &named(&[("mcp-x", "x.js")])), Ok("mcp-x".into()));
    assert_eq!(run("npx @s/other", &named(&[("a", "./x.js"), ("b", "x.js")])), Ok("a".into()));
    assert_eq!(run("npx @s/srv", &two), Ok("srv".into()));
    assert_eq!(run("npx -p @s/srv tool", &two), Ok("tool".into()));
    assert_eq!(run("npx @s/x", &named(&[("@s/cli", "x.js")])), Ok("cli".into()));
    let text = run("npx @s/x@1", &two).unwrap_err();
    assert!(text.contains("srv, tool") && text.contains("npx --package @s/x@1 PROGRAM"), "{text}");
    assert!(run("npx -p @s/srv gone", &two).unwrap_err().contains("no program gone"));
    assert!(run("npx x", &named(&[("..", "x"), ("-a", "x"), ("b\n", "x")])).unwrap_err().contains("library"));
}

#[test]
fn first_the_versions_are_found_then_exactly_they_are_installed() {
    let text = |steps: Vec<Step>| -> Vec<String> { steps.iter().map(|step| step.join(" ")).collect() };
    let all = |line: &str, has_uv| {
        let package = of(line).unwrap();
        let steps = [
            prepare(&package, "/d", has_uv, None),
            resolve(&package, "/d", has_uv, None, true),
            install(&package, "/d", has_uv, None, "{}"),
        ];
        text(steps.concat())
    };
    let quiet = "--no-audit --no-fund --no-progress --loglevel=http --fetch-retry-mintimeout=1000";
    let npm = format!(
        "npm install --prefix /d --package-lock-only --save-exact --ignore-scripts --git=git {quiet} -- @a/b@1"
    );
    let ci = format!("npm ci --prefix /d --ignore-scripts {quiet}");
    assert_eq!(all("npx @a/b@1", true), [npm, ci.clone()]);
    let scripts = format!("npm ci --prefix /d --prefer-offline {quiet}");
    let apart = |lock: &str| text(install(&of("npx @a/b@1").unwrap(), "/d", true, None, lock));
    let with = |package: &str| format!(r#"{{"packages": {{"": {{}}, "node_modules/x": {package}}}}}"#);
    assert_eq!(apart(&with(r#"{"resolved": "https://h/x.tgz"}"#)), std::slice::from_ref(&ci));
    for package in [r#"{"hasInstallScript": true}"#, r#"{"resolved": "git+ssh://git@h/x.git#1"}"#] {
        assert_eq!(apart(&with(package)), [ci.clone(), scripts.clone()], "{package}");
    }
    let [venv, report, pip] = all("uvx a@1", false).try_into().unwrap();
    assert!(venv.starts_with("python3 -c ") && venv.ends_with(" /d/venv"), "{venv}");
    let begin = "/d/venv/bin/python -m pip install";
    assert!(
        report.starts_with(&format!("{begin} --dry-run --report /d/report.json"))
            && report.ends_with(" -- a==1")
    );
    assert!(
        pip.starts_with(begin) && pip.ends_with("--require-hashes --no-deps -r /d/requirements.txt"),
        "{pip}"
    );
    let [_, compile, uv] = all("uvx a@1", true).try_into().unwrap();
    assert!(
        compile.starts_with("uv pip compile") && compile.ends_with(" -- /d/requirements.in"),
        "{compile}"
    );
    assert!(uv.ends_with("--require-hashes --python /d/venv/bin/python -r /d/requirements.txt"), "{uv}");
}

#[test]
fn nothing_is_built_before_somebody_says_so() {
    let said = "does not satisfy Python>=4 and a==9.0 depends on Python>=4, we can conclude that a==9.0 cannot be used";
    assert_eq!(pypi::of_other_python(said), Some("9.0"));
    assert_eq!(pypi::of_other_python("and all of: a>=0.15,<=0.23 depend on Python>=3.12"), None);
    for (line, has_uv) in [("pypi:a", true), ("pypi:a", false)] {
        let built_only = |may_build| {
            let step = resolve(&of(line).unwrap(), "/d", has_uv, None, may_build)[0].join(" ");
            step.contains("--only-binary :all:")
        };
        assert!(built_only(false) && !built_only(true));
    }
    // What is named by an address is built in spite of that: only this one starts nothing.
    let [planned, built] = [false, true]
        .map(|may_build| resolve(&of("pypi:a").unwrap(), "/d", false, None, may_build)[0][1].clone());
    assert_eq!((planned.as_str(), built.as_str()), ("/d/plan.py", "-m"));
    let node = Content::Node { locked: false, builds: true };
    for (line, content) in [("npm:a", None), ("git:https://h/a", Some(node))] {
        assert!(!must_build(content));
        let steps = resolve(&of(line).unwrap(), "/d", false, content, false);
        let is_safe =
            |step: &Step| ["--ignore-scripts", "--git=false"].iter().all(|one| step.contains(&(*one).into()));
        assert!(steps.iter().all(is_safe), "{steps:?}");
    }
    assert!(must_build(Some(Content::Python)));
}

#[test]
fn a_repository_is_fetched_without_history_hooks_and_strange_transports() {
    let package = of("git:https://h/r.git#main").unwrap();
    let steps = prepare(&package, "/d", false, None);
    assert_eq!(steps.len(), 3);
    for step in &steps {
        let text = step.join(" ");
        assert!(text.contains("protocol.allow=never") && text.contains("core.hooksPath=/dev/null"), "{text}");
    }
    assert!(
        steps[1]
            .join(" ")
            .ends_with("fetch --depth 1 --no-tags --no-recurse-submodules -- https://h/r.git main")
    );
    assert_eq!(git::fetch_all(&package, "/d"), None);
    let commit = of(&format!("git:https://h/r#{}", "a".repeat(40))).unwrap();
    assert!(git::fetch_all(&commit, "/d").is_some());
}

/// Words near the forms that are recognised, so that many of them are.
fn word() -> impl Strategy<Value = String> {
    let piece = "(-p|--from|-y|--|=|@|/|\\.\\.|\\.|-|\\[|\\]|==|>=|,|a|b|1|~| |\t|é|:|\\.tgz|latest)";
    prop_oneof![
        3 => "(-y|-q|-p|--package|--package=|--from|--from=|--)",
        3 => "(@a/)?[a-z]{1,3}(@[0-9^~.a-z]{1,4}|==[0-9.]{1,3})?",
        2 => proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn an_installer_is_given_one_harmless_word(
        tool in "(npx|uvx|/usr/bin/npx)",
        args in proptest::collection::vec(word(), 0..6),
        has_uv: bool,
    ) {
        let Some(package) = recognise(&tool, &args) else { return Ok(()) };
        let resolve = resolve(&package, "/d", has_uv, None, false);
        let behind: Vec<_> = resolve[0].iter().skip_while(|word| *word != "--").skip(1).collect();
        if package.ecosystem == Ecosystem::Npm || !has_uv {
            prop_assert_eq!(&behind, &[&package.spec]);
        }
        let spec = &package.spec;
        prop_assert!(!spec.is_empty() && !spec.starts_with(['-', '.', '/', '~']), "{}", spec);
        let is_strange = |c: char| !c.is_ascii() || c.is_whitespace() || ":\\\0".contains(c);
        prop_assert!(!spec.contains(is_strange), "{}", spec);
        prop_assert!(!spec.contains("..") && spec.starts_with(&package.name), "{}", spec);
        let scope = usize::from(package.name.starts_with('@'));
        prop_assert_eq!(spec.matches('/').count(), scope);
        let program = package.program_or_name();
        prop_assert!(!program.is_empty() && !program.starts_with(['-', '.']) && !program.contains('/'));
        prop_assert!(args.ends_with(&package.args));
    }

    #[test]
    fn a_program_is_a_plain_name(
        names in proptest::collection::btree_map("[ -~]{0,4}|\\PC*", "[ab]", 0..3),
    ) {
        let Ok(program) = npm_program(&of("npx @s/x").unwrap(), &Bins::Named(names)) else { return Ok(()) };
        prop_assert!(is_program(&program) && !program.contains(['/', ' ']), "{}", program);
    }
}

#[test]
fn what_a_lock_names_as_optional_and_has_not_is_dropped_wherever_node_would_look() {
    let optional = |names: &[&str]| {
        let all = names
            .iter()
            .map(|name| ((*name).to_owned(), serde_json::json!("1")))
            .collect::<serde_json::Map<_, _>>();
        serde_json::json!({"optionalDependencies": all, "integrity": "sha512-x"})
    };
    let mut lock = serde_json::json!({"packages": {
        "": {"dependencies": {"a": "1"}},
        "node_modules/a": optional(&["@s/here", "gone"]),
        "node_modules/a/node_modules/b": optional(&["own", "beside", "@s/here", "below"]),
        "node_modules/a/node_modules/b/node_modules/own": {},
        "node_modules/a/node_modules/beside": {},
        "node_modules/@s/here": optional(&["below"]),
        "node_modules/@s/here/node_modules/below": {},
    }});
    assert!(npm::drop_absent(&mut lock));
    let packages = &lock["packages"];
    assert_eq!(packages["node_modules/a"], optional(&["@s/here"]));
    assert_eq!(packages["node_modules/a/node_modules/b"], optional(&["own", "beside", "@s/here"]));
    assert_eq!(packages["node_modules/@s/here"], optional(&["below"]));
    assert!(!npm::drop_absent(&mut lock), "there is no more");
    assert!(!npm::drop_absent(&mut serde_json::json!([{"packages": 1}])));
}
