//! The parts that all browsers share.
//!
//! Must never know one of them.

use std::rc::Rc;

use super::tools::Tools;
use crate::config::LiveConfig;
use crate::store::secrets::Secrets;

/// The parts that all browsers share.
#[derive(Debug)]
pub(super) struct BrowserParts {
    pub(super) tools: Tools,
    pub(super) config: Rc<LiveConfig>,
    pub(super) secrets: Secrets,
}
