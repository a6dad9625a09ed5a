//! `fetch` of scripts: through the egress proxy of their server, to the hosts that it may reach and no others.

use std::fs;

use harbor_tests::processes::{Process, assert_gone, descendants};
use harbor_tests::tls::{FUTURE, Tls};
use harbor_tests::web_page::WebPage;
use harbor_tests::{Bridge, Home, LIMIT, wait_until};
use serde_json::{Value, json};

/// Fetches as it is told, and says what came of it.
const SCRIPT: &str = r#"
import { serve } from "harbor:mcp";
let controller;
const told = async (url, init = {}) => {
  try {
    const answer = await fetch(url, init);
    const { ok, status, statusText, redirected } = answer;
    const type = answer.headers.get("content-type");
    const text = await answer.text();
    return { ok, status, statusText, redirected, url: answer.url, type, text: text.length > 99999 ? text.length : text };
  } catch (error) {
    return { error: error.name, message: error.message };
  }
};
serve({
  name: "fetching",
  tools: {
    fetch: { run: async ({ url, init }) => JSON.stringify(await told(url, init)) },
    bytes: { run: async ({ url, init }) => JSON.stringify(await told(url, { ...init, method: "POST", body: new Uint8Array([1, 2, 104, 105]) })) },
    abort: {
      run: async ({ url }) => {
        controller = new AbortController();
        return JSON.stringify(await told(url, { signal: controller.signal }));
      },
    },
    end: { run: () => { controller.abort(); return "ended"; } },
    many: {
      run: async ({ url, count }) => {
        const all = await Promise.all(Array.from({ length: count }, () => told(url)));
        return all.filter((one) => one.text === "hello, wörld").length;
      },
    },
    wait: { run: ({ url, count }) => { for (let at = 0; at < count; at++) fetch(url).catch(() => {}); return "begun"; } },
    once: {
      run: async ({ url }) => {
        const answer = await fetch(url);
        const cookies = answer.headers.getSetCookie();
        const copy = answer.clone();
        const first = await answer.json();
        const said = [cookies, first.body, answer.bodyUsed];
        try { await answer.text(); } catch (error) { said.push(error.name); }
        return JSON.stringify([...said, (await copy.bytes()).length > 10]);
      },
    },
  },
});
"#;

/// A bridge with the server `s`, which may reach these hosts.
struct Scripted {
    // It ends before its home goes.
    bridge: Bridge,
    home: Home,
}

impl Scripted {
    fn new(hosts: &[String], more: &[&str]) -> Self {
        Self::with(Home::new(), &[], hosts, more)
    }

    #[track_caller]
    fn with(home: Home, env: &[(&str, &str)], hosts: &[String], more: &[&str]) -> Self {
        let bridge = Bridge::start_with(&home, env);
        let file = home.scratch("fetching.js");
        fs::write(&file, SCRIPT).unwrap();
        let mut words = vec!["add", "s", "--js", file.to_str().unwrap(), "--network", "hosts"];
        words.extend(hosts.iter().flat_map(|host| ["--host", host]));
        words.extend(more);
        let (out, err, code) = home.harbor(&words);
        assert_eq!(code, Some(0), "{out}{err}");
        Self { bridge, home }
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let text = self.bridge.started_tool("s", tool, arguments);
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    fn fetch(&self, url: &str) -> Value {
        self.call("fetch", &json!({"url": url}))
    }

    #[track_caller]
    fn is_refused(&self, url: &str, words: &str) {
        let said = self.fetch(url);
        let message = said["message"].as_str().unwrap_or_default();
        assert!(said["error"] == "TypeError" && message.contains(words), "{url}: {said}");
    }

    /// The fetch process of the server.
    fn fetcher(&self) -> Option<Process> {
        let interpreter = Process::named_by(&self.bridge.connect("s")["pid"]);
        descendants(interpreter.pid).into_iter().next()
    }
}

fn rule(page: &WebPage) -> String {
    page.address.to_string()
}

#[test]
fn an_allowed_host_answers_and_others_are_refused_with_what_to_do() {
    let (page, other) = (WebPage::at("127.0.0.2"), WebPage::at("127.0.0.3"));
    let server = Scripted::new(&[rule(&page)], &[]);
    assert_eq!(server.fetcher().map(|process| process.pid), None, "nothing was fetched yet");
    let hello = json!({"ok": true, "status": 200, "statusText": "OK", "redirected": false, "url": page.url("/hello"),
        "type": "text/plain", "text": "hello, wörld"});
    assert_eq!(server.fetch(&page.url("/hello")), hello);
    assert_eq!(server.fetch(&page.url("/none"))["status"], 404);

    let said = format!(
        "refused {}: it is not among the allowed hosts; to allow it: harbor sandbox s --host {}",
        rule(&other),
        rule(&other)
    );
    server.is_refused(&other.url("/hello"), &said);
    server.is_refused(&format!("https://{}/", rule(&other)), &said);
    server.is_refused("http://2130706435/", "refused 127.0.0.3:80: it is not among the allowed hosts");
    server.is_refused("https://example.com/", "harbor sandbox s --host example.com");
    assert_eq!(server.fetch(&page.url("/forged"))["text"], "mine", "a server is no proxy, whatever it says");

    assert!(
        server.home.harbor(&["logs", "s"]).0.contains("refused")
            || server.home.done(&["status", "s"]).contains("--host")
    );
}

#[test]
fn requests_go_out_as_the_script_made_them() {
    let page = WebPage::at("127.0.0.2");
    let server = Scripted::new(&[rule(&page)], &[]);
    let init = json!({"method": "post", "body": "ä", "headers": {"X-Own": "1", "Host": "evil", "Content-Length": "9"}});
    let said = server.call("fetch", &json!({"url": page.url("/echo?a=b#c"), "init": init}));
    let echo: Value = serde_json::from_str(said["text"].as_str().unwrap()).unwrap();
    let head: Vec<_> =
        echo["head"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_lowercase()).collect();
    assert_eq!((head[0].as_str(), &echo["body"]), ("post /echo?a=b http/1.1", &json!("ä")));
    for line in ["x-own: 1", "content-type: text/plain;charset=utf-8", "content-length: 2", "accept: */*"] {
        assert!(head.contains(&line.to_owned()), "{line}: {head:?}");
    }
    assert!(
        head.contains(&format!("host: {}", rule(&page))) && !head.iter().any(|line| line.contains("evil")),
        "{head:?}"
    );
    let bytes = server.call("bytes", &json!({"url": page.url("/echo")}));
    assert!(bytes["text"].as_str().unwrap().contains(r#""body":"\u0001\u0002hi""#), "{bytes}");
    assert_eq!(
        server.call("once", &json!({"url": page.url("/echo")})),
        json!([["a=1", "b=2"], "", true, "TypeError", true])
    );
    assert_eq!(
        server.call("many", &json!({"url": page.url("/hello"), "count": 40})),
        json!(40),
        "further ones wait"
    );
    for (url, words) in [
        ("/hello", "no absolute URL"),
        ("ftp://127.0.0.2/", "begins with https://"),
        ("http://a:b@127.0.0.2/", "Authorization"),
    ] {
        server.is_refused(url, words);
    }
}

#[test]
fn a_redirect_is_judged_anew() {
    let (page, other) = (WebPage::at("127.0.0.2"), WebPage::at("127.0.0.3"));
    let server = Scripted::new(&[rule(&page)], &[]);
    let said = server.fetch(&page.url("/moved?to=/hello"));
    assert_eq!(
        (&said["text"], &said["redirected"], &said["url"]),
        (&json!("hello, wörld"), &json!(true), &json!(page.url("/hello")))
    );
    server.is_refused(
        &page.url(&format!("/moved?to={}", other.url("/hello"))),
        "it is not among the allowed hosts",
    );
    server.is_refused(
        &page.url("/moved?to=http://169.254.169.254/latest"),
        "it is not among the allowed hosts",
    );
    server.is_refused(&page.url("/moved?to=file:///etc/passwd"), "not a web address");
    server.is_refused(&page.url("/moved"), "more than 5 times");
    let of = |redirect: &str| {
        server.call("fetch", &json!({"url": page.url("/moved?to=/hello"), "init": {"redirect": redirect}}))
    };
    assert_eq!(of("manual")["status"], 302);
    assert!(of("error")["message"].as_str().unwrap().contains("redirects"));
}

#[test]
fn a_name_that_leads_to_a_private_address_is_refused() {
    let server = Scripted::new(&["localhost:*".to_owned()], &[]);
    server.is_refused("http://localhost:7/", "this name has no public address");
    server.is_refused("https://localhost:7/", "this name has no public address");
}

#[test]
fn what_is_too_large_or_takes_too_long_ends_by_its_limit() {
    let page = WebPage::at("127.0.0.2");
    let server = Scripted::new(&[rule(&page)], &["--", "--fetch-time", "0.5"]);
    server.is_refused(&page.url("/big"), "is longer than 16 MiB");
    server.is_refused(
        &page.url("/never"),
        "did not answer whole within 0.5 s; `-- --fetch-time SECONDS` allows more",
    );
    wait_until("the connection is closed", LIMIT, || page.waiting() == 0);
    assert_eq!(server.fetch(&page.url("/hello"))["status"], 200);
}

#[test]
fn an_abort_ends_the_request_and_frees_its_place() {
    let page = WebPage::at("127.0.0.2");
    let server = Scripted::new(&[rule(&page)], &[]);
    let _ = server.fetch(&page.url("/hello"));
    std::thread::scope(|scope| {
        let aborted = scope.spawn(|| server.call("abort", &json!({"url": page.url("/never")})));
        wait_until("it has been sent", LIMIT, || page.waiting() == 1);
        assert_eq!(server.call("end", &json!({})), json!("ended"));
        assert_eq!(aborted.join().unwrap()["error"], "AbortError");
    });
    wait_until("the connection is closed", LIMIT, || page.waiting() == 0);
    let _ = server.call("wait", &json!({"url": page.url("/never"), "count": 20}));
    wait_until("as many as may be are open", LIMIT, || page.waiting() == 16);
    assert_eq!(server.call("end", &json!({})), json!("ended"), "the script goes on meanwhile");
    assert_eq!(page.waiting(), 16);
}

#[test]
fn the_fetch_process_ends_with_its_server() {
    let page = WebPage::at("127.0.0.2");
    let server = Scripted::new(&[rule(&page)], &[]);
    let _ = server.call("wait", &json!({"url": page.url("/never"), "count": 1}));
    wait_until("it has been sent", LIMIT, || page.waiting() == 1);
    let fetcher = server.fetcher().unwrap();
    assert!(fetcher.command_line().contains("requests"), "{}", fetcher.command_line());
    assert_eq!(server.home.done(&["stop", "s"]).lines().count(), 1);
    assert_gone(&[fetcher], LIMIT);
    wait_until("the connection is closed", LIMIT, || page.waiting() == 0);
}

#[test]
fn a_fetch_process_that_was_killed_is_started_again() {
    let page = WebPage::at("127.0.0.2");
    let server = Scripted::new(&[rule(&page)], &[]);
    let _ = server.fetch(&page.url("/hello"));
    let fetcher = server.fetcher().unwrap();
    fetcher.signal(nix::sys::signal::Signal::SIGKILL);
    assert_eq!(server.fetch(&page.url("/hello"))["status"], 200);
    assert_ne!(server.fetcher().map(|process| process.pid), Some(fetcher.pid));
}

#[test]
fn tls_is_checked_by_the_systems_certificates() {
    let home = Home::new();
    let tls = Tls::start(&home, "IP:127.0.0.1", FUTURE, &["-www"]);
    let rule = format!("127.0.0.1:{}", tls.port);
    let url = format!("https://{rule}/");
    let certificate = tls.certificate.to_str().unwrap().to_owned();
    let server = Scripted::with(home, &[("SSL_CERT_FILE", &certificate)], std::slice::from_ref(&rule), &[]);
    assert_eq!(server.fetch(&url)["status"], 200);
    let stranger = Scripted::new(&[rule], &[]);
    stranger.is_refused(&url, "does not trust who signed the certificate");
}

#[test]
fn without_hosts_there_is_no_fetch_and_no_process() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let file = home.scratch("has.js");
    let text = "import { serve } from 'harbor:mcp';
        serve({ name: 'has', tools: { has: { run: () => [typeof fetch, typeof Headers, 'fetch' in globalThis].join() } } });";
    fs::write(&file, text).unwrap();
    for network in ["none", "loopback", "all"] {
        let (out, err, code) =
            home.harbor(&["add", "s", "--js", file.to_str().unwrap(), "--network", network]);
        assert_eq!(code, Some(0), "{out}{err}");
        assert_eq!(bridge.started_tool("s", "has", &json!({})), "undefined,undefined,false", "{network}");
    }
}
