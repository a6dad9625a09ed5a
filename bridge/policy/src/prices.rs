//! The prices of models, by one table of one day.
//!
//! ```text
//!  PROVIDER  NAME  INPUT  CACHED  OUTPUT  [ABOVE INPUT CACHED OUTPUT]     prices.tsv; scripts/prices writes it
//! ```
//!
//! Owns how a model is found in the table, and the cost of a request. Must never guess: a model that is not in the table has no
//! price, and a price of one provider says nothing about another one.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The table. Its first line says of which day and which release it is.
const TABLE: &str = include_str!("prices.tsv");

/// The table, read once: a list of models asks for hundreds of prices.
static ROWS: LazyLock<HashMap<&str, Vec<(&str, Price)>>> = LazyLock::new(|| rows(TABLE));

/// Tokens in the unit of a price.
const UNIT: u128 = 1_000_000;

/// Prices, in millionths of a dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// The price of tokens that are sent.
    pub input: u64,
    /// The price of sent tokens that the provider had in its cache.
    pub cached: u64,
    /// The price of tokens that come.
    pub output: u64,
}

/// The price of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// The prices of an ordinary request.
    pub base: Rates,
    /// The prices of a request with more tokens of input than this number.
    pub above: Option<(u64, Rates)>,
}

/// A sum of money, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Millionths of a dollar.
    pub microdollars: u64,
    /// The number of requests whose price nobody knows; they are not in the sum.
    pub unpriced: u64,
}

impl Cost {
    /// The cost of a request without a price.
    pub const UNKNOWN: Self = Self { microdollars: 0, unpriced: 1 };

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            microdollars: self.microdollars.saturating_add(other.microdollars),
            unpriced: self.unpriced.saturating_add(other.unpriced),
        }
    }

    /// The sum, if it is known of all requests.
    #[must_use]
    pub fn whole(self) -> Option<u64> {
        (self.unpriced == 0).then_some(self.microdollars)
    }
}

impl Price {
    /// The price of a model on this machine.
    pub const FREE: Self = Self { base: Rates { input: 0, cached: 0, output: 0 }, above: None };

    /// The cost of a request. `input` counts the `cached` tokens, too.
    #[must_use]
    pub fn cost(&self, input: u64, cached: u64, output: u64) -> Cost {
        let rates = match self.above {
            Some((above, rates)) if input > above => rates,
            _ => self.base,
        };
        let of = |tokens: u64, rate: u64| u128::from(tokens) * u128::from(rate);
        let cached = cached.min(input);
        let sum = of(input - cached, rates.input) + of(cached, rates.cached) + of(output, rates.output);
        Cost { microdollars: u64::try_from(sum / UNIT).unwrap_or(u64::MAX), unpriced: 0 }
    }
}

/// The price of a model at a provider of this type. None if the table has none.
#[must_use]
pub fn price(kind: &str, model: &str) -> Option<Price> {
    let model = model.to_lowercase();
    let mut rows = ROWS.get(kind)?.iter();
    rows.find(|(name, _)| fits(name, &model)).map(|(_, price)| *price)
}

/// The rows of a table, by provider and in its order.
fn rows(table: &'static str) -> HashMap<&'static str, Vec<(&'static str, Price)>> {
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    for line in table.lines() {
        let mut columns = line.split('\t');
        if let (Some(kind), Some(name), Some(price)) = (columns.next(), columns.next(), read(columns)) {
            all.entry(kind).or_default().push((name, price));
        }
    }
    all
}

/// The day of the table and its source, as `2026-11-29 genai-prices 0.2.3`.
#[must_use]
pub fn source() -> &'static str {
    TABLE.lines().next().unwrap_or_default().trim_start_matches("# ")
}

fn read<'a>(columns: impl Iterator<Item = &'a str>) -> Option<Price> {
    let numbers: Vec<u64> = columns.map(str::parse).collect::<Result<_, _>>().ok()?;
    let rates =
        |input: &u64, cached: &u64, output: &u64| Rates { input: *input, cached: *cached, output: *output };
    match numbers.as_slice() {
        [input, cached, output] => Some(Price { base: rates(input, cached, output), above: None }),
        [input, cached, output, above, input_above, cached_above, output_above] => {
            let above = Some((*above, rates(input_above, cached_above, output_above)));
            Some(Price { base: rates(input, cached, output), above })
        }
        _ => None,
    }
}

/// True if a name of the table stands for this model.
fn fits(name: &str, model: &str) -> bool {
    match (name.strip_prefix('*'), name.strip_suffix('*')) {
        (Some(_), Some(_)) => model.contains(name.trim_matches('*')),
        (Some(end), None) => model.ends_with(end),
        (None, Some(beginning)) => model.starts_with(beginning),
        (None, None) => is_same(name, model),
    }
}

/// True if both are one text, where a `#` stands for a digit.
fn is_same(name: &str, model: &str) -> bool {
    let is_digit =
        |(of_name, of_model): (u8, u8)| of_name == of_model || (of_name == b'#' && of_model.is_ascii_digit());
    name.len() == model.len() && name.bytes().zip(model.bytes()).all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_models_as_the_table_writes_them() {
        let all = [
            ("gpt-5", "gpt-5", true),
            ("gpt-5", "gpt-5-mini", false),
            ("gpt-5*", "gpt-5-mini", true),
            ("*claude-v2*", "eu.claude-v2.1", true),
            ("*-latest", "x-latest", true),
            ("*-latest", "x-latest-1", false),
            ("m-########", "m-20260101", true),
            ("m-########", "m-2026010x", false),
            ("m-########", "m-2026", false),
        ];
        for (name, model, expected) in all {
            assert_eq!(fits(name, model), expected, "{name} {model}");
        }
    }

    #[test]
    fn each_line_of_the_table_can_be_read() {
        assert!(source().contains("genai-prices"), "{}", source());
        for line in TABLE.lines().skip(1) {
            let mut columns = line.split('\t');
            assert!(
                columns.next().is_some() && columns.next().is_some_and(|name| !name.is_empty()),
                "{line}"
            );
            assert!(read(columns).is_some(), "{line}");
        }
    }

    #[test]
    fn a_request_costs_what_its_tokens_cost() {
        let price = price("openai", "GPT-4o").unwrap();
        assert_eq!(price.base, Rates { input: 2_500_000, cached: 1_250_000, output: 10_000_000 });
        // 900 × 2.5 + 100 × 1.25 + 50 × 10 millionths of a dollar.
        assert_eq!(price.cost(1000, 100, 50), Cost { microdollars: 2875, unpriced: 0 });
        assert_eq!(price.cost(0, 100, 0).microdollars, 0, "no more is from the cache than was sent");
        assert_eq!(price.cost(u64::MAX, 0, u64::MAX).microdollars, u64::MAX);
    }

    #[test]
    fn a_long_request_has_the_prices_of_its_length() {
        let [base, long] = [1_000_000, 2_000_000].map(|one| Rates { input: one, cached: one, output: one });
        let price = Price { base, above: Some((200, long)) };
        assert_eq!(price.cost(200, 0, 0).microdollars, 200);
        assert_eq!(price.cost(201, 0, 0).microdollars, 402);
    }

    #[test]
    fn a_model_that_is_not_in_the_table_has_no_price() {
        assert_eq!(price("openai", "gpt-of-mine"), None);
        assert_eq!(price("vllm", "gpt-4o"), None, "a price of one provider says nothing about another one");
        assert_eq!(Cost::UNKNOWN.plus(Cost { microdollars: 5, unpriced: 0 }).whole(), None);
        assert_eq!(Cost::default().plus(Cost { microdollars: 5, unpriced: 0 }).whole(), Some(5));
    }
}
