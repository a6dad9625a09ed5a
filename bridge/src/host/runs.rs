//! Runs: an agent's budget of calls.
//!
//! Owns the ids, which are random: whoever knows one was given it. A reservation is a guard: a call that was not sent is
//! given back, whatever happens.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use harbor_home::clock::boot_clock;
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::runs::{self, BudgetError, Reservation, RunOwner, RunView, Share};

use super::asker::Asker;
use super::invalid;
use super::origin_refusals::{budget_exceeded, no_run};
use crate::config::LiveConfig;

/// The runs.
#[derive(Debug)]
pub struct Runs {
    runs: Rc<RefCell<runs::Runs>>,
    /// Says how long a run may go unused before it ends.
    config: Rc<LiveConfig>,
}

impl Runs {
    /// Without runs.
    #[must_use]
    pub fn new(config: Rc<LiveConfig>) -> Self {
        Self { runs: Rc::default(), config }
    }

    /// Begins a run of `asked` calls, at most and by default as many as `most`. Returns its id.
    ///
    /// # Errors
    /// When it may not have that many calls, or there are too many runs.
    pub fn create(
        &self,
        asker: &Asker,
        asked: Option<u32>,
        most: Option<u32>,
    ) -> Result<(String, RunView), ErrorBody> {
        let max_calls = match (asked, most) {
            (Some(asked), most) if asked == 0 || most.is_some_and(|most| asked > most) => {
                let most = most.unwrap_or(u32::MAX);
                let error = invalid("max_calls", "a number from 1 to `limits.maxCallsPerRun`");
                return Err(error.with("most", &most.to_string()));
            }
            (Some(asked), _) => asked,
            (None, most) => most.unwrap_or(u32::MAX),
        };
        let id = random_token().map_err(|error| {
            ErrorBody::new(Code::Internal, format!("this system gives no random numbers: {error}"))
        })?;
        self.purge();
        let view = self.runs.borrow_mut().create(owner(asker), max_calls, id.clone(), boot_clock());
        let view = view.map_err(|runs::TooMany| {
            ErrorBody::new(Code::RateLimited, "too many runs are open; end some, or wait until they expire")
        })?;
        Ok((id, view))
    }

    /// The state of a run.
    ///
    /// # Errors
    /// When the asker has no such run.
    pub fn get(&self, asker: &Asker, id: &str) -> Result<RunView, ErrorBody> {
        self.purge();
        self.runs.borrow().get(id, &owner(asker), boot_clock()).ok_or_else(|| no_run(id))
    }

    /// Ends a run.
    ///
    /// # Errors
    /// When the asker has no such run.
    pub fn end(&self, asker: &Asker, id: &str) -> Result<RunView, ErrorBody> {
        self.purge();
        self.runs.borrow_mut().end(id, &owner(asker), boot_clock()).ok_or_else(|| no_run(id))
    }

    /// Takes one call out of a run's budget, and out of a server's share of it.
    ///
    /// # Errors
    /// When no call is left, or the asker has no such run.
    pub fn reserve(&self, asker: &Asker, id: &str, share: Option<Share>) -> Result<Reserved, ErrorBody> {
        self.purge();
        let reserved = self.runs.borrow_mut().reserve(id, &owner(asker), share, boot_clock());
        match reserved {
            Ok(reservation) => Ok(Reserved {
                runs: self.runs.clone(),
                reservation: Some(reservation),
                spent: Cell::new(false),
            }),
            Err(BudgetError::NoSuchRun) => Err(no_run(id)),
            Err(BudgetError::Exceeded) => Err(budget_exceeded(id)),
        }
    }

    /// A connection has gone, and its runs with it.
    pub fn end_client(&self, client: u64) {
        self.runs.borrow_mut().end_client(client);
    }

    /// Ends the runs that were not used for too long.
    pub fn purge(&self) {
        let stale = u64::try_from(self.config.now().run_stale.as_millis()).unwrap_or(u64::MAX);
        self.runs.borrow_mut().purge(boot_clock(), stale);
    }

    /// How many runs there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.runs.borrow().len()
    }
}

/// One call of a budget. It goes back when it is dropped, unless it was spent.
#[derive(Debug)]
pub struct Reserved {
    runs: Rc<RefCell<runs::Runs>>,
    reservation: Option<Reservation>,
    spent: Cell<bool>,
}

impl Reserved {
    /// The call is about to be sent, or was not after all.
    pub fn set_spent(&self, spent: bool) {
        self.spent.set(spent);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            self.runs.borrow_mut().settle(reservation, self.spent.get(), boot_clock());
        }
    }
}

fn owner(asker: &Asker) -> RunOwner {
    RunOwner {
        client: asker.sender.client,
        origin: asker.origin.as_str().into(),
        profile: asker.profile.clone(),
    }
}
