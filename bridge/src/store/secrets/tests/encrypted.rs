//! Encrypted: nothing is readable without its passphrase, and each way in the middle of which it is cut off has a whole file.

use harbor_policy::secret_store::Choice;

use super::super::super::StoreError;
use super::*;

const PASSPHRASE: &str = "correct horse";

fn words(text: &str) -> Secret {
    Secret::new(text.into())
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn is_on_disk(path: &Path, text: &str) -> bool {
    names(path).iter().any(|name| {
        let bytes = fs::read(path.with_file_name(name)).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

fn why<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    let error = result.unwrap_err();
    assert!(matches!(error, StoreError::Locked(_)), "{error:?}");
    error.to_string()
}

#[tokio::test(flavor = "local")]
async fn a_passphrase_is_needed_after_each_start_and_what_is_written_stays_encrypted() {
    let (_home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    let standing = secrets.encrypt(words(PASSPHRASE)).await.unwrap();
    assert_eq!((standing.form, standing.is_locked), (StoreProtection::Passphrase, false));
    secrets.put("a", keys(&["L"])).await.unwrap();
    assert_eq!(secrets.of("a").await.unwrap().0.len(), 2);
    assert_eq!(names(&path), ["credentials.json", "key.age", "servers"]);
    for name in names(&path) {
        assert_eq!(mode(&path.with_file_name(name)), 0o600);
    }
    assert!(!is_on_disk(&path, "value of") && !is_on_disk(&path, PASSPHRASE));
    assert!(check(&path).is_ok(), "nothing is wrong with it");

    let again = at(&path);
    let standing = again.standing();
    assert_eq!((standing.form, standing.is_locked, standing.asks), (StoreProtection::Passphrase, true, true));
    let locked = why(again.of("a").await);
    assert_eq!(locked, "use the secrets: they are locked; `harbor secrets unlock` unlocks them");
    assert_eq!(why(again.put("a", keys(&["M"])).await), locked);
    assert!(again.may_have("a").await && !again.may_have("b").await);
    assert_eq!(again.forget("b").await.unwrap(), Forgotten { count: 0, left: None }, "it has none");
    assert!(why(again.unlock(Some(words("correct horsf"))).await).contains("the passphrase is wrong"));
    assert!(!again.unlock(Some(words(PASSPHRASE))).await.unwrap().is_locked);
    assert_eq!(again.of("a").await.unwrap().0["L"], credential("value of L"));

    // Another passphrase; the file itself stays as it is.
    let before = fs::read(&path).unwrap();
    again.encrypt(words("battery staple")).await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(again.lock().await.unwrap().is_locked);
    assert!(why(again.of("a").await).contains("they are locked"));
    assert!(why(again.unlock(Some(words(PASSPHRASE))).await).contains("is wrong"));
    again.unlock(Some(words("battery staple"))).await.unwrap();
    let standing = again.decrypt().await.unwrap();
    assert_eq!((standing.form, standing.is_locked), (StoreProtection::Plain, false));
    assert_eq!(names(&path), ["credentials.json", "servers"]);
    assert!(is_on_disk(&path, "value of K"));
    for refused in
        [again.lock().await, again.decrypt().await, again.unlock(None).await, again.move_over().await]
    {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("encrypted") || error.contains("nothing to do"), "{error}");
    }
}

/// The files as they are between two steps: whichever there are, all secrets are there.
#[tokio::test(flavor = "local")]
async fn what_was_cut_off_is_the_one_or_the_other_and_is_done_again() {
    let (_home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    let plain = fs::read(&path).unwrap();
    secrets.encrypt(words(PASSPHRASE)).await.unwrap();
    let (sealed, key) = (fs::read(&path).unwrap(), path.with_file_name("key.age"));

    // Encrypting had only written the key; or decrypting had not removed it yet.
    fs::write(&path, &plain).unwrap();
    let after = at(&path);
    assert_eq!((after.standing().form, after.of("a").await.unwrap().0.len()), (StoreProtection::Plain, 1));
    after.encrypt(words("another one")).await.unwrap();
    assert_eq!(after.of("a").await.unwrap().0.len(), 1);
    assert!(fs::read(&path).unwrap() != sealed);
    after.decrypt().await.unwrap();
    assert!(!key.exists());

    // A key that is not the file's opens nothing, and nothing is overwritten.
    after.encrypt(words("another one")).await.unwrap();
    fs::write(&path, &sealed).unwrap();
    let foreign = at(&path);
    let error = foreign.unlock(Some(words("another one"))).await.unwrap_err().to_string();
    assert!(error.contains("its key does not open it") && foreign.standing().is_locked, "{error}");
    fs::write(&key, "age-encryption.org/v1\n-> X25519 abc\n").unwrap();
    assert!(
        foreign
            .unlock(Some(words("x")))
            .await
            .unwrap_err()
            .to_string()
            .contains("key.age: it is not an age file")
    );
    assert_eq!(fs::read(&path).unwrap(), sealed);
}

#[tokio::test(flavor = "local")]
async fn a_deployment_gives_the_passphrase_by_a_file() {
    let (home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    secrets.encrypt(words(PASSPHRASE)).await.unwrap();
    let given = home.path().join("passphrase");
    let wanted = SecretsConfig { store: Choice::File, passphrase_file: Some(given.clone()) };
    let write = |text: &str| {
        fs::write(&given, text).unwrap();
        fs::set_permissions(&given, Permissions::from_mode(0o600)).unwrap();
    };
    write("correct horse\n");
    let again = Secrets::at(&path, wanted.clone());
    assert!(again.standing().is_locked && !again.standing().asks);
    assert_eq!(again.of("a").await.unwrap().0.len(), 1);
    assert!(!again.standing().is_locked);
    // What the person locks stays locked.
    again.lock().await.unwrap();
    assert!(why(again.of("a").await).contains("they are locked"));
    again.unlock(None).await.unwrap();

    write("hunter2hunter2");
    let wrong = Secrets::at(&path, wanted.clone());
    let said = why(wrong.of("a").await);
    assert!(said.contains("/passphrase is wrong") && !said.contains("hunter2"), "{said}");
    write(PASSPHRASE);
    assert_eq!(why(wrong.of("a").await), said, "not tried again at once");
    wrong.unlock(None).await.unwrap();
    assert!(wrong.of("a").await.is_ok());
}

#[tokio::test(flavor = "local")]
async fn what_the_person_chose_is_never_written_otherwise() {
    let (_home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    secrets.follow(SecretsConfig { store: Choice::Keyring, passphrase_file: None });
    let before = fs::read(&path).unwrap();
    let error = secrets.put("a", keys(&["L"])).await.unwrap_err().to_string();
    assert!(error.contains("`harbor secrets move` moves them"), "{error}");
    assert!(
        secrets.encrypt(words(PASSPHRASE)).await.unwrap_err().to_string().contains("store = \"keyring\"")
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(secrets.of("a").await.unwrap().0.len(), 1, "a start has what there is");
    assert!(secrets.remove("a", "K").await.unwrap(), "less may be there at any time");
}

#[tokio::test(flavor = "local")]
async fn what_is_locked_when_its_server_goes_is_deleted_when_it_is_unlocked() {
    let (_home, path) = place();
    let secrets = at(&path);
    secrets.put("a", keys(&["K"])).await.unwrap();
    secrets.put("b", keys(&["L"])).await.unwrap();
    secrets.encrypt(words(PASSPHRASE)).await.unwrap();
    secrets.lock().await.unwrap();
    assert!(secrets.forget("a").await.unwrap().left.unwrap().contains("they are locked"));
    assert_eq!(names(&path), ["credentials.json", "dropped", "key.age", "servers"]);
    assert_eq!(mode(&path.with_file_name("dropped")), 0o600);
    let before = fs::read(&path).unwrap();
    secrets.unlock(Some(words(PASSPHRASE))).await.unwrap();
    assert_ne!(fs::read(&path).unwrap(), before);
    assert_eq!(names(&path), ["credentials.json", "key.age", "servers"]);
    assert_eq!(secrets.all().await.unwrap().into_keys().collect::<Vec<_>>(), ["b"]);
}
