//! The ordinary tasks that use the browser, with an extension that does what it is told.

use std::thread;

use harbor_tests::browser::Browser;
use serde_json::{Value, json};

use super::scene::{Calls, Came, Held, Scene};
use super::tasks::SAYS;

/// Opens what is to be opened, each address in a tab of its own, and answers so many calls.
fn serve(browser: &Browser, calls: usize) {
    for _ in 0..calls {
        let called = browser.next_call();
        if let Some(url) = called.arguments["url"].as_str() {
            let tab = called.call.session.tabs.len() as u64 + 1;
            browser.open_tab(&called, tab);
            browser.tell("navigated", &json!({"tab_id": tab, "url": url}));
        }
        assert!(browser.answer(&called, "seen"));
    }
}

struct Surfing {
    scene: Scene,
    browser: Browser,
    chat: String,
}

impl Surfing {
    fn new() -> Self {
        let scene = Scene::new();
        let supervision = json!({"reads": ["search", "read"]});
        scene.server("mail", Held::Account, &["search", "read"], &supervision);
        let browser = Browser::start(&scene.home, "Chromium", "one");
        let fields = json!({"mode": "ask", "enabled_servers": ["browser", "mail"]});
        let begun = scene.bridge.call("chat_create_session", &fields).unwrap();
        let chat = begun["session"]["id"].as_str().unwrap().to_owned();
        Self { scene, browser, chat }
    }

    fn does(&self, typed: &str, calls: &Calls, in_browser: usize) -> Came {
        thread::scope(|scope| {
            scope.spawn(|| serve(&self.browser, in_browser));
            self.scene.does(&self.chat, typed, calls, &SAYS)
        })
    }
}

fn fill(value: &str) -> (&'static str, Value) {
    let field = json!({"target": "f1e1", "name": "Name", "type": "textbox", "value": value});
    ("browser_browser_fill_form", json!({"fields": [field]}))
}

fn click() -> (&'static str, Value) {
    ("browser_browser_click", json!({"target": "f1e2"}))
}

#[test]
fn a_form_on_the_open_page_is_filled_in_after_one_yes() {
    let surfing = Surfing::new();
    let snapshot = ("browser_browser_snapshot", json!({}));
    let calls = vec![
        ("browser_browser_navigate", json!({"url": "https://form.example/order"})),
        snapshot.clone(),
        fill("Ann"),
        click(),
        snapshot,
    ];
    let came = surfing.does("order for Ann at https://form.example/order", &calls, 5);
    assert_eq!((came.asked, came.made), (vec!["writes".to_owned()], vec![true; 5]));
}

#[test]
fn two_tabs_are_read_without_a_question() {
    let surfing = Surfing::new();
    let open = |url: &str| ("browser_browser_tabs", json!({"action": "new", "url": url}));
    let opened = vec![open("https://a.example/x"), open("https://b.example/y")];
    let came = surfing.does("open https://a.example/x and https://b.example/y", &opened, 2);
    assert_eq!((came.asked.len(), came.made), (0, vec![true; 2]));
    let read = |tab: u64| ("browser_browser_read", json!({"tabId": tab}));
    let find = |tab: u64| ("browser_browser_find", json!({"tabId": tab, "text": "price"}));
    let calls = vec![read(1), read(2), find(1), find(2), read(1)];
    let came = surfing.does("summarise both", &calls, 5);
    assert_eq!((came.asked.len(), came.made), (0, vec![true; 5]));
}

#[test]
fn a_number_out_of_a_mail_goes_into_a_page_after_a_yes_that_shows_it() {
    let surfing = Surfing::new();
    let calls = vec![
        ("mail_search", json!({"q": "booking"})),
        ("mail_read", json!({"id": "m1"})),
        ("browser_browser_navigate", json!({"url": "https://book.example/check"})),
        fill("B-4711"),
        click(),
        ("browser_browser_read", json!({})),
    ];
    let came = surfing.does("look up my booking at https://book.example/check", &calls, 4);
    assert_eq!(came.asked, ["leaves", "writes"]);
    assert_eq!(came.made, vec![true; 6]);
    // What was let out to one page goes to no other.
    let elsewhere =
        vec![("browser_browser_navigate", json!({"url": "https://other.example/"})), fill("B-4711")];
    let pending = surfing.scene.begins(&surfing.chat, "now https://other.example/ please", &elsewhere);
    serve(&surfing.browser, 1);
    let push = surfing
        .scene
        .bridge
        .wait_for_push("chat_event", harbor_tests::LIMIT, |push| push["event"]["waits"] == true);
    let asked = &push["event"]["approval"];
    assert_eq!((&asked["reason"], &asked["tool"]), (&json!("leaves"), &json!("browser/browser_fill_form")));
    surfing.scene.answer(asked, &["no"]);
    assert_eq!(pending.wait(harbor_tests::LIMIT).unwrap()["steps"][1]["is_error"], true);
}
