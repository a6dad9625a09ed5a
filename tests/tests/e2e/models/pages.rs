//! `harbor ask --file URL`: a page is fetched in a sandbox, by the bridge's rules for addresses, and nothing of it stays.

use std::fs;
use std::io::Write as _;

use harbor_tests::downloads::Served;
use harbor_tests::{Bridge, Downloads, Home, LIMIT, Scripted, wait_until};
use serde_json::json;

use super::commands::{done, harbor};
use super::scene::Scene;

const PAGE: &str =
    "<!DOCTYPE html><title>t</title><script>evil()</script><h1>Herons</h1><p>They <b>stand</b>.";

/// True once nothing is left of pages that were fetched.
fn is_swept(home: &Home) -> bool {
    fs::read_dir(home.path().join("pages")).is_ok_and(|mut left| left.next().is_none())
}

#[test]
fn a_page_and_a_picture_go_with_a_question_and_nothing_of_them_stays() {
    let (scene, web) = (Scene::new(), Downloads::start());
    web.offer("/herons?key=canary77", Served::File(PAGE.into()));
    web.offer("/moved", Served::To(web.url("/bird")));
    web.offer("/bird", Served::File(b"GIF89a".to_vec()));
    let (page, bird) = (web.url("/herons?key=canary77"), web.url("/moved"));
    let rules = ["--allow-http", "--allow-private"];
    done(&scene.home, &[&["ask", "what?", "--file", &page, "--file", &bird][..], &rules].concat());
    let asked = &scene.provider.chats()[0].body;
    let parts = asked["messages"][0]["content"].as_array().unwrap();
    let text = format!("The file {page} begins here.\n# Herons\n\nThey stand.\n\nThe file {page} ends here.");
    assert_eq!(parts[0]["text"], text);
    assert_eq!(parts[1]["image_url"]["url"], "data:image/gif;base64,R0lGODlh");
    assert_eq!(parts[2]["text"], "what?");
    wait_until("the pages to be removed", LIMIT, || is_swept(&scene.home));
    // In a session the text is in the envelope of untrusted words.
    done(&scene.home, &[&["ask", "what?", "--tools", "all", "--file", &page][..], &rules].concat());
    let asked = scene.provider.chats().pop().unwrap().text;
    assert!(asked.contains("# Herons") && !asked.contains("begins here"), "{asked}");
    // The log says where from, without what may be a key.
    let audit = fs::read_to_string(scene.home.path().join("logs/audit.jsonl")).unwrap();
    let line = audit.lines().find(|line| line.contains("chat_fetch_page")).unwrap();
    assert!(line.contains(&format!("\"url\":\"{}\"", web.url("/herons"))), "{line}");
    assert!(!audit.contains("canary77") && !audit.contains("Herons"), "{audit}");
}

#[test]
fn what_is_not_allowed_too_large_or_no_page_is_refused() {
    let (home, web) = (Home::new(), Downloads::start());
    let to = web.url("/page");
    // What asks for example.com asks this one: its proxy.
    let proxy = Scripted::start(move |_, stream| {
        let head =
            format!("HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: {to}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).is_ok()
    });
    let through = format!("http://127.0.0.1:{}", proxy.port);
    let bridge = Bridge::start_with(&home, &[("HTTP_PROXY", &through)]);
    web.offer("/page", Served::File(PAGE.into()));
    web.offer("/large", Served::Announced(5_000_001));
    web.offer("/long", Served::File(vec![b'a'; 1_000_001]));
    web.offer("/pdf", Served::File(b"%PDF-1.7\n\xff\xfe".to_vec()));
    web.offer("/half", Served::Half(PAGE.into()));
    let refused = |url: &str, http: bool, private: bool| {
        let order = json!({"url": url, "allow_http": http, "allow_private": private});
        bridge.call("chat_fetch_page", &order).unwrap_err().message
    };
    let private = "is a private address; `--allow-private` allows that";
    assert!(refused(&web.url("/page"), true, false).contains(private));
    assert!(refused("http://example.com/x", true, false).contains(private));
    assert_eq!((proxy.asked().len(), web.asked("/page")), (1, 0));
    assert!(refused(&web.url("/page"), false, true).contains("has no TLS; --allow-http allows that"));
    for (path, why) in [
        ("/none", "there is no such page at 127.0.0.1:"),
        ("/large", "it is larger than 5000 kB, the limit"),
        ("/long", "its text is 1000 kB long, and 1000 kB can be sent"),
        ("/pdf", "it is neither text nor a PNG, JPEG, GIF or WebP"),
        ("/half", "was lost after"),
    ] {
        let said = refused(&web.url(path), true, true);
        assert!(said.contains(why) && said.contains(&web.url(path)), "{path}: {said}");
    }
    assert!(refused("file:///etc/passwd", true, true).contains("begins with https:// or http://"));
    let (_, err, code) = harbor(&home, &["ask", "what?", "--file", &web.url("/page")], "");
    assert!(err.contains("--allow-http allows that") && code != Some(0), "{err}");
    wait_until("the pages to be removed", LIMIT, || is_swept(&home));
}

#[test]
fn whoever_leaves_ends_the_fetch() {
    let (home, web) = (Home::new(), Downloads::start());
    let bridge = Bridge::start(&home);
    web.offer("/held", Served::Held(PAGE.into()));
    let order = json!({"url": web.url("/held"), "allow_http": true, "allow_private": true});
    let pending = bridge.request_as("page", "chat_fetch_page", &order);
    wait_until("the page to be asked for", LIMIT, || web.held() == 1);
    bridge.call("cancel", &json!({"target": "page"})).unwrap();
    assert!(pending.wait(LIMIT).is_err());
    wait_until("its connection to end", LIMIT, || web.held() == 0);
    wait_until("its directory to be removed", LIMIT, || is_swept(&home));
}
