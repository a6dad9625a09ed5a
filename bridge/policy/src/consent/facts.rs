//! The facts that Harbor knows of a tool and of its source's holding.
//!
//! Owns two facts. The effect is the person's word, else Harbor's own list, else the server's hint, else "writes". The holding is
//! what the confinement in force lets the process do. No hint and no setting changes the holding.

use harbor_ipc_proto::json::Fields;

/// The effect of a tool, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes something.
    Writes,
    /// It declares that it may destroy something, or the person says so.
    Destroys,
}

impl Effect {
    /// Its word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Destroys => "destroys",
        }
    }

    /// The effect that the person has named, else Harbor's own list, else the tool's `annotations`, a JSON
    /// object. A tool that declares to destroy counts as such even if the list says less.
    #[must_use]
    pub fn of(annotations: Option<&str>, person: Option<Self>, listed: Option<Self>) -> Self {
        let hint = Self::hinted(annotations);
        match (person, listed) {
            (Some(person), _) => person,
            (None, Some(listed)) if hint != Some(Self::Destroys) => listed,
            (None, _) => hint.unwrap_or(Self::Writes),
        }
    }

    fn hinted(annotations: Option<&str>) -> Option<Self> {
        let fields = Fields::parse(annotations?.as_bytes()).ok()?;
        // A word that stands twice says nothing: two readers may take different ones.
        let said = |name| fields.get(name).filter(|_| fields.twice().is_none());
        match (said("readOnlyHint"), said("destructiveHint")) {
            // Whatever else it says.
            (_, Some("true")) => Some(Self::Destroys),
            (Some("true"), _) => Some(Self::Reads),
            _ => None,
        }
    }
}

/// The reach of a source: to whom it may send what it is given, the least reach first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// It may send to nobody, since its process has no network, no socket and no device.
    Closed,
    /// It may send only where Harbor allows: to some hosts, one remote address, or one page.
    Enforced,
    /// It may send to anybody.
    Open,
}

impl Reach {
    /// Its word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Enforced => "enforced",
            Self::Open => "open",
        }
    }
}

/// True if a tool's `annotations` say that it reaches the world outside. Then Harbor does not offer to take the network from its
/// server. Nothing else may go by this hint, since it is no fact about the source's holding.
#[must_use]
pub fn says_open(annotations: Option<&str>) -> bool {
    let fields = annotations.and_then(|text| Fields::parse(text.as_bytes()).ok());
    fields.is_some_and(|fields| fields.get("openWorldHint") == Some("true"))
}

/// The limits that the confinement sets to a source now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// Its reach.
    pub reach: Reach,
    /// True if it can read something of the person's. Then its answers are private.
    pub opens: bool,
    /// True if it may write something that is not its own.
    pub writes_theirs: bool,
}

impl Holding {
    /// The holding of a source of which nothing is known.
    pub const UNKNOWN: Self = Self { reach: Reach::Open, opens: true, writes_theirs: true };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_says_nothing_says_not_that_it_is_open() {
        assert!(says_open(Some(r#"{"openWorldHint":true}"#)));
        assert!(!says_open(None) && !says_open(Some("{}")) && !says_open(Some(r#"{"openWorldHint":false}"#)));
    }

    #[test]
    fn the_person_knows_best_then_harbor_then_the_tool_itself() {
        use Effect::{Destroys, Reads, Writes};
        let reads = Some(r#"{"readOnlyHint":true}"#);
        let destroys = Some(r#"{"destructiveHint":true}"#);
        for (annotations, person, listed, effect) in [
            (None, None, None, Writes),
            (reads, None, None, Reads),
            (destroys, None, None, Destroys),
            (Some(r#"{"readOnlyHint":true,"destructiveHint":true}"#), None, None, Destroys),
            (Some(r#"{"destructiveHint":false}"#), None, None, Writes),
            (Some(r#"{"readOnlyHint":true,"readOnlyHint":true}"#), None, None, Writes),
            (Some("7"), None, None, Writes),
            (None, None, Some(Reads), Reads),
            (destroys, None, Some(Reads), Destroys),
            (reads, None, Some(Writes), Writes),
            (destroys, Some(Reads), Some(Writes), Reads),
            (reads, Some(Destroys), None, Destroys),
        ] {
            assert_eq!(
                Effect::of(annotations, person, listed),
                effect,
                "{annotations:?} {person:?} {listed:?}"
            );
        }
    }
}
