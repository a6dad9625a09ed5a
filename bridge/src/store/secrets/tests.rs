//! The file is private from its first byte, whole at any time, and never taken for what it is not.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use harbor_ipc_proto::client::CredentialType;
use harbor_ipc_proto::link::oauth::{Client, Proof};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::credentials::TokenProvenance;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::stat::Mode;
use proptest::prelude::*;

use super::*;

mod encrypted;

fn at(path: &Path) -> Secrets {
    Secrets::at(path, SecretsConfig::default())
}

fn credential(value: &str) -> Credential {
    Credential {
        value: Secret::new(value.into()),
        kind: CredentialType::Password,
        username: Some("ada \"l\"".into()),
        set_at: 7,
        expires_at: Some(9),
        refresh_token: Some(Secret::new("again\n".into())),
        origin: Some(TokenProvenance {
            scopes: vec!["a".into(), "b\"".into()],
            granted_at: 3,
            client: Client {
                id: "me".into(),
                secret: Some(Secret::new("s3\n".into())),
                proof: Proof::Post,
                is_given: true,
            },
            issuer: "https://b.example".into(),
            token_endpoint: "https://b.example/token".into(),
            revocation_endpoint: Some("https://b.example/revoke".into()),
            resource: "https://a.example/mcp".into(),
        }),
    }
}

fn keys(names: &[&str]) -> Vec<(String, Credential)> {
    names.iter().map(|name| ((*name).to_owned(), credential(&format!("value of {name}")))).collect()
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("secrets/credentials.json");
    (home, path)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[tokio::test(flavor = "local")]
async fn secrets_survive_are_replaced_and_are_gone_when_they_are_removed() {
    let (_home, path) = place();
    let secrets = at(&path);
    assert_eq!(secrets.all().await.unwrap(), SecretsByServer::default());
    assert!(!path.exists());
    secrets.put("a", keys(&["K", "L"])).await.unwrap();
    secrets.put("b", keys(&["K"])).await.unwrap();
    let replaced = secrets.put("a", vec![("K".into(), credential("another"))]).await.unwrap();
    let again = at(&path);
    assert_eq!(again.of("a").await.unwrap(), replaced);
    assert_eq!(replaced.0["K"], credential("another"));
    assert_eq!(replaced.0["L"], credential("value of L"));
    let text = || fs::read_to_string(&path).unwrap();
    assert!(
        text().contains("another") && !text().contains("value of K\",\"type\":\"password\",\"username\":\"x")
    );
    assert!(again.remove("a", "K").await.unwrap() && !again.remove("a", "K").await.unwrap());
    assert!(!text().contains("another"));
    for (name, count) in [("a", 1), ("a", 0), ("b", 1)] {
        assert_eq!(again.forget(name).await.unwrap(), Forgotten { count, left: None });
    }
    assert_eq!(text(), "{\"version\":1,\"servers\":{}}\n");
}

/// One looks at the modes of all files without a pause, the system tells each mode that is changed.
#[tokio::test(flavor = "local")]
async fn nobody_else_may_read_it_at_any_time() {
    let (home, path) = place();
    let directory = path.parent().unwrap();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    assert_eq!((mode(directory), mode(&path)), (0o700, 0o600));
    let watcher = Inotify::init(InitFlags::IN_NONBLOCK).unwrap();
    watcher.add_watch(directory, AddWatchFlags::IN_CREATE | AddWatchFlags::IN_ATTRIB).unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (stopped, at) = (stop.clone(), directory.to_owned());
    let looking = std::thread::spawn(move || {
        let mut modes = Vec::new();
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            let files = fs::read_dir(&at).unwrap().flatten();
            modes.extend(files.filter_map(|file| Some(file.metadata().ok()?.permissions().mode() & 0o777)));
        }
        modes
    });
    for _ in 0..50 {
        secrets.put("a", keys(&["K"])).await.unwrap();
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let modes = looking.join().unwrap();
    assert!(!modes.is_empty() && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");
    let events = watcher.read_events().unwrap();
    assert!(events.iter().any(|event| event.mask.contains(AddWatchFlags::IN_CREATE)));
    // A mode that was changed after the file was made would be told.
    let changed: Vec<_> = events
        .iter()
        .filter(|event| event.name.is_some() && event.mask.contains(AddWatchFlags::IN_ATTRIB))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
    drop(home);
}

#[tokio::test(flavor = "local")]
async fn what_is_not_this_users_alone_is_refused_with_what_to_do() {
    let (home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    let why = async |secrets: &Secrets| {
        let put = secrets.put("a", keys(&["L"])).await.unwrap_err().to_string();
        assert_eq!(secrets.of("a").await.unwrap_err().to_string(), put);
        put
    };
    for wide in [0o644, 0o660, 0o604] {
        fs::set_permissions(&path, Permissions::from_mode(wide)).unwrap();
        assert!(why(&secrets).await.contains("other users can read or change it; run `chmod 600 "));
    }
    let elsewhere = home.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o600)).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert!(why(&secrets).await.contains("a symbolic link"));
    assert!(fs::read_to_string(&elsewhere).unwrap().contains("value of K"), "it is as it was");
    fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, Mode::S_IRUSR).unwrap();
    assert!(why(&secrets).await.contains("not a file that you own"));
    fs::remove_file(&path).unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    symlink(home.path(), path.parent().unwrap()).unwrap();
    assert!(
        secrets.put("a", keys(&["L"])).await.unwrap_err().to_string().contains("a directory that you own")
    );
}

#[tokio::test(flavor = "local")]
async fn what_cannot_be_read_is_never_overwritten_nor_quoted() {
    let (_home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    let whole = fs::read(&path).unwrap();
    let unknown = String::from_utf8(whole.clone()).unwrap().replace("set_at", "hunter2");
    let newer = br#"{"version":2,"keys":"hunter2"}"#.to_vec();
    for wrong in [&whole[..whole.len() - 9], b"", b"hunter2", unknown.as_bytes(), &newer] {
        fs::write(&path, wrong).unwrap();
        let put = secrets.put("a", keys(&["L"])).await.unwrap_err().to_string();
        for error in [put, secrets.forget("a").await.unwrap().left.unwrap()] {
            assert!(
                error.contains("nothing was changed: repair the file, or move it away")
                    && !error.contains("hunter2"),
                "{error}"
            );
        }
        assert_eq!(fs::read(&path).unwrap(), wrong);
    }
}

#[tokio::test(flavor = "local")]
async fn there_is_a_bound_and_a_torn_write_is_swept_away() {
    let (_home, path) = place();
    let secrets = at(&path);
    let many: Vec<_> = (0..257).map(|n| (format!("K{n}"), credential("v"))).collect();
    assert!(secrets.put("a", many).await.unwrap_err().to_string().contains("at most 256 secrets"));
    assert!(!path.exists());
    secrets.put("a", keys(&["K"])).await.unwrap();
    fs::write(temporary(&path), "half a secret").unwrap();
    let secrets = at(&path);
    assert!(!temporary(&path).exists());
    assert_eq!(secrets.of("a").await.unwrap().0.len(), 1);
}

proptest! {
    #[test]
    fn whatever_is_stored_is_read_again(servers in prop::collection::btree_map("\\PC{1,8}", prop::collection::btree_map("[A-Z\"]{1,5}", "\\PC{1,40}|[\u{0}-\u{1f}]{1,20}", 0..4), 0..4)) {
        let all: SecretsByServer = servers.into_iter().map(|(server, keys)| {
            (server, Credentials(keys.into_iter().map(|(key, value)| (key, credential(&value))).collect()))
        }).collect();
        let text = form::text(&all);
        prop_assert!(text.capacity() >= text.len());
        prop_assert_eq!(form::parse(&text), Ok(all));
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = form::parse(&bytes);
    }
}

#[tokio::test(flavor = "local")]
async fn whose_secrets_there_are_is_known_though_they_cannot_be_read() {
    let (_home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, "{").unwrap();
    secrets.look();
    assert!(secrets.trouble().unwrap().contains("nothing was changed"));
    assert!(secrets.may_have("a").await && !secrets.may_have("b").await);
    assert!(at(&path).trouble().is_some(), "a next bridge sees it, too");
    fs::write(&path, &whole).unwrap();
    secrets.look();
    assert_eq!(secrets.trouble(), None);
    secrets.unlocked().await;
    // Whoever edits it by hand is heard as well.
    let edited = String::from_utf8(whole).unwrap().replace("\"a\"", "\"c\"");
    fs::write(&path, edited).unwrap();
    secrets.look();
    assert!(secrets.may_have("c").await && !secrets.may_have("a").await);
}

#[tokio::test(flavor = "local")]
async fn what_cannot_be_read_when_its_server_goes_is_for_no_later_one_of_that_name() {
    let (_home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    secrets.put("b", keys(&["K"])).await.unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let left = secrets.forget("a").await.unwrap().left.unwrap();
    assert!(left.contains("other users can read or change it"), "{left}");
    assert!(!secrets.may_have("a").await && secrets.may_have("b").await, "the next one waits for nothing");
    assert_eq!(secrets.forget("a").await.unwrap().left, Some(left));
    let on_disk = || fs::read_to_string(&path).unwrap().matches("value of K").count();
    assert_eq!(on_disk(), 2);

    // A next bridge knows it as well; the first who reads has them deleted.
    let again = at(&path);
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(again.of("a").await.unwrap(), Credentials::default());
    assert_eq!((on_disk(), path.with_file_name("dropped").exists()), (1, false));
    again.put("a", keys(&["K"])).await.unwrap();
    assert_eq!(at(&path).of("a").await.unwrap().0.len(), 1, "what is set from now on is the next one's");

    // So has who looks whether the file is right again, and who sets another one.
    for round in 0..2 {
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(again.forget("a").await.unwrap().left.is_some());
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        if round == 0 {
            again.look();
            assert_eq!((on_disk(), again.may_have("a").await), (1, false));
        }
        let all = again.put("a", vec![("L".into(), credential("another"))]).await.unwrap();
        assert_eq!(all.0.into_keys().collect::<Vec<_>>(), ["L"]);
    }
}
