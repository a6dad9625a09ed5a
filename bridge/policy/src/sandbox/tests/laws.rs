//! Whatever is named and granted, and whatever the kernel offers.

use super::*;

fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("home"),
        Just("u"),
        Just("v"),
        Just(".ssh"),
        Just("id"),
        Just(".config"),
        Just("gh"),
        Just(".harbor"),
        Just("servers"),
        Just("s"),
        Just("t"),
        Just("data"),
        Just("run"),
        Just("etc"),
        Just("shadow"),
        Just("usr"),
        Just("srv"),
        Just("p"),
        Just("root"),
        Just("proc"),
        Just(".nvm"),
    ];
    proptest::collection::vec(part, 0..5).prop_map(|parts| format!("/{}", parts.join("/")))
}

fn paths() -> impl Strategy<Value = Option<Vec<String>>> {
    proptest::option::of(proptest::collection::vec(path(), 0..3))
}

fn some_facts() -> impl Strategy<Value = SandboxFacts> {
    let named = (path(), proptest::option::of(path()), any::<bool>())
        .prop_map(|(path, package_root, is_cwd)| NamedPath { path, package_root, is_cwd });
    let named = proptest::collection::vec(named, 0..4);
    let program = proptest::collection::vec(path(), 0..4);
    let granted = proptest::collection::vec((path(), path()), 0..3);
    (named, program, granted, any::<bool>()).prop_map(|(named, program, granted, installs)| SandboxFacts {
        named,
        program,
        granted,
        installs,
        package: Some("/home/u/.harbor/servers/s/package".into()),
        ..facts()
    })
}

fn some_settings() -> impl Strategy<Value = SandboxSettings> {
    let level = proptest::sample::select(Level::ALL);
    let network = proptest::option::of(proptest::sample::select(NetworkKind::ALL));
    (level, network, paths(), paths(), any::<bool>()).prop_map(|(level, network, read, write, required)| {
        let hosts = (network == Some(NetworkKind::Hosts)).then(|| vec!["example.com".to_owned()]);
        SandboxSettings {
            level: Some(level),
            required: Some(required),
            network,
            hosts,
            read,
            write,
            ..SandboxSettings::default()
        }
    })
}

fn some_offer() -> impl Strategy<Value = Offer<'static>> {
    (0u32..10, any::<[bool; 3]>()).prop_map(|(landlock, [seccomp, namespaces, answers])| Offer {
        landlock,
        seccomp,
        namespaces,
        why_no_namespaces: "".into(),
        answers,
    })
}

/// What two kernels can do both.
fn both(a: &Offer<'_>, b: &Offer<'_>) -> Offer<'static> {
    Offer {
        landlock: a.landlock.min(b.landlock),
        seccomp: a.seccomp && b.seccomp,
        namespaces: a.namespaces && b.namespaces,
        why_no_namespaces: "".into(),
        answers: a.answers && b.answers,
    }
}

fn secrets() -> Vec<String> {
    let fixed = [
        "/run",
        "/proc",
        "/etc/shadow",
        "/etc/ssh",
        "/root",
        "/home/u/.harbor/run",
        "/home/u/.harbor/servers/t",
    ];
    let homes = ["/home/u", "/home/v"].iter().flat_map(|home| protected::of_home(home));
    fixed.iter().map(ToString::to_string).chain(homes).collect()
}

proptest! {
    #[test]
    fn no_place_is_or_holds_or_is_held_by_a_secret(
        settings in some_settings(), facts in some_facts(), offer in some_offer(),
    ) {
        if let Ok(profile) = profile(&settings, &facts, &offer) {
            for place in profile.places.iter().filter(|place| place.why != Why::System) {
                for secret in secrets() {
                    let apart = !paths::is_within(&place.path, &secret) && !paths::is_within(&secret, &place.path);
                    prop_assert!(apart, "{:?} {}", place, secret);
                }
            }
        }
    }

    #[test]
    fn only_own_and_granted_places_are_written(settings in some_settings(), facts in some_facts(), offer in some_offer()) {
        if let Ok(profile) = profile(&settings, &facts, &offer) {
            let may_write = |path: &str| {
                let own = [&facts.data, &facts.tmp].into_iter().chain(facts.package.as_ref().filter(|_| facts.installs));
                let granted = settings.write.iter().flatten().map(|path| {
                    facts.granted.iter().find(|(given, _)| given == path).map_or(path, |(_, real)| real)
                });
                own.chain(granted).any(|above| paths::is_within(path, above)) || path == "/dev/shm"
            };
            for place in profile.places.iter().filter(|place| place.access == PathAccess::Write) {
                prop_assert!(may_write(&place.path), "{:?}", place);
            }
        }
    }

    #[test]
    fn what_is_required_is_never_softened(settings in some_settings(), facts in some_facts(), offer in some_offer()) {
        if let Ok(profile) = profile(&settings, &facts, &offer) {
            let held = matches!(profile.level, Level::Standard | Level::Strict);
            prop_assert_eq!(profile.level, settings.level.unwrap());
            prop_assert!(settings.required != Some(true) || profile.missing.is_empty());
            prop_assert!(profile.level != Level::Strict || profile.launch.mounts.is_some());
            let asked = network_kind(&settings, &facts);
            let open = matches!(profile.launch.network, Network::Machine | Network::Outgoing);
            prop_assert_eq!(open, asked == NetworkKind::All);
            prop_assert_eq!(profile.launch.filter.is_some(), held && offer.seccomp);
            prop_assert_eq!(profile.launch.landlock, if held { offer.landlock.min(7) } else { 0 });
            prop_assert!(held || profile.launch.paths.is_empty() && profile.launch.mounts.is_none());
        }
    }

    #[test]
    fn who_offers_less_gets_no_more(
        settings in some_settings(), facts in some_facts(), offer in some_offer(), other in some_offer(),
    ) {
        if let Ok(less) = profile(&settings, &facts, &both(&offer, &other)) {
            let more = profile(&settings, &facts, &offer);
            prop_assert!(more.is_ok());
            let more = more.unwrap();
            prop_assert!(less.places.iter().all(|place| more.places.contains(place)));
            prop_assert!(less.launch.landlock <= more.launch.landlock);
            prop_assert!(less.missing.len() >= more.missing.len());
        }
    }

    #[test]
    fn hidden_directories_are_apart_and_the_system_is_not_among_them(home in path(), harbor in path(), more in paths()) {
        let facts = SandboxFacts {
            home: Some(home), harbor_home: harbor, hideable: more.unwrap_or_default(), ..facts()
        };
        let hidden = mounts(&facts, &[]).hidden;
        for (at, one) in hidden.iter().enumerate() {
            prop_assert!(system::can_be_hidden(one) || one == "/dev/shm");
            prop_assert!(!hidden.iter().enumerate().any(|(other, dir)| other != at && paths::is_within(one, dir)));
        }
    }
}
