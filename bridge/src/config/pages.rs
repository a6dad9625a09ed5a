//! The parts of the page API that web pages have.
//!
//! Owns the names and the defaults. Must never say who may use it: grants do.

/// A part of the page API that can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Asking a model.
    TextGeneration,
    /// Seeing which tools there are.
    ToolAccess,
    /// Calling tools.
    ToolCalling,
    /// Runs of the agent, and sessions for them.
    AgentRuns,
    /// Reading and acting in the page's own tab.
    BrowserInteraction,
    /// Pictures of tabs.
    Screenshots,
    /// Leading tabs to other addresses, and opening them.
    BrowserControl,
}

impl Feature {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 7] = [
        Self::TextGeneration,
        Self::ToolAccess,
        Self::ToolCalling,
        Self::AgentRuns,
        Self::BrowserInteraction,
        Self::Screenshots,
        Self::BrowserControl,
    ];

    /// Its word in the file and on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TextGeneration => "textGeneration",
            Self::ToolAccess => "toolAccess",
            Self::ToolCalling => "toolCalling",
            Self::AgentRuns => "agentRuns",
            Self::BrowserInteraction => "browserInteraction",
            Self::Screenshots => "screenshots",
            Self::BrowserControl => "browserControl",
        }
    }
}

/// The settings in `[pages]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PagesConfig {
    off: [bool; Feature::ALL.len()],
}

impl PagesConfig {
    /// True if pages have this part.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        !self.off[feature as usize]
    }

    /// Switches the part on or off.
    pub(super) fn set(&mut self, feature: Feature, on: bool) {
        self.off[feature as usize] = !on;
    }
}
