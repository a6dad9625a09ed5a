//! Reads from a confinement what consent needs: the reach of its process, and what of the person's is open to it.
//!
//! Owns that reading of a profile. Must never ask what a server says, nor what was wished for: the launcher applied the profile.

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};
use harbor_ipc_proto::link::sandbox::PathAccess;

use super::facts::{Holding, Reach};
use crate::sandbox::paths::is_within;
use crate::sandbox::{Profile, SandboxFacts, SandboxPlace, Why, is_script};

/// Other facts that are known of a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServerTraits {
    /// It has secrets, or a sign-in.
    pub secrets: bool,
    /// True if the person says that its answers are private.
    pub private: bool,
    /// It runs in a container.
    pub image: bool,
}

/// The holding of a process with this profile.
#[must_use]
pub fn of_profile(
    profile: &Profile,
    facts: &SandboxFacts,
    settings: &SandboxSettings,
    given: ServerTraits,
) -> Holding {
    if matches!(profile.level, Level::Off | Level::Basic) {
        return Holding::UNKNOWN;
    }
    // Where the kernel holds no paths, all of them are open.
    let is_held = profile.launch.landlock > 0 || profile.launch.mounts.is_some() || given.image;
    let theirs = |place: &&SandboxPlace| is_theirs(place, facts);
    let opens = profile.places.iter().any(|place| theirs(&place));
    let writes = profile.places.iter().filter(theirs).any(|place| place.access != PathAccess::Read);
    Holding {
        reach: reach(profile, settings, given),
        opens: opens || !is_held || given.secrets || given.private,
        writes_theirs: writes || !is_held,
    }
}

/// The holding of a remote server: it is one address.
#[must_use]
pub fn remote(given: ServerTraits) -> Holding {
    Holding { reach: Reach::Enforced, opens: given.secrets || given.private, writes_theirs: true }
}

fn reach(profile: &Profile, settings: &SandboxSettings, given: ServerTraits) -> Reach {
    let is_some = |list: &Option<Vec<String>>| list.iter().flatten().next().is_some();
    let has_device =
        profile.places.iter().any(|place| place.access == PathAccess::Device && place.why != Why::System);
    // Without a filter any socket that lies somewhere can be connected to.
    let is_filtered = profile.launch.filter.is_some() || given.image;
    match profile.network {
        _ if is_some(&settings.sockets) || settings.listen.is_some() || has_device || given.image => {
            Reach::Open
        }
        NetworkKind::None if is_filtered => Reach::Closed,
        NetworkKind::Hosts if is_filtered => Reach::Enforced,
        _ => Reach::Open,
    }
}

/// True if a place belongs to the person: neither to the system, nor to the server, nor to its program.
fn is_theirs(place: &SandboxPlace, facts: &SandboxFacts) -> bool {
    let named = match place.why {
        Why::System | Why::Program | Why::Package | Why::Data | Why::Temporary => return false,
        Why::Granted => false,
        Why::Argument | Why::Cwd => true,
    };
    let own = [Some(&facts.data), Some(&facts.tmp), facts.package.as_ref()];
    let is_own = own.into_iter().flatten().any(|own| is_within(&place.path, own));
    // Only by its name: what was granted was granted as something of the person's.
    !(is_own || named && is_program(place, facts))
}

/// True if it is the script that its interpreter runs, or the installed package that the script belongs to. A project of the
/// person's does not count as a program: beside its code lies whatever they put there.
fn is_program(place: &SandboxPlace, facts: &SandboxFacts) -> bool {
    let first = facts.named.iter().find(|named| !named.is_cwd);
    let Some(script) = first.filter(|named| is_script(&named.path)) else { return false };
    let is_installed =
        |root: &&String| ["/node_modules/", "/site-packages/"].iter().any(|of| root.contains(of));
    place.path == script.path
        || script.package_root.as_ref().filter(is_installed).is_some_and(|root| is_within(&place.path, root))
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::link::sandbox::Offer;

    use super::*;
    use crate::sandbox::{NamedPath, profile};

    fn named(path: &str, is_cwd: bool) -> NamedPath {
        NamedPath { path: path.into(), package_root: None, is_cwd }
    }

    /// The holding of a server with these settings and these named paths.
    fn held(settings: &str, named: Vec<NamedPath>, given: ServerTraits) -> Holding {
        let settings = SandboxSettings::parse(settings).unwrap();
        let granted = settings.read.iter().chain(&settings.write).chain(&settings.sockets).flatten();
        let facts = SandboxFacts {
            home: Some("/home/u".into()),
            harbor_home: "/home/u/.harbor".into(),
            data: "/home/u/.harbor/servers/s/data".into(),
            tmp: "/home/u/.harbor/servers/s/tmp".into(),
            program: vec!["/usr/bin/node".into()],
            granted: granted.map(|path| (path.clone(), path.clone())).collect(),
            named,
            proxy: "/opt/harbor/egress".into(),
            ..SandboxFacts::default()
        };
        let offer = Offer {
            landlock: 7,
            seccomp: true,
            namespaces: true,
            why_no_namespaces: "".into(),
            answers: true,
        };
        of_profile(&profile(&settings, &facts, &offer).unwrap(), &facts, &settings, given)
    }

    #[test]
    fn reach_is_what_the_confinement_leaves_open() {
        let reach = |settings: &str| held(settings, Vec::new(), ServerTraits::default()).reach;
        assert_eq!(reach("{}"), Reach::Open);
        assert_eq!(reach(r#"{"network":"none"}"#), Reach::Closed);
        assert_eq!(reach(r#"{"network":"loopback"}"#), Reach::Open);
        assert_eq!(reach(r#"{"network":"hosts","hosts":["a.example"]}"#), Reach::Enforced);
        assert_eq!(reach(r#"{"network":"none","sockets":["/home/u/x.sock"]}"#), Reach::Open);
        for level in ["off", "basic"] {
            let level = format!(r#"{{"level":"{level}"}}"#);
            assert_eq!(held(&level, Vec::new(), ServerTraits::default()), Holding::UNKNOWN);
        }
        let image = ServerTraits { image: true, ..ServerTraits::default() };
        assert_eq!(held(r#"{"network":"none"}"#, Vec::new(), image).reach, Reach::Open);
    }

    #[test]
    fn what_is_open_of_the_persons_makes_its_answers_private_and_its_own_program_does_not() {
        let opens = |settings: &str, named| held(settings, named, ServerTraits::default()).opens;
        let script = || named("/home/u/fs.py", false);
        assert!(!opens("{}", vec![script()]));
        let of = |root: &str| NamedPath {
            package_root: Some(root.into()),
            ..named(&format!("{root}/s.js"), false)
        };
        assert!(opens("{}", vec![of("/home/u/project")]), "a project of theirs");
        assert!(!opens("{}", vec![of("/home/u/x/node_modules/s")]), "an installed package");
        assert!(opens("{}", vec![script(), named("/home/u/docs", false)]), "an argument");
        assert!(opens("{}", vec![named("/home/u/docs", true), script()]), "a working directory");
        assert!(opens(r#"{"read":["/home/u/docs"]}"#, vec![script()]), "a grant");
        assert!(!opens("{}", vec![named("/home/u/.harbor/servers/s/data", true)]), "its own");
        for given in [
            ServerTraits { secrets: true, ..ServerTraits::default() },
            ServerTraits { private: true, ..ServerTraits::default() },
        ] {
            assert!(held("{}", Vec::new(), given).opens);
        }
        let writes = |settings: &str| held(settings, vec![script()], ServerTraits::default()).writes_theirs;
        assert!(!writes(r#"{"read":["/home/u/docs"]}"#) && writes(r#"{"write":["/home/u/docs"]}"#));
    }
}
