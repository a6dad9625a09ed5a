//! The tokens that models have used, and the budgets, as clients see them.
//!
//! Owns the sums. Days are in UTC.

use std::collections::BTreeMap;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{BudgetView, ModelUsageView};
use harbor_policy::budget::Standing;

use super::errors::{invalid, unstored};
use super::{DAY, Models};
use crate::store::models::{TokenUsage, UsageKey, UsageRow};
use harbor_home::date::rfc3339;

/// The key by which rows are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UsageGrouping {
    Everything,
    Provider,
    Model,
    Principal,
    Day,
}

impl UsageGrouping {
    fn parse(text: Option<&str>) -> Option<Self> {
        Some(match text {
            None => Self::Everything,
            Some("provider") => Self::Provider,
            Some("model") => Self::Model,
            Some("principal") => Self::Principal,
            Some("day") => Self::Day,
            Some(_) => return None,
        })
    }

    fn shows(self, one: Self) -> bool {
        // A model's name says little without its provider's.
        self == Self::Everything || self == one || (self == Self::Model && one == Self::Provider)
    }
}

impl Models {
    /// The tokens used since a time, grouped as asked.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn usage(&self, since: u64, group_by: Option<&str>) -> Result<Vec<ModelUsageView>, ErrorBody> {
        let by = UsageGrouping::parse(group_by)
            .ok_or_else(|| invalid("group_by", "provider, model, principal or day"))?;
        let rows = self.tables.usage(since / DAY).await.map_err(|error| unstored(&error))?;
        Ok(grouped(rows, by))
    }

    /// Sets a principal's budget.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn set_budget(&self, principal: &str, tokens: Option<u64>) -> Result<BudgetView, ErrorBody> {
        self.tables.set_budget(principal, tokens).await.map_err(|error| unstored(&error))?;
        let mut budgets = self.budgets.borrow_mut();
        budgets.set(principal, tokens);
        Ok(budget(principal.to_owned(), budgets.standing(principal, wall_clock())))
    }

    /// The budgets, and how much of each is used today.
    #[must_use]
    pub fn budgets(&self) -> Vec<BudgetView> {
        let all = self.budgets.borrow().all(wall_clock());
        all.into_iter().map(|(principal, standing)| budget(principal, standing)).collect()
    }
}

fn budget(principal: String, standing: Standing) -> BudgetView {
    let Standing { limit, is_set, used, reserved } = standing;
    BudgetView { principal, tokens_per_day: limit, is_set, used, reserved }
}

fn grouped(rows: Vec<UsageRow>, by: UsageGrouping) -> Vec<ModelUsageView> {
    let mut sums: BTreeMap<_, (u64, TokenUsage)> = BTreeMap::new();
    for (UsageKey { provider, model, principal, day }, requests, used) in rows {
        let key = (
            // The newest first.
            by.shows(UsageGrouping::Day).then_some(std::cmp::Reverse(day)),
            by.shows(UsageGrouping::Provider).then_some(provider),
            by.shows(UsageGrouping::Model).then_some(model),
            by.shows(UsageGrouping::Principal).then_some(principal),
        );
        sums.entry(key)
            .and_modify(|sum| *sum = (sum.0.saturating_add(requests), sum.1.plus(used)))
            .or_insert((requests, used));
    }
    let view =
        |((day, provider, model, principal), (requests, used)): (_, (u64, TokenUsage))| ModelUsageView {
            provider,
            model,
            principal,
            day: Option::<std::cmp::Reverse<u64>>::map(day, |day| written(day.0)),
            requests,
            input_tokens: used.input,
            output_tokens: used.output,
            cached_tokens: used.cached,
            reasoning_tokens: used.reasoning,
            exactness: used.exactness.name().into(),
            cost_microdollars: used.cost.microdollars,
            unpriced_requests: used.cost.unpriced,
        };
    sums.into_iter().map(view).collect()
}

/// The date of a day, as `YYYY-MM-DD`.
fn written(day: u64) -> String {
    let time = rfc3339(day.saturating_mul(DAY));
    time.split_once('T').map_or(String::new(), |(date, _)| date.to_owned())
}

#[cfg(test)]
mod tests {
    use harbor_policy::prices::Cost;

    use super::*;
    use crate::store::models::Exactness;

    #[test]
    fn sums_are_those_of_their_group() {
        let row = |model: &str, principal: &str, day, exactness| {
            let (model, principal) = (model.to_owned(), principal.to_owned());
            let cost = Cost { microdollars: 7, unpriced: 0 };
            let used = TokenUsage { input: 10, output: 1, cached: 2, reasoning: 0, exactness, cost };
            (UsageKey { provider: "p".into(), model, principal, day }, 1, used)
        };
        let rows = vec![
            row("a", "owner", 20_000, Exactness::Exact),
            row("b", "owner", 20_000, Exactness::Estimated),
            row("a", "https://example.com", 20_001, Exactness::Exact),
        ];
        let short = |by| -> Vec<(String, u64, u64, String)> {
            let name = |one: &ModelUsageView| {
                [&one.day, &one.provider, &one.model, &one.principal]
                    .map(|name| name.clone().unwrap_or_default())
                    .join("|")
            };
            let all = grouped(rows.clone(), by);
            all.into_iter()
                .map(|one| (name(&one), one.requests, one.input_tokens, one.exactness.into_owned()))
                .collect()
        };
        let line = |name: &str, requests, tokens, exactness: &str| {
            (name.to_owned(), requests, tokens, exactness.to_owned())
        };
        assert_eq!(short(UsageGrouping::Provider), [line("|p||", 3, 30, "estimated")]);
        assert_eq!(
            short(UsageGrouping::Model),
            [line("|p|a|", 2, 20, "exact"), line("|p|b|", 1, 10, "estimated")]
        );
        assert_eq!(
            short(UsageGrouping::Day),
            [line("2024-10-05|||", 1, 10, "exact"), line("2024-10-04|||", 2, 20, "estimated")]
        );
        assert_eq!(short(UsageGrouping::Everything).len(), 3);
    }
}
