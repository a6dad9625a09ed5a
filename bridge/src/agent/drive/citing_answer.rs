//! The citations of a turn's last answer.
//!
//! Owns that a citation which was left out is told. Must never change the conversation.

use super::super::turn_log::TurnLogItem;
use super::Drive;

impl Drive {
    /// Takes the last answer; its citations are checked, if it has to name its sources.
    pub(super) fn cite(&mut self, text: String) {
        let Some(cited) = self.plan.sources.as_ref().map(|sources| sources.cite(&text)) else {
            self.outcome.text = text;
            return;
        };
        cited.dropped.into_iter().for_each(|why| self.tell(TurnLogItem::Status(why)));
        self.outcome.text = cited.text;
        self.outcome.citations = Some(cited.citations);
    }
}
