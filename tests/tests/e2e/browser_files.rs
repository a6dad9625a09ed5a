//! Files that browser tools hand over: from allowed directories to pages, and downloads to clients; each after a yes that shows them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use harbor_ipc_proto::client::SourceFile;
use harbor_tests::browser::Browser;
use harbor_tests::{Bridge, Home, LIMIT, Pending};
use serde_json::{Value, json};

use super::browser::{call, denied, granted, text, with_tab};

/// A bridge whose person lets files of `allowed` be uploaded, and a browser.
fn scene(home: &Home, allowed: &Path) -> (Bridge, Browser) {
    home.configure(&format!("[browser]\nuploads = [{:?}]\n", allowed.display().to_string()));
    let bridge = Bridge::start(home);
    assert!(bridge.is_alive());
    (bridge, Browser::able(home, "Chromium", "one", &["downloads"]))
}

/// The person says yes to the call that was refused until they do; what they were shown.
fn yes(bridge: &Bridge, refused: Pending) -> Vec<String> {
    assert_eq!(refused.wait(LIMIT).unwrap_err().code, "ERR_PERMISSION_DENIED");
    let asked = bridge.call("approvals_list", &json!({})).unwrap()["waiting"][0].clone();
    assert_eq!((&asked["reason"], &asked["answers"]), (&json!("files"), &json!(["once", "no"])));
    bridge.call("approvals_answer", &json!({"approval_id": asked["id"], "answer": "once"})).unwrap();
    asked["private"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// A call that fails as a tool does; why.
fn failed(pending: Pending) -> String {
    let answer = pending.wait(LIMIT).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{}", answer.text);
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_file_is_uploaded_from_an_allowed_directory_after_a_yes_that_names_it() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let (allowed, cv) = (dir.path().join("allowed"), dir.path().join("allowed/cv.pdf"));
    fs::create_dir(&allowed).unwrap();
    fs::write(&cv, "0123456").unwrap();
    fs::write(dir.path().join("secret"), "s").unwrap();
    symlink(dir.path().join("secret"), allowed.join("link")).unwrap();
    let (bridge, browser) = scene(&home, &allowed);
    let client = granted(&home, &bridge, "one");
    with_tab(&browser, &client, 7);
    browser.tell("navigated", &json!({"tab_id": 7, "url": "https://jobs.example/form"}));
    let upload = |path: &Path| call(&client, "file_upload", json!({"target": "e1", "paths": [path]}));

    // What is not allowed is not asked about.
    for path in [dir.path().join("secret"), allowed.join("link")] {
        assert_eq!(denied(upload(&path)), "file", "{}", path.display());
    }
    assert_eq!(bridge.call("approvals_list", &json!({})).unwrap()["waiting"], json!([]));

    let shown = format!("{} (7 bytes), to https://jobs.example", cv.display());
    assert_eq!(yes(&bridge, upload(&cv)), [shown]);
    let pending = upload(&cv);
    let called = browser.next_call();
    let files = json!([{"name": "cv.pdf", "type": "application/pdf", "size": 7}]);
    assert_eq!(called.arguments, json!({"target": "e1", "files": files, "site": "https://jobs.example"}));
    let piece = |file: u64, offset: u64| {
        browser
            .ask(&SourceFile { call_id: called.call.call_id.clone(), file, offset })
            .map(|piece| piece.data)
    };
    assert_eq!((piece(0, 0).unwrap().as_str(), piece(0, 5).unwrap().as_str()), ("MDEyMzQ1Ng==", "NTY="));
    assert_eq!(piece(0, 7).unwrap(), "");
    assert!(piece(1, 0).is_err());
    browser.answer(&called, "taken");
    assert_eq!(text(pending.wait(LIMIT)), "taken");
    assert!(piece(0, 0).is_err(), "the call is over");

    // The yes is used up, and what was shown is what counts.
    assert_eq!(yes(&bridge, upload(&cv)).len(), 1);
    fs::write(&cv, "01234567").unwrap();
    assert!(yes(&bridge, upload(&cv))[0].contains("(8 bytes)"));
}

#[test]
fn a_download_is_waited_for_and_its_bytes_are_given_after_a_yes() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let (bridge, browser) = scene(&home, dir.path());
    let client = granted(&home, &bridge, "one");
    with_tab(&browser, &client, 7);
    let path = dir.path().join("report.csv");
    let tell = |id: u64, bytes: u64, state: &str, own: bool| {
        let download = json!({
            "id": id, "url": "https://a.example/report", "path": path, "mime": "text/csv", "bytes": bytes,
            "state": state, "own": own
        });
        browser.tell("download", &json!({"tab_id": 7, "download": download})).accepted
    };
    let downloads = |arguments: Value| call(&client, "downloads", arguments);
    assert!(
        failed(downloads(json!({"action": "wait", "timeout": 0.05})))
            .contains("no download of your tabs began")
    );

    assert!(tell(70, 2, "in_progress", true));
    let never = failed(downloads(json!({"action": "wait", "timeout": 0.05})));
    assert!(never.contains("the download 1, report.csv, is still going: 2 bytes have come"), "{never}");
    let waiting = downloads(json!({"action": "wait", "id": 1}));
    fs::write(&path, "a,b\n").unwrap();
    assert!(tell(70, 4, "complete", true));
    let done = waiting.wait(LIMIT).unwrap();
    let download = &done["result"]["structuredContent"]["download"];
    assert_eq!((&download["name"], &download["state"]), (&json!("report.csv"), &json!("complete")));

    let read = || downloads(json!({"action": "read", "id": 1}));
    assert_eq!(yes(&bridge, read()), ["the download report.csv (4 bytes), from https://a.example"]);
    let given = read().wait(LIMIT).unwrap();
    let resource = &given["result"]["content"][1]["resource"];
    assert_eq!((&resource["text"], &resource["mimeType"]), (&json!("a,b\n"), &json!("text/csv")));

    // One yes is for all of it. Another file lies there by now; another session has none; what the person may have begun is
    // named only.
    let rest = downloads(json!({"action": "read", "offset": 2})).wait(LIMIT).unwrap();
    assert_eq!(rest["result"]["content"][1]["resource"]["blob"], "Ygo=");
    fs::write(&path, "a,b,c\n").unwrap();
    assert!(failed(read()).contains("not the file that was downloaded any more"));
    let other = granted(&home, &bridge, "two");
    assert!(
        failed(call(&other, "downloads", json!({"action": "read", "id": 1}))).contains("no such download")
    );
    assert!(tell(71, 6, "complete", false));
    assert_eq!(denied(downloads(json!({"action": "read"}))), "foreign_download");
    assert!(
        !browser
            .tell(
                "download",
                &json!({"tab_id": 9, "download": {
                    "id": 1, "url": "", "path": "", "mime": "", "bytes": 0, "state": "complete", "own": true
                }})
            )
            .accepted
    );
}
