//! Parts of the kernel that are not to be used, although they are there.
//!
//! Owns lowering an offer, to see what an older or a more restricted kernel would mean. Must never raise one.

use harbor_ipc_proto::link::sandbox::Offer;

/// The parts that are not to be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lowered {
    landlock: Option<u32>,
    no_seccomp: bool,
    no_namespaces: bool,
    no_answers: bool,
}

impl Lowered {
    /// Reads `landlock=3,seccomp=no,namespaces=no,answers=no`, or a part of it. None for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut lowered = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_once('=')? {
                ("landlock", version) => lowered.landlock = Some(version.parse().ok()?),
                ("seccomp", "no") => lowered.no_seccomp = true,
                ("namespaces", "no") => lowered.no_namespaces = true,
                ("answers", "no") => lowered.no_answers = true,
                _ => return None,
            }
        }
        Some(lowered)
    }

    /// The rest of an offer.
    #[must_use]
    pub fn of(self, offer: Offer<'static>) -> Offer<'static> {
        let why = match self.no_namespaces {
            true => "switched off by HARBOR_SANDBOX_OFFER".into(),
            false => offer.why_no_namespaces,
        };
        Offer {
            landlock: self.landlock.map_or(offer.landlock, |most| most.min(offer.landlock)),
            seccomp: offer.seccomp && !self.no_seccomp,
            namespaces: offer.namespaces && !self.no_namespaces,
            why_no_namespaces: why,
            answers: offer.answers && !self.no_seccomp && !self.no_answers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_lowered_and_never_raised() {
        let offer = Offer {
            landlock: 5,
            seccomp: true,
            namespaces: false,
            why_no_namespaces: "no".into(),
            answers: true,
        };
        let of = |text: &str| Lowered::parse(text).unwrap().of(offer.clone());
        assert_eq!(of(""), offer);
        assert_eq!(of("landlock=7"), offer);
        let lowered = Offer { landlock: 3, seccomp: false, answers: false, ..offer.clone() };
        assert_eq!(of("landlock=3, seccomp=no"), lowered);
        assert_eq!(of("answers=no"), Offer { answers: false, ..offer.clone() });
        assert!(Lowered::parse("namespaces=yes").is_none() && Lowered::parse("landlock").is_none());
    }
}
