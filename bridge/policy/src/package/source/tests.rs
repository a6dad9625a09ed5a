//! Tests of sources.

use super::*;
use proptest::prelude::*;

fn of(source: &str) -> Package {
    read(source, &["x".into()]).unwrap()
}

#[test]
fn sources_name_their_package() {
    for (source, name, exact) in [
        ("npm:@a/server-x@1.2.3", "@a/server-x", true),
        ("npm:x", "x", false),
        ("npm:x@^1.2", "x", false),
        ("npm:x@latest", "x", false),
        ("pypi:mcp-server-time==2026.10.19", "mcp-server-time", true),
        ("pypi:x[a]>=1,<2", "x", false),
        ("git:https://h/a/b.git#main", "b", false),
        ("git:ssh://git@h/a/b#0123456789abcdef0123456789abcdef01234567", "b", true),
        ("git:file:///home/me/c", "c", false),
        ("git:https://h/a#subdirectory=packages/x", "a/x", false),
        ("git:https://h/a#v1&subdirectory=x", "a/x", false),
        ("git:https://h/a#0123456789abcdef0123456789abcdef01234567&subdirectory=x", "a/x", true),
    ] {
        let package = of(source);
        assert_eq!((package.name.as_str(), package.is_exact()), (name, exact), "{source}");
        assert_eq!((package.source().as_str(), &package.args[..]), (source, &["x".to_owned()][..]));
    }
}

#[test]
fn what_is_no_source_is_refused_with_a_reason() {
    for (source, why) in [
        ("oci:docker.io/x", "npm:, pypi:, git:, binary:"),
        ("time", "npm:, pypi:, git:, binary:"),
        ("npm:", "write it as"),
        ("npm:-x", "write it as"),
        ("npm:../x", "write it as"),
        ("pypi:--help", "write it as"),
        ("git:ext::sh -c x", "https://, ssh:// and file://"),
        ("git:x/y", "not a whole address"),
        ("git:https:/h/a", "https://, ssh:// and file://"),
        ("git:https:\\\\h\\a", "https://, ssh:// and file://"),
        ("git:http://h/a", "https://, ssh:// and file://"),
        ("git:https://me:pass@h/a", "password"),
        ("git:https://token@h/a", "password"),
        ("git:ssh://-oProxyCommand=x/a", "not the address of a repository"),
        ("git:ssh://-o@h/a", "not the address of a repository"),
        ("git:https://h/a b", "not the address of a repository"),
        ("git:https://h/", "does not end in a name"),
        ("git:https://h/a#--upload-pack=x", "branch"),
        ("git:https://h/a#x..y", "branch"),
        ("git:https://h/a#x&y", "branch"),
        ("git:https://h/a#subdirectory=", "a directory of the repository"),
        ("git:https://h/a#subdirectory=/etc", "a directory of the repository"),
        ("git:https://h/a#subdirectory=a/../../b", "a directory of the repository"),
        ("git:https://h/a#v1&subdirectory=a/.GIT/hooks", "a directory of the repository"),
        ("git:https://h/a#subdirectory=-x", "a directory of the repository"),
    ] {
        let said = read(source, &[]).unwrap_err();
        assert!(said.contains(why), "{source}: {said}");
    }
}

#[test]
fn names_are_short() {
    for (source, name) in [
        ("pypi:mcp-server-time", "time"),
        ("npm:@modelcontextprotocol/server-filesystem", "filesystem"),
        ("npm:@playwright/mcp@latest", "playwright"),
        ("npm:mcp-remote", "remote"),
        ("npm:weather-mcp-server", "weather"),
        ("npm:some.thing", "some-thing"),
        ("pypi:mcp-server", "server"),
        ("git:https://h/org/Notes-MCP.git", "notes"),
        ("git:https://h/org/all#subdirectory=packages/notes-mcp", "notes"),
        ("git:https://h/org/notes#subdirectory=server", "notes"),
    ] {
        assert_eq!(default_name(&of(source)).unwrap().as_str(), name, "{source}");
    }
}

#[test]
fn a_version_is_put_in_the_place_of_what_was_wanted() {
    let exactly = |source: &str, version: &str| of(source).exactly(version).map(|package| package.source());
    assert_eq!(exactly("npm:@a/b@^1", "1.4.0").unwrap(), "npm:@a/b@1.4.0");
    assert_eq!(exactly("pypi:a[b]>=1", "2.0").unwrap(), "pypi:a[b]==2.0");
    assert_eq!(
        exactly("git:https://h/a#main", &"a".repeat(40)).unwrap(),
        format!("git:https://h/a#{}", "a".repeat(40))
    );
    let part = "git:https://h/a#main&subdirectory=p/x";
    assert_eq!(exactly(part, "v2").unwrap(), "git:https://h/a#v2&subdirectory=p/x");
    assert_eq!(of(part).newest().source(), "git:https://h/a#subdirectory=p/x");
    assert_eq!((of(part).address(), of(part).directory()), (("https://h/a", Some("main")), Some("p/x")));
    assert_eq!(exactly("npm:a", "1 && x"), None);
    assert_eq!(of("pypi:a[b]==1.0").newest().source(), "pypi:a[b]");
    assert_eq!(of("npm:@a/b@1.0").newest().source(), "npm:@a/b");
}

proptest! {
    #[test]
    fn no_option_comes_through(kind in "npm|pypi|git", rest in "\\PC{0,40}|(https|ssh|file)://[a-z@:/#.-]{0,30}(#subdirectory=[a-z./-]{0,9})?") {
        let Ok(package) = read(&format!("{kind}:{rest}"), &[]) else { return Ok(()) };
        prop_assert!(!package.name.starts_with(['-', '.', '/']) || package.ecosystem == Ecosystem::Git);
        prop_assert!(!package.name.contains("..") || package.ecosystem == Ecosystem::Git, "{}", package.name);
        let (address, reference) = package.address();
        prop_assert!(!address.starts_with('-') && !reference.unwrap_or_default().starts_with('-'));
        let down = package.directory().unwrap_or("x");
        prop_assert!(down.split('/').all(|part| !["", ".", "..", ".git"].contains(&part) && !part.starts_with('-')));
        prop_assert!(package.spec.bytes().all(|b| b.is_ascii_graphic()));
        let _ = default_name(&package);
    }
}
