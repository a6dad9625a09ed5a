//! Each form of a rule, each way to write an address, each private range; and the laws of them.

use proptest::prelude::*;

use super::*;

fn allowed(rules: &[&str]) -> Allowed {
    Allowed::parse(&rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>()).unwrap()
}

fn target(text: &str) -> Target {
    Target::parse(text, None).unwrap_or_else(|| panic!("{text}"))
}

fn permits(rules: &[&str], text: &str) -> bool {
    allowed(rules).permits(&target(text))
}

#[test]
fn a_rule_names_a_host_and_its_ports() {
    for (rule, permitted, refused) in [
        (
            "example.com",
            &["example.com:443", "EXAMPLE.com:80", "example.com.:443"][..],
            &[
                "example.com:8443",
                "a.example.com:443",
                "www.example.com:443",
                "example.org:443",
                "notexample.com:443",
                "example.com.evil.org:443",
                "com:443",
            ][..],
        ),
        (
            "*.example.com",
            &["a.example.com:443", "a.b.example.com:80"],
            &["example.com:443", "notexample.com:443", "example.com.evil.org:443", "a.example.com:81"],
        ),
        ("example.com:8443", &["example.com:8443"], &["example.com:443"]),
        ("example.com:*", &["example.com:1", "example.com:65535"], &["a.example.com:1"]),
        ("*.example.com:*", &["a.example.com:1"], &["example.com:1"]),
        ("*.Example.com.:8443", &["a.example.com:8443"], &["a.example.com:443", "example.com:8443"]),
        ("*.com", &["1.com:80"], &["com:80"]),
        ("Bücher.example", &["xn--bcher-kva.example:443", "bücher.example:443"], &["bucher.example:443"]),
        ("xn--bcher-kva.example", &["Bücher.example:443"], &["bucher.example:443"]),
        (
            "192.0.2.7",
            &["192.0.2.7:443", "0xc0.0.2.7:443", "0xc0.0.0x207:443", "3221225991:80"],
            &["192.0.2.8:443", "[::ffff:192.0.2.7]:443"],
        ),
        (
            "127.0.0.1:9",
            &["127.0.0.1:9", "127.1:9", "0x7f.1:9", "2130706433:9", "0177.0.0.1:9"],
            &["127.0.0.1:443", "localhost:9", "[::ffff:127.0.0.1]:9", "[::1]:9"],
        ),
        ("localhost", &["localhost:80"], &["127.0.0.1:80", "[::1]:80"]),
        ("[::ffff:192.0.2.7]:99", &["[::ffff:c000:207]:99"], &["192.0.2.7:99"]),
        ("[2001:db8::1]", &["[2001:DB8:0::1]:443"], &["[2001:db8::2]:443"]),
        ("[2001:db8::1]:8443", &["[2001:db8::1]:8443"], &["[2001:db8::1]:443"]),
        ("[::1]:*", &["[::1]:5"], &["[::]:5", "127.0.0.1:5"]),
    ] {
        for text in permitted {
            assert!(permits(&[rule], text), "{rule} {text}");
        }
        for text in refused {
            assert!(!permits(&[rule], text), "{rule} {text}");
        }
    }
    assert!(!Allowed::default().permits(&target("example.com:443")));
}

#[test]
fn what_is_no_rule_is_said() {
    for rule in [
        "",
        "*",
        "*.",
        "**.example.com",
        "*example.com",
        "a*.example.com",
        "a.*.com",
        "*.*.com",
        "*.127.0.0.1",
        "*.2.3.4",
        "*.[::1]",
        "::1",
        "2001:db8::1",
        "[::1",
        "::1]",
        "[::1].",
        "[fe80::1%eth0]",
        "[::1]x",
        "example.com:",
        "example.com:0",
        "example.com:+80",
        "example.com:080",
        "example.com:65536",
        "example.com:80:80",
        "http://example.com",
        "https://example.com",
        "example.com/",
        "example.com/x",
        "user@example.com",
        "a b",
        "a\n",
        "a!b.com",
        "a..b",
        ".a",
        "a..",
        "1.2.3.4..",
        "256.1.1.1",
        "1.2.3.4.5",
        "a.1",
        "%61.com",
        "ex%61mple.com",
        "a\u{0}",
    ] {
        let bad = BadRule(rule.to_owned());
        assert_eq!(Allowed::parse(&["a.com".to_owned(), rule.to_owned()]), Err(bad), "{rule}");
    }
    let long = "a".repeat(64);
    assert_eq!(parse_host(&long), None);
    assert_eq!(parse_host(&format!("{}a", "a.".repeat(127))), None);
    assert_eq!(parse_host(&format!("{}1", "0".repeat(MAX_HOST))), None);
    assert_eq!(
        parse_host(&format!("{}1", "0".repeat(MAX_HOST - 1))),
        Some(Host::Ipv4(Ipv4Addr::new(0, 0, 0, 1)))
    );
}

#[test]
fn a_bad_rule_is_shown_harmless_and_short() {
    let said = |rule: String| Allowed::parse(&[rule]).unwrap_err().to_string();
    assert_eq!(
        said("a\n\u{1b}[2J".to_owned()),
        "hosts like example.com, *.example.com, 192.0.2.7 or [2001:db8::1], each with :PORT, :* or nothing; \
         \"a\\n\\u{1b}[2J\" is not one"
    );
    assert!(said("ä ".repeat(1000)).len() < 300);
}

#[test]
fn what_is_no_host_is_no_target() {
    for text in [
        "",
        ".",
        ":443",
        ".:443",
        "ex%61mple.com:443",
        "a..com:443",
        "*.com:443",
        "example.com\0:443",
        "exam ple.com:443",
        "[::1:443",
        "2001:db8::1:443",
        "1.2.3.4.5.com:80:443",
        "example.com:0443",
        "example.com:0",
    ] {
        assert_eq!(Target::parse(text, Some(443)), None, "{text:?}");
    }
    assert_eq!(Target::parse("example.com", Some(0)), None);
}

#[test]
fn a_target_needs_a_port_and_names_the_rule_that_would_allow_it() {
    assert_eq!(Target::parse("example.com", None), None);
    assert_eq!(Target::parse("example.com", Some(80)), Some(target("example.com:80")));
    for (text, rule) in [
        ("Example.com.:443", "example.com"),
        ("example.com:80", "example.com"),
        ("example.com:8443", "example.com:8443"),
        ("[2001:db8:0::1]:443", "[2001:db8::1]"),
        ("[::1]:9", "[::1]:9"),
    ] {
        assert_eq!(target(text).rule(), rule);
        assert!(permits(&[rule], text), "{rule}");
    }
}

#[test]
fn a_private_address_is_permitted_by_its_own_rule_and_by_no_name() {
    let rules = ["db.example.com:*", "*.example.com:*", "10.0.0.5:5432"];
    assert!(permits(&rules, "db.example.com:5432") && is_private("10.0.0.5".parse().unwrap()));
    assert!(permits(&rules, "10.0.0.5:5432"));
    for text in ["10.0.0.5:443", "10.0.0.6:5432", "[::ffff:10.0.0.5]:5432", "[64:ff9b::10.0.0.5]:5432"] {
        assert!(!permits(&rules, text), "{text}");
    }
}

const PRIVATE: &[&str] = &[
    "0.0.0.0",
    "0.1.2.3",
    "10.255.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.9",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::808:808",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:0:4136:e378::",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "3fff:fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "10.0.0.1",
    "127.255.0.1",
    "192.0.0.1",
    "192.168.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "239.1.1.1",
    "::ffff:10.0.0.1",
    "::ffff:0:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2001:0:808:808::1",
    "2002:c0a8:1::1",
    "4000::1",
];

const PUBLIC: &[&str] = &[
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.17",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00::1",
    "3ffe::1",
    "3fff:1000::1",
    "64:ff9b::8.8.8.8",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.0.1",
    "64:ff9b::808:808",
    "2a00:1450::1",
];

#[test]
fn private_is_what_the_public_network_does_not_route() {
    for address in PRIVATE {
        assert!(is_private(address.parse().unwrap()), "{address}");
    }
    for address in PUBLIC {
        assert!(!is_private(address.parse().unwrap()), "{address}");
    }
}

fn address() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from_bits)
}

proptest! {
    #[test]
    fn reading_never_panics_and_what_is_read_is_read_again(text in ".{0,40}", default in any::<u16>()) {
        let _ = Allowed::parse(std::slice::from_ref(&text));
        if let Some(target) = Target::parse(&text, Some(default.max(1))) {
            prop_assert_eq!(Target::parse(&target.to_string(), None), Some(target));
        }
    }

    #[test]
    fn text_like_hosts_too(text in "[\\[\\]:.*%0-9a-fxX-]{0,30}") {
        let _ = Allowed::parse(std::slice::from_ref(&text));
        if let Some(target) = Target::parse(&text, Some(80)) {
            prop_assert!(!target.to_string().contains(['*', '%', ' ']));
            prop_assert_eq!(Target::parse(&target.to_string(), None), Some(target));
        }
    }

    #[test]
    fn every_form_of_an_address_is_that_address(address in address(), port in 1..=u16::MAX) {
        let [a, b, c, d] = address.octets();
        let bits = address.to_bits();
        let low = bits & 0xff_ffff;
        for form in [
            format!("{a}.{b}.{c}.{d}"),
            format!("{a}.{b}.{c}.{d}."),
            format!("{bits}"),
            format!("{bits:#x}"),
            format!("0{bits:o}"),
            format!("{a:#x}.{low}"),
            format!("0{a:o}.{b}.{}", u16::from_be_bytes([c, d])),
        ] {
            let expected = Some(Target { host: Host::Ipv4(address), port });
            prop_assert_eq!(Target::parse(&format!("{form}:{port}"), None), expected);
        }
    }

    #[test]
    fn an_address_is_permitted_by_itself_only(one in address(), other in address(), port in 1..=u16::MAX) {
        let rules = allowed(&[&format!("{one}:{port}")]);
        let permits = |host, port| rules.permits(&Target { host, port });
        prop_assert!(permits(Host::Ipv4(one), port));
        prop_assert_eq!(permits(Host::Ipv4(other), port), one == other);
        prop_assert!(!permits(Host::Ipv6(one.to_ipv6_mapped()), port));
        prop_assert!(!permits(Host::Ipv4(one), port ^ 1));
    }

    #[test]
    fn no_way_to_write_an_address_is_a_name(address in address(), form in 0..6) {
        let [a, b, c, d] = address.octets();
        let bits = address.to_bits();
        let host = match form {
            0 => format!("{bits}"),
            1 => format!("{bits:#x}"),
            2 => format!("0{a:o}.{b}.{c}.{d}"),
            3 => format!("{a}.{b:#x}.{}", u32::from(c) << 8 | u32::from(d)),
            4 => format!("{a}.{b}.{c}.{d}."),
            _ => format!("[::ffff:{a}.{b}.{c}.{d}]"),
        };
        let target = Target::parse(&host, Some(1)).unwrap();
        prop_assert_eq!(allowed(&[&format!("{address}:*")]).permits(&target), form < 5, "{}", host);
        prop_assert!(!allowed(&["*.com:*", "example.com:*"]).permits(&target));
    }

    #[test]
    fn only_names_below_are_below(
        name in "[a-z]{1,8}(\\.[a-z]{1,8}){0,3}",
        other in "[a-z]{1,8}(\\.[a-z]{1,8}){0,3}",
        front in "([a-z]{1,4}\\.?)?",
    ) {
        for host in [other, format!("{front}{name}")] {
            let target = Target::parse(&host, Some(443)).unwrap();
            prop_assert_eq!(allowed(&[&format!("*.{name}")]).permits(&target), host.ends_with(&format!(".{name}")));
            prop_assert_eq!(allowed(&[&name]).permits(&target), host == name);
        }
    }

    #[test]
    fn anything_can_be_asked(rule in ".{0,40}", host in ".{0,40}", port: u16) {
        if let (Ok(allowed), Some(target)) = (Allowed::parse(&[rule]), Target::parse(&host, Some(port))) {
            let _ = allowed.permits(&target);
        }
    }

    #[test]
    fn no_ipv6_form_makes_a_private_address_public(address in address()) {
        let [a, b, c, d] = address.octets();
        let pair = |high, low| u16::from_be_bytes([high, low]);
        prop_assert!(is_private(address.to_ipv6_mapped().into()));
        prop_assert!(is_private(address.to_ipv6_compatible().into()));
        prop_assert!(is_private(Ipv6Addr::new(0x2002, pair(a, b), pair(c, d), 0, 0, 0, 0, 1).into()));
        prop_assert!(is_private(Ipv6Addr::new(0x2001, 0, pair(a, b), pair(c, d), 0, 0, 0, 1).into()));
        let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, pair(a, b), pair(c, d));
        prop_assert_eq!(is_private(nat64.into()), is_private(address.into()));
    }

    /// Against the words of the standard library, as far as they are stable.
    #[test]
    fn whatever_has_a_word_for_it_is_private(address in address(), v6 in any::<u128>()) {
        if address.is_private() || address.is_loopback() || address.is_link_local() || address.is_multicast()
            || address.is_broadcast() || address.is_documentation() || address.is_unspecified() {
            prop_assert!(is_private(address.into()));
        }
        for v6 in [v6, v6 | 0xfc << 120, v6 & (u128::MAX >> 96)].map(Ipv6Addr::from_bits) {
            if v6.is_loopback() || v6.is_multicast() || v6.is_unspecified() || v6.is_unique_local()
                || v6.is_unicast_link_local() || v6.to_ipv4().is_some() {
                prop_assert!(is_private(v6.into()));
            }
        }
    }
}
