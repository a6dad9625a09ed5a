//! The network of a server: which hosts its rules permit, and what its proxy makes of a request.
//!
//! Input of `host_rules`: the host that is asked for, then the rules, separated by zero bytes.

use core::net::{Ipv4Addr, Ipv6Addr};

use harbor_egress::refusal::Refusal;
use harbor_egress::{fuzz_head, head};
use harbor_policy::sandbox::hosts::{Allowed, Host, Target, is_private, parse_host};

use super::Target as FuzzTarget;

pub(super) const HOST_RULES: FuzzTarget = FuzzTarget {
    name: "host_rules",
    run: host_rules,
    corpus: &[
        b"example.com:443\0example.com\0*.example.com:*",
        b"a.b.example.com.:8443\0*.Example.com.:8443\0example.com:080",
        b"xn--bcher-kva.example\0B\xc3\xbccher.example\0a\xc2\xadb.c",
        b"0x7f.1:9\x00127.0.0.1:9\0localhost\0*.127.0.0.1",
        b"2130706433:80\x000177.0.0.1\0[::ffff:127.0.0.1]:*",
        b"[::ffff:7f00:1]:443\0[::ffff:127.0.0.1]\x00127.0.0.1",
        b"[64:ff9b::10.0.0.1]:1\0[64:ff9b::a00:1]:*\0[2002:a00:1::]",
        b"\xef\xbc\x91.1\0\xef\xbc\x91\xe3\x80\x8201\0a\xe3\x80\x82",
        b"[fe80::1%25eth0]:80\0ex%61mple.com\0user@example.com\0*",
        b"1.2.3.4..\0a..\0[::1].\0_dmarc.a-b.c",
        b"",
    ],
};

pub(super) const PROXY_HEAD: FuzzTarget = FuzzTarget {
    name: "proxy_head",
    run: proxy_head,
    corpus: &[
        b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n\x16\x03\x01",
        b"CONNECT [2001:db8::1]:443 HTTP/1.0\r\n\r\n",
        b"CONNECT evil.org:22 HTTP/1.1\r\n\r\n",
        b"GET http://example.com/a?b#c HTTP/1.1\r\nHost: evil.org\r\nConnection: keep-alive, x\r\nX: y\r\n\r\n",
        b"POST HTTP://a.Example.com.:80 HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi",
        b"OPTIONS http://127.1:8080 HTTP/1.0\r\nTE: trailers\r\nUpgrade: h2c\r\nX-Empty:\r\n\r\n",
        b"GET http://example.com:8443?q HTTP/1.1\nA: b\r\n c\r\nA : \xff\0\r\n\r\n",
        b"GET http://user@example.com\\@evil.org/ HTTP/1.1\r\nProxy-Authorization: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\nGET http://example.com/ HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\r\n\r\n",
    ],
};

/// What is read has one form, and what is permitted is what the texts of the rules say.
fn host_rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut texts = text.split('\0').map(str::to_owned);
    let asked = texts.next().unwrap_or_default();
    let rules: Vec<String> = texts.collect();
    let target = Target::parse(&asked, Some(443));
    target.iter().for_each(read_again);
    let one = |rule: &String| Allowed::parse(std::slice::from_ref(rule));
    match Allowed::parse(&rules) {
        Ok(allowed) => {
            let Some(target) = target else { return };
            let by_any = rules.iter().any(|rule| one(rule).is_ok_and(|one| one.permits(&target)));
            assert_eq!(allowed.permits(&target), by_any, "together as each alone");
            assert_eq!(by_any, rules.iter().any(|rule| says(rule, &target)), "{rules:?} {target}");
        }
        Err(bad) => {
            let first = rules.iter().find_map(|rule| one(rule).err());
            assert_eq!(first.as_ref(), Some(&bad), "the first is told");
            let said = bad.to_string();
            assert!(said.len() < 1200 && !said.contains(char::is_control), "{said:?}");
        }
    }
}

/// A target is one text, in which nothing stands for something else, and one rule is for it alone.
fn read_again(target: &Target) {
    let text = target.to_string();
    assert_eq!(Target::parse(&text, None).as_ref(), Some(target));
    assert!(target.port != 0 && text.bytes().all(|byte| byte.is_ascii_graphic()), "{text:?}");
    assert!(!text.contains(['*', '%', '@', '/', '\\', '?', '#']) && text == text.to_lowercase(), "{text}");
    let allowed = Allowed::parse(&[target.rule()]).expect("it is a rule");
    let beside = Target { port: (target.port ^ 2).max(1), ..target.clone() };
    assert!(allowed.permits(target) && !allowed.permits(&beside), "{text}");
    match target.host {
        Host::Domain(ref name) => {
            assert!((1..=253).contains(&name.len()) && name.split('.').all(|label| !label.is_empty()));
            let below = parse_host(&format!("x.{name}")).map(|host| Target { host, ..target.clone() });
            assert!(below.is_none_or(|below| !allowed.permits(&below)));
        }
        Host::Ipv4(address) => no_form_is_public(address),
        Host::Ipv6(address) => {
            address.to_ipv4().into_iter().for_each(no_form_is_public);
            assert!(
                address.segments()[0] & 0xe000 == 0x2000
                    || address.segments()[0] == 0x64
                    || is_private(address.into())
            );
        }
    }
}

fn no_form_is_public(address: Ipv4Addr) {
    let [high, low] =
        [address.to_bits() >> 16, address.to_bits() & 0xffff].map(|half| u16::try_from(half).unwrap());
    let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low);
    assert_eq!(is_private(nat64.into()), is_private(address.into()));
    let relayed = Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1);
    for form in [address.to_ipv6_mapped(), address.to_ipv6_compatible(), relayed] {
        assert!(is_private(form.into()), "{form}");
    }
}

/// What a rule says, from its text; every port by `:*`, one by its number, and 80 and 443 else.
fn says(rule: &str, target: &Target) -> bool {
    let (host, ports) = match rule.rsplit_once(':') {
        Some((host, "*")) => (host, None),
        Some((host, digits)) if digits.parse::<u16>().is_ok() => (host, Some(vec![digits.parse().unwrap()])),
        _ => (rule, Some(vec![80, 443])),
    };
    let asked = target.host.to_string();
    let named = match host.strip_prefix("*.") {
        Some(parent) => {
            let ends = format!(".{}", parse_host(parent).expect("it was a rule"));
            matches!(target.host, Host::Domain(_)) && asked.ends_with(&ends)
        }
        None => parse_host(host).as_ref() == Some(&target.host),
    };
    named && ports.is_none_or(|ports: Vec<u16>| ports.contains(&target.port))
}

/// What goes on is one head for a host that is allowed; what is refused is answered in one short text.
fn proxy_head(bytes: &[u8]) {
    let end = head::end(bytes, 0);
    let read = fuzz_head(bytes);
    // Empty lines before a request are nothing, as the standard has it.
    let is_tunnel = bytes.trim_ascii_start().starts_with(b"CONNECT ");
    assert_eq!(read, fuzz_head(&bytes[..end.unwrap_or(bytes.len())]), "what follows the head says nothing");
    match read {
        Ok(forward) if forward.is_empty() => assert!(is_tunnel),
        Ok(forward) => {
            assert!(end.is_some() && !is_tunnel);
            one_request(&forward);
        }
        Err(refusal) => answered(&refusal),
    }
}

fn one_request(forward: &[u8]) {
    assert_eq!(head::end(forward, 0), Some(forward.len()), "it is one head");
    let text = String::from_utf8_lossy(forward);
    let lines: Vec<&str> = text.trim_end_matches("\r\n").split("\r\n").collect();
    assert!(lines.iter().all(|line| !line.is_empty() && !line.contains(['\r', '\n', '\0'])), "{text:?}");
    let words: Vec<&str> = lines[0].split(' ').collect();
    let [_, path, "HTTP/1.0" | "HTTP/1.1"] = words[..] else { panic!("{:?}", lines[0]) };
    assert!(path.starts_with('/') || path == "*", "{path}");
    let fields: Vec<_> = lines[1..].iter().map(|line| line.split_once(": ").expect("a field")).collect();
    let named = |name: &str| -> Vec<&str> {
        let same = |field: &&(&str, _)| field.0.eq_ignore_ascii_case(name);
        fields.iter().filter(same).map(|field| field.1).collect()
    };
    assert_eq!(named("connection"), ["close"]);
    for own in
        ["keep-alive", "proxy-authorization", "proxy-authenticate", "proxy-connection", "te", "upgrade"]
    {
        assert_eq!(named(own), [""; 0], "{own} is for the proxy");
    }
    let [host] = named("host")[..] else { panic!("one host: {text:?}") };
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    let is_allowed = name == "example.com"
        || host == "127.0.0.1:8080"
        || ["", ":443"].iter().any(|port| host == format!("[2001:db8::1]{port}"))
        || name.ends_with(".example.com") && ["", ":443"].contains(&&host[name.len()..]);
    assert!(is_allowed, "{host}");
}

fn answered(refusal: &Refusal) {
    let answer = String::from_utf8(refusal.answer()).expect("it is text");
    let (head, text) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 4") || head.starts_with("HTTP/1.1 5"), "{head}");
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", text.len())), "{answer:?}");
    let line = text.strip_suffix('\n').expect("its end");
    assert!(!line.is_empty() && line.len() < 800 && !line.contains(char::is_control), "{line:?}");
    let for_a_person = matches!(refusal, Refusal::NotAllowed(_) | Refusal::Private(_));
    assert_eq!(refusal.for_the_log().as_deref(), for_a_person.then_some(line));
}
