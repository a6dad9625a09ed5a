//! The scopes that an origin can be allowed, by name.
//!
//! Owns the one list of them. Must never know a scope that is not in it: an unknown word is no scope.

macro_rules! scopes {
    ($($(#[$doc:meta])* $scope:ident = $text:literal,)*) => {
        /// A kind of thing that needs a grant.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope {
            $($(#[$doc])* $scope,)*
        }

        impl Scope {
            /// All of them, in their order.
            pub const ALL: &[Self] = &[$(Self::$scope),*];

            /// The word on the wire and on disk.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$scope => $text,)*
                }
            }
        }
    };
}

scopes! {
    /// To put a prompt to a model.
    ModelPrompt = "model:prompt",
    /// To let a model use tools.
    ModelTools = "model:tools",
    /// To see which models there are.
    ModelList = "model:list",
    /// To see which tools there are.
    McpToolsList = "mcp:tools.list",
    /// To call tools.
    McpToolsCall = "mcp:tools.call",
    /// To bring a server of one's own.
    McpServersRegister = "mcp:servers.register",
    /// To have a stopped server started by a call.
    McpServerConnect = "mcp:server.connect",
    /// To read the tab in front.
    BrowserActiveTabRead = "browser:activeTab.read",
    /// To click and type in the tab in front.
    BrowserActiveTabInteract = "browser:activeTab.interact",
    /// To take a picture of the tab in front.
    BrowserActiveTabScreenshot = "browser:activeTab.screenshot",
    /// To lead a tab to another address.
    BrowserNavigate = "browser:navigate",
    /// To see which tabs are open.
    BrowserTabsRead = "browser:tabs.read",
    /// To open tabs.
    BrowserTabsCreate = "browser:tabs.create",
    /// To fetch addresses of other origins.
    WebFetch = "web:fetch",
    /// To open the chat.
    ChatOpen = "chat:open",
    /// To make suggestions in the address bar.
    AddressBarSuggest = "addressBar:suggest",
    /// To know what the suggestions are for.
    AddressBarContext = "addressBar:context",
    /// To read what was typed before.
    AddressBarHistory = "addressBar:history",
    /// To act on a chosen suggestion.
    AddressBarExecute = "addressBar:execute",
    /// To be an agent.
    AgentsRegister = "agents:register",
    /// To see which agents there are.
    AgentsDiscover = "agents:discover",
    /// To ask an agent for something.
    AgentsInvoke = "agents:invoke",
    /// To exchange messages with agents.
    AgentsMessage = "agents:message",
    /// To reach agents of other origins.
    AgentsCrossOrigin = "agents:crossOrigin",
    /// To reach agents on other machines.
    AgentsRemote = "agents:remote",
}

impl Scope {
    /// The scope with this name, letter by letter.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.as_str() == text)
    }

    /// True if this version does something that it allows.
    #[must_use]
    pub fn has_effect(self) -> bool {
        let of_tools = matches!(self, Self::McpToolsList | Self::McpToolsCall | Self::McpServerConnect);
        let of_models = matches!(self, Self::ModelPrompt | Self::ModelTools | Self::ModelList);
        of_tools || of_models || (Self::BrowserActiveTabRead..=Self::BrowserTabsCreate).contains(&self)
    }

    /// Those that have an effect, in their order.
    pub fn with_effect() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|scope| scope.has_effect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_scope_has_a_name_of_its_own() {
        let names: BTreeSet<_> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
        assert_eq!((names.len(), Scope::ALL.len()), (25, 25));
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(*scope));
        }
        assert!(Scope::ALL.is_sorted(), "the first one is the least");
    }

    #[test]
    fn those_with_an_effect_are_those_that_something_asks_for() {
        let names: Vec<_> = Scope::with_effect().map(Scope::as_str).collect();
        let browser = [
            "activeTab.read",
            "activeTab.interact",
            "activeTab.screenshot",
            "navigate",
            "tabs.read",
            "tabs.create",
        ];
        let browser = browser.map(|name| format!("browser:{name}"));
        let others = [
            "model:prompt",
            "model:tools",
            "model:list",
            "mcp:tools.list",
            "mcp:tools.call",
            "mcp:server.connect",
        ];
        assert_eq!(names[..6], others);
        assert_eq!(names[6..], browser);
    }

    #[test]
    fn nothing_else_is_a_scope() {
        for text in ["", "mcp", "mcp:tools", "MCP:tools.call", "mcp:tools.call ", "mcp:*", "*"] {
            assert_eq!(Scope::parse(text), None, "{text:?}");
        }
    }
}
