//! The page of the detail that is open.
//!
//! Owns which lines it has. Must never decide about requests: the conversation does.

mod about;
mod limits;

use super::detail::Tab;
use super::flow::View;
use super::model::Model;
use super::row::{Row, TextStyle};

/// Lines of the detail that do not scroll: its name, the tabs, the status line, the keys.
pub const CHROME: u16 = 4;

impl Model {
    /// The number of a page's lines that fit on the screen.
    pub fn page_rows(&self) -> usize {
        usize::from(self.size.1.saturating_sub(CHROME)).max(1)
    }

    /// The visible part of the open page.
    pub fn view(&self, now: u64) -> View {
        let Some(detail) = &self.detail else { return View::default() };
        let (width, page) = (usize::from(self.size.0), self.page_rows());
        let rows = match (detail.tab, self.servers.get(&detail.server)) {
            (Tab::Log, _) => return detail.log_view(page),
            (Tab::Tools, Some(server)) => return detail.tools_view(server.is_running(), width, page),
            (_, None) => vec![Row::new("", "there is no such server any more").toned(TextStyle::Bad)],
            (Tab::Overview, Some(server)) => about::rows(server, width, now),
            (Tab::Limits, Some(_)) => {
                let supervision = detail.supervision.as_ref();
                limits::rows(supervision, detail.sandbox.as_ref(), self.limits.as_ref(), width)
            }
        };
        View::of(rows, detail.scroll(), page)
    }
}
