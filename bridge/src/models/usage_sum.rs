//! The tokens of several requests together, as clients see them.
//!
//! Must never call a sum more exact than its parts.

use harbor_ipc_proto::client::ChatUsage;

/// How exact a sum is: as its least exact part.
const EXACTNESS: [&str; 3] = ["unknown", "estimated", "exact"];

/// The sum of what was used before and a request. Its cost is not known where that of a part is not.
pub fn usage_sum(before: Option<ChatUsage>, one: ChatUsage) -> ChatUsage {
    let Some(before) = before else { return one };
    let words = [&before.exactness, &one.exactness];
    let least = EXACTNESS.into_iter().find(|word| words.iter().any(|said| said == word)).unwrap_or("unknown");
    let cost = before.cost_microdollars.zip(one.cost_microdollars);
    ChatUsage {
        input_tokens: before.input_tokens.saturating_add(one.input_tokens),
        output_tokens: before.output_tokens.saturating_add(one.output_tokens),
        cached_tokens: before.cached_tokens.saturating_add(one.cached_tokens),
        reasoning_tokens: before.reasoning_tokens.saturating_add(one.reasoning_tokens),
        exactness: least.into(),
        cost_microdollars: cost.map(|(before, one)| before.saturating_add(one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_as_exact_as_its_least_exact_part_and_its_cost_as_known() {
        let used = |tokens, exactness: &str, cost| ChatUsage {
            input_tokens: tokens,
            output_tokens: 1,
            cached_tokens: 0,
            reasoning_tokens: 2,
            exactness: exactness.to_owned().into(),
            cost_microdollars: cost,
        };
        let first = usage_sum(None, used(10, "exact", Some(7)));
        let second = usage_sum(Some(first.clone()), used(5, "estimated", Some(3)));
        assert_eq!((second.input_tokens, second.output_tokens, second.reasoning_tokens), (15, 2, 4));
        assert_eq!((second.exactness.as_ref(), second.cost_microdollars), ("estimated", Some(10)));
        let third = usage_sum(Some(second), used(u64::MAX, "exact", None));
        assert_eq!((third.input_tokens, third.exactness.as_ref()), (u64::MAX, "estimated"));
        assert_eq!(third.cost_microdollars, None);
    }
}
