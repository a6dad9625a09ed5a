//! The number of tokens that a principal may use of models, and how often it may ask.
//!
//! ```text
//!  request ─► at once ─► per minute ─► its own day ─► everybody's day ─► Ticket: tokens are kept for it ─► settle: what it took
//!               │ no        │ no          │ no            │ no
//!               ▼           ▼             ▼               ▼
//!          TooManyAtOnce  TooManyPerMinute        Exceeded, until the day ends
//! ```
//!
//! Owns the accounts. For each request, tokens are kept: its input and the longest answer that may come. When it is over, the
//! tokens that it took are counted, on the day of its end. Must never let a ticket be settled twice, nor forget the tokens that
//! are kept for one. A request that is under way at midnight keeps its tokens on the new day, too.
//!
//! Time is an argument, in milliseconds since 1970. A day is a UTC day. A clock that is set to another day begins that day with
//! nothing used.

use std::collections::{BTreeMap, BTreeSet};

use crate::limiter::Bucket;

/// Everybody together.
pub const EVERYBODY: &str = "*";

/// The person.
pub const OWNER: &str = "owner";

/// Tokens that an origin may use a day, unless the person sets another number.
pub const OF_AN_ORIGIN: u64 = 50_000;

/// Tokens that are kept for an answer whose request does not limit its length.
pub const ANSWER: u64 = 4096;

/// A day in milliseconds.
const DAY: u64 = 86_400_000;

/// The limits on how often a principal may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRate {
    /// Requests under way.
    pub at_once: u32,
    /// Requests in a minute, as many at one moment.
    pub per_minute: u32,
}

/// The person's pace: what a program of theirs that has gone wild is stopped by.
pub const OWNERS_PACE: RequestRate = RequestRate { at_once: 32, per_minute: 600 };

/// The pace of an origin.
pub const ORIGINS_PACE: RequestRate = RequestRate { at_once: 4, per_minute: 60 };

/// A request under way. It is settled once, by [`Budgets::settle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BudgetTicket(u64);

/// The reason why a request may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetRefusalReason {
    /// Too many of its principal are under way.
    TooManyAtOnce,
    /// Too many came within a minute.
    TooManyPerMinute {
        /// The time until a request may come, if nobody else sends one.
        retry_after_ms: u64,
    },
    /// The tokens of the day do not suffice.
    Exceeded {
        /// True if everybody's tokens do not suffice, false if the principal's own do not.
        of_everybody: bool,
        /// The tokens that are left of them.
        left: u64,
        /// The time until the next day begins.
        retry_after_ms: u64,
    },
}

/// The limit and the use of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The tokens of a day; none means no bound.
    pub limit: Option<u64>,
    /// True if the person has set the limit.
    pub is_set: bool,
    /// The tokens that are used today.
    pub used: u64,
    /// The tokens that are kept for requests under way.
    pub reserved: u64,
}

#[derive(Debug, Default)]
struct Account {
    day: u64,
    used: u64,
    reserved: u64,
    open: u32,
    bucket: Option<Bucket>,
}

impl Account {
    fn turn_to(&mut self, day: u64) {
        if self.day != day {
            (self.day, self.used) = (day, 0);
        }
    }

    fn taken(&self) -> u64 {
        self.used.saturating_add(self.reserved)
    }
}

#[derive(Debug)]
struct Request {
    principal: String,
    reserved: u64,
}

/// All accounts.
#[derive(Debug, Default)]
pub struct Budgets {
    set: BTreeMap<String, u64>,
    accounts: BTreeMap<String, Account>,
    requests: BTreeMap<BudgetTicket, Request>,
    last: u64,
}

impl Budgets {
    /// Sets the limit of a principal. `None` removes the limit that the person had set.
    pub fn set(&mut self, principal: &str, tokens: Option<u64>) {
        match tokens {
            Some(tokens) => drop(self.set.insert(principal.to_owned(), tokens)),
            None => drop(self.set.remove(principal)),
        }
    }

    /// Adds the tokens that a principal used today before this bridge began.
    pub fn note_used(&mut self, principal: &str, tokens: u64, now: u64) {
        for name in [principal, EVERYBODY] {
            let account = self.account(name, now);
            account.used = account.used.saturating_add(tokens);
        }
    }

    /// Keeps `tokens` for a request of `principal`.
    ///
    /// # Errors
    /// Why it may not be sent; then nothing is kept.
    pub fn reserve(
        &mut self,
        principal: &str,
        tokens: u64,
        now: u64,
    ) -> Result<BudgetTicket, BudgetRefusalReason> {
        self.forget_days_before(now);
        let pace = if principal == OWNER { OWNERS_PACE } else { ORIGINS_PACE };
        let account = self.account(principal, now);
        if account.open >= pace.at_once {
            return Err(BudgetRefusalReason::TooManyAtOnce);
        }
        let bucket = account.bucket.get_or_insert_with(|| Bucket::empty(now));
        bucket.refill(pace.per_minute, now);
        if let Some(retry_after_ms) = bucket.missing() {
            return Err(BudgetRefusalReason::TooManyPerMinute { retry_after_ms });
        }
        for name in [principal, EVERYBODY] {
            let Standing { limit, used, reserved, .. } = self.standing(name, now);
            let left = limit.map(|limit| limit.saturating_sub(used.saturating_add(reserved)));
            if let Some(left) = left.filter(|left| *left < tokens) {
                let retry_after_ms = DAY - now % DAY;
                return Err(BudgetRefusalReason::Exceeded {
                    of_everybody: name == EVERYBODY,
                    left,
                    retry_after_ms,
                });
            }
        }
        for name in [principal, EVERYBODY] {
            let account = self.account(name, now);
            account.reserved = account.reserved.saturating_add(tokens);
            account.open += 1;
        }
        self.account(principal, now).bucket.iter_mut().for_each(Bucket::take);
        self.last += 1;
        let ticket = BudgetTicket(self.last);
        self.requests.insert(ticket, Request { principal: principal.to_owned(), reserved: tokens });
        Ok(ticket)
    }

    /// A request is over, and has taken `tokens`. A ticket that is settled already changes nothing.
    pub fn settle(&mut self, ticket: BudgetTicket, tokens: u64, now: u64) {
        let Some(Request { principal, reserved }) = self.requests.remove(&ticket) else { return };
        for name in [principal.as_str(), EVERYBODY] {
            let account = self.account(name, now);
            account.reserved = account.reserved.saturating_sub(reserved);
            account.used = account.used.saturating_add(tokens);
            account.open = account.open.saturating_sub(1);
        }
    }

    /// True if a limit applies to the tokens of `principal`, so that an answer needs a bound, too.
    #[must_use]
    pub fn is_bounded(&self, principal: &str) -> bool {
        self.limit(principal).is_some() || self.limit(EVERYBODY).is_some()
    }

    /// The state of an account.
    #[must_use]
    pub fn standing(&self, principal: &str, now: u64) -> Standing {
        let (limit, is_set) = (self.limit(principal), self.set.contains_key(principal));
        let account = self.accounts.get(principal);
        let used = account.filter(|account| account.day == now / DAY).map_or(0, |account| account.used);
        Standing { limit, is_set, used, reserved: account.map_or(0, |account| account.reserved) }
    }

    /// Everybody whose budget the person has set, or who has used something today, by name.
    #[must_use]
    pub fn all(&self, now: u64) -> Vec<(String, Standing)> {
        let today =
            self.accounts.iter().filter(|(_, account)| account.day == now / DAY && account.taken() > 0);
        let names: BTreeSet<_> = self.set.keys().chain(today.map(|(name, _)| name)).collect();
        names.into_iter().map(|name| (name.clone(), self.standing(name, now))).collect()
    }

    fn limit(&self, principal: &str) -> Option<u64> {
        let by_itself = (![OWNER, EVERYBODY].contains(&principal)).then_some(OF_AN_ORIGIN);
        self.set.get(principal).copied().or(by_itself)
    }

    fn account(&mut self, principal: &str, now: u64) -> &mut Account {
        if !self.accounts.contains_key(principal) {
            self.accounts.insert(principal.to_owned(), Account { day: now / DAY, ..Account::default() });
        }
        let account = self.accounts.entry(principal.to_owned()).or_default();
        account.turn_to(now / DAY);
        account
    }

    /// Origins come and go: whoever has nothing under way and asked on another day is as new.
    fn forget_days_before(&mut self, now: u64) {
        self.accounts.retain(|_, account| account.day == now / DAY || account.open > 0);
    }
}

#[cfg(test)]
mod tests;
