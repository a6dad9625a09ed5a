//! The pages whose tools are sources now.
//!
//! Owns their ids: `page:HOST[:PORT]`, with `~2` and so on for further tabs. Must never keep one whose connection has ended.

use std::cell::RefCell;
use std::rc::Rc;

use harbor_ipc_proto::client::SourceRegister;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::origin::Origin;

use super::calls::BrowserAnswer;
use super::channel::ExtensionChannel;
use super::page_source::{PageSource, read_tools};
use crate::host::source::{SourceGuard, ToolSource as _};
use crate::host::{Host, invalid};

/// The most pages at once.
const MOST: usize = 64;

/// All pages that offer tools.
#[derive(Debug, Default)]
pub(super) struct PageSources(RefCell<Vec<OfferedPage>>);

#[derive(Debug)]
struct OfferedPage {
    page: Rc<PageSource>,
    _added: SourceGuard,
}

impl PageSources {
    /// Adds a page; if it is there, its tools become these.
    ///
    /// # Errors
    /// When the message is not about a page, or there are too many.
    pub fn offer(
        &self,
        host: &Host,
        road: Rc<dyn ExtensionChannel>,
        label: &str,
        message: &SourceRegister,
    ) -> Result<SourceId, ErrorBody> {
        let origin = message.origin.as_deref().map(Origin::parse);
        let place = origin.as_ref().and_then(|origin| place_of(origin.as_ref().ok()?));
        let (Some(Ok(origin)), Some(place)) = (origin, place) else {
            return Err(invalid("origin", "the origin of a page, https://HOST[:PORT]"));
        };
        let tab = message.tab_id.ok_or_else(|| invalid("tab_id", "the page's tab"))?;
        let tools = read_tools(message.tools.as_ref())?;
        let is_same = |page: &PageSource| {
            (page.tab, &page.origin, page.road.connection()) == (tab, &origin, road.connection())
        };
        if let Some(page) = self.find(is_same) {
            host.on_tools(&page.id(), &tools);
            page.relist(tools);
            return Ok(page.id());
        }
        self.remove(|page| (page.tab, page.road.connection()) == (tab, road.connection()));
        if self.0.borrow().len() >= MOST {
            return Err(ErrorBody::new(Code::RateLimited, "too many pages offer tools; switch some off"));
        }
        let is_free = |id: &SourceId| self.find(|page| page.id() == *id).is_none();
        let id = free_id(&place, is_free).ok_or_else(|| invalid("origin", "a shorter host name"))?;
        let page = PageSource::new(id.clone(), label, (origin, tab), road, tools);
        let added = host.add_source(page.clone())?;
        // The person has just switched these on.
        page.tools().iter().for_each(|tools| host.vouch_for(&id, tools));
        self.0.borrow_mut().push(OfferedPage { page, _added: added });
        tracing::info!("a page offers its tools");
        Ok(id)
    }

    /// Removes pages, and ends their calls. True if there was one.
    pub fn remove(&self, is_meant: impl Fn(&PageSource) -> bool) -> bool {
        let gone: Vec<_> = self.0.borrow_mut().extract_if(.., |kept| is_meant(&kept.page)).collect();
        gone.iter().for_each(|kept| kept.page.lose());
        !gone.is_empty()
    }

    /// Ends a call of a page of this connection. The answer is given back if there is no such call.
    pub fn end_call(&self, connection: u64, id: &str, answer: BrowserAnswer) -> Result<bool, BrowserAnswer> {
        match self.find(|page| page.road.connection() == connection && page.calls.has(id)) {
            Some(page) => Ok(page.calls.end(id, answer)),
            None => Err(answer),
        }
    }

    fn find(&self, is_meant: impl Fn(&PageSource) -> bool) -> Option<Rc<PageSource>> {
        self.0.borrow().iter().map(|kept| &kept.page).find(|page| is_meant(page)).cloned()
    }
}

/// The host and port of a web page's origin.
fn place_of(origin: &Origin) -> Option<String> {
    let (scheme, place) = origin.as_str().split_once("://")?;
    matches!(scheme, "http" | "https").then(|| place.to_owned())
}

/// The first of `page:PLACE`, `page:PLACE~2` and so on that is free.
fn free_id(place: &str, is_free: impl Fn(&SourceId) -> bool) -> Option<SourceId> {
    let further = (2..=MOST + 1).map(|number| format!("page:{place}~{number}"));
    let ids = std::iter::once(format!("page:{place}")).chain(further);
    ids.map_while(|id| SourceId::parse(&id)).find(is_free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tab_of_a_site_has_an_id_of_its_own() {
        let place = |origin: &str| place_of(&Origin::parse(origin).unwrap());
        assert_eq!(place("https://a.example:8443").as_deref(), Some("a.example:8443"));
        assert_eq!(place("client://a"), None);
        let first = SourceId::parse("page:a.example").unwrap();
        assert_eq!(free_id("a.example", |_| true), Some(first.clone()));
        assert_eq!(free_id("a.example", |id| *id != first).unwrap().as_str(), "page:a.example~2");
        assert_eq!(free_id(&"a".repeat(400), |_| true), None);
    }
}
